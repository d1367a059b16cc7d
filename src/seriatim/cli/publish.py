"""seriatim publish"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seriatim.cli.options import LEDGER, AsJson, CsvForm, LedgerUrl, PolicyFile, allowed_words, csv_form, ledger_place

if TYPE_CHECKING:
    from seriatim.api import Published

REFUSED = 3


Releases = Annotated[Path, typer.Option("--out", "-o", help="Folder for the releases.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Stop at the verdict: record and write nothing.")]
Draft = Annotated[
    str | None,
    typer.Option(
        help="Keep a draft until another person approves it (seriatim ledger approve); name its author.",
    ),
]
Corrections = Annotated[
    Path | None, typer.Option(help="Values that were published wrongly: respondent, column, old, new.")
]
Recipients = Annotated[list[str] | None, typer.Option("--to", help="Recipient; may be repeated.")]
ApprovedBy = Annotated[str | None, typer.Option(help="Name of the person approving the release.")]
Override = Annotated[str | None, typer.Option(help="Release despite a refusal, for this reason (needs --approved-by).")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format of the release: csv, parquet, sav, dta, xpt or xlsx (that of the table if omitted); all but the "
        "first two lie beside a CSV file.",
    ),
]
Period = Annotated[str, typer.Option(help="The time that the table is about, as recipients are told.")]
Date = Annotated[str, typer.Option(help="The day of publication, as recipients are told.")]
Suggest = Annotated[
    bool, typer.Option("--suggest", help="When refused, rehearse changes of the policy and list what would pass.")
]
ExposedPeople = Annotated[
    Path | None,
    typer.Option(
        help="Write who is exposed, and by which releases or class, to this CSV file (mode 0600). Keep it secret."
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        help="What is refused otherwise: again (the series has this view, or a newer file), empty (a running series "
        "gets an empty table: everyone has left); may be repeated."
    ),
]


def command(
    table: Annotated[str, typer.Argument(help="Table to publish: a file, or a database and a query (see the docs).")],
    policy: PolicyFile,
    ledger: LedgerUrl = LEDGER,
    out: Releases = Path("releases"),
    dry_run: DryRun = False,
    draft: Draft = None,
    allow: Allow = None,
    corrections: Corrections = None,
    to: Recipients = None,
    written: Format = None,
    period: Period = "",
    date: Date = "",
    approved_by: ApprovedBy = None,
    override: Override = None,
    suggest: Suggest = False,
    private: ExposedPeople = None,
    csv: CsvForm = None,
    as_json: AsJson = False,
) -> None:
    """Publish a table under a policy, or say why not.

    Example: seriatim publish visits.csv --policy policy.toml --to "Dr Weber" --approved-by "A. Ortiz"

    A refusal is a result: exit code 3, the reasons, and a report in the folder refused; never a table.
    """
    from seriatim import api
    from seriatim.cli.compile_ahead import compile_ahead
    from seriatim.cli.output import progress_bar
    from seriatim.model.names import recipients_given
    from seriatim.model.verdict import approval_given

    allowed = allowed_words(allow, "again", "empty")
    approval, recipients = approval_given(approved_by, override), recipients_given(to or (), "to")
    if private is not None:
        api.refuse_private_list(private)  # before a ledger is made
    loaded = api.load_policy(policy)
    with progress_bar(silent=as_json) as progress:
        compile_ahead(*(loaded.defence.compiled_ahead if loaded.defence else ()), "judging", "figures")
        progress("reading", 0.0)
        ready = api.prepare(table, loaded, *csv_form(csv))  # bad input must not even open a ledger
        made = api.publish(
            ready,
            loaded,
            api.ledger_to_publish(*ledger_place(ledger), ready, out, dry_run),
            out=out,
            recipients=recipients,
            approval=approval,
            dry_run=dry_run,
            draft=draft,
            corrections=corrections,
            suggest=suggest,
            private=private,
            again="again" in allowed,
            empty="empty" in allowed,
            written=written,
            period=period,
            date=date,
            progress=progress,
        )
    _show(made, out, dry_run, as_json)
    if not made.verdict.released:
        raise typer.Exit(REFUSED)


def _show(made: Published, out: Path, dry_run: bool, as_json: bool) -> None:
    from seriatim.cli import output
    from seriatim.ledger import shelf

    folder = None if made.number is None else out / f"{shelf.slug(made.policy.series)}-{made.number:04d}"
    with output.already_done():
        if as_json:
            output.print_text(made.report.to_json())
        else:
            output.print_verdict(made, folder, dry_run)
