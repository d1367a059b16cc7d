"""seriatim ledger"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seriatim.cli.options import LEDGER, AsJson, LedgerUrl, PolicyFile, allowed_words, ledger_place, new_file

if TYPE_CHECKING:
    from seriatim.ledger.sql_ledger import SqlLedger

DAMAGED = 4

app = typer.Typer(
    help="Show, verify, finish, deliver or recall releases; import old ones.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

SeriesName = Annotated[str, typer.Argument(help="Name of the series.")]
ReleaseNumber = Annotated[int, typer.Argument(help="Number of the release.")]
Digest = Annotated[str, typer.Option(help="Which draft, by how its digest begins; it may have been replaced.")]
Series = Annotated[str | None, typer.Argument(help="Only this series.")]


def _open(address: str) -> SqlLedger:
    from seriatim.api import open_ledger

    return open_ledger(*ledger_place(address), create=False)


@app.command("show")
def show_command(series: Series = None, ledger: LedgerUrl = LEDGER, as_json: AsJson = False) -> None:
    """List the releases, who received them and who approved them; drafts; and books of answered queries.

    Example: seriatim ledger show ward-visits --ledger sqlite:///ledger.db
    """
    from seriatim.api import ledger_records
    from seriatim.cli import output
    from seriatim.ledger.answer_book import books_in_words

    opened = _open(ledger)
    drafts = opened.drafts(series)
    records = opened.records(series) if drafts else ledger_records(opened, series)

    if as_json:
        fields = [output.fields_of_record(record) for record in records]
        output.print_json(fields + [output.fields_of_record(draft) for draft in drafts])
    else:
        output.records_table(records)
        output.print_drafts(drafts)
        for line in books_in_words(opened.entries(series)):
            output.print_text(f"  queries   {line}")


@app.command("verify")
def verify_command(
    ledger: LedgerUrl = LEDGER,
    published: Annotated[
        list[Path] | None, typer.Option(help="Folder with published releases to compare with; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find changed bytes, missing files, a broken chain or a restored old backup.

    Example: seriatim ledger verify --ledger sqlite:///ledger.db --published releases
    """
    check = _open(ledger).verify(published or [])
    from dataclasses import asdict

    from seriatim.cli import output

    if as_json:
        output.print_json({**asdict(check), "sound": check.sound})
    else:
        output.print_check(check)
    if not check.sound:
        raise typer.Exit(DAMAGED)


@app.command("resume")
def resume_command(
    series: Series = None,
    ledger: LedgerUrl = LEDGER,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the releases to this folder instead of their original one."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Finish releases that were reserved but not written, as after a crash. They count as published.

    Example: seriatim ledger resume --ledger sqlite:///ledger.db
    """
    from seriatim.api import ledger_records
    from seriatim.cli import output

    opened = _open(ledger)
    ledger_records(opened, series)
    records = opened.resume(series, out)

    with output.already_done():
        if not as_json:
            output.console.print(f"{len(records)} releases finished")
        if records or as_json:
            output.print_changed(records, as_json)


@app.command("import")
def import_command(
    table: Annotated[
        Path,
        typer.Argument(
            help="Long table (release, respondent, group, sensitive columns), or a folder with one published table per "
            "release."
        ),
    ],
    policy: PolicyFile,
    respondents: Annotated[
        Path | None, typer.Option(help="Table with columns release, row, respondent, for a folder.")
    ] = None,
    ledger: LedgerUrl = LEDGER,
    allow: Annotated[
        list[str] | None, typer.Option(help="What is refused otherwise: again (the series already has these releases).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import releases made before this ledger, so that the next one is judged against them too.

    Example: seriatim ledger import past.csv --policy policy.toml

    Example: seriatim ledger import monthly/ --respondents who.csv --policy policy.toml
    """
    from seriatim import api
    from seriatim.cli import output
    from seriatim.errors import Fault, InputError

    if table.is_dir() != (respondents is not None):
        needed = "a long table alone, or a folder of tables with --respondents"
        raise InputError(Fault("ledger import", "not one history", needed, "give one of them"))
    allowed, loaded = allowed_words(allow, "again"), api.load_policy(policy)
    notes: tuple[str, ...] = ()
    if respondents is None:
        pasts = api.ledger_pasts(table, loaded)
    else:
        pasts, notes = api.ledger_pasts_of_folder(table, respondents, loaded)
    records = api.open_ledger(*ledger_place(ledger)).import_history(loaded, pasts, again="again" in allowed)
    output.print_changed(records, as_json)
    with output.already_done():
        for note in () if as_json else notes:
            output.print_text(f"note: {note}")


@app.command("deliver")
def deliver_command(
    series: SeriesName,
    number: ReleaseNumber,
    to: Annotated[list[str], typer.Option("--to", help="Recipient; may be repeated.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Copy the public part into this folder, to hand it over.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="Policy of the series; needed if its adversary has priors.")
    ] = None,
    approved_by: Annotated[str | None, typer.Option(help="Name of the person approving the delivery.")] = None,
    override: Annotated[
        str | None, typer.Option(help="Deliver despite a refusal, for this reason (needs --approved-by).")
    ] = None,
    ledger: LedgerUrl = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Record who received a release, and copy its public files: table, codebook, report for recipients.

    Example: seriatim ledger deliver ward-visits 3 --to "Dr Weber" --out for-dr-weber

    Exit code 3, and nothing recorded, if they would then hold more than [adversary] breach_share allows.
    """
    from seriatim.api import load_policy
    from seriatim.cli import output

    loaded = None if policy is None else load_policy(policy)
    delivered = _open(ledger).deliver(
        series, number, to, out, policy=loaded, approved_by=approved_by, override=override
    )
    output.print_changed(delivered, as_json)


@app.command("approve")
def approve_command(
    series: SeriesName,
    approved_by: Annotated[str, typer.Option(help="Name of the person approving it: not its author.")],
    digest: Digest = "",
    ledger: LedgerUrl = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Release a draft that waits, exactly as it was judged. Names are taken as they are given.

    Example: seriatim ledger approve ward-visits --approved-by "Dr Weber"

    Exit code 4, and nothing released, if the series has moved since the draft was judged.
    """
    from seriatim.cli import output

    output.print_changed(_open(ledger).approve(series, approved_by, digest), as_json)


@app.command("decline")
def decline_command(
    series: SeriesName,
    reason: Annotated[str, typer.Option(help="Why it is declined; the ledger keeps it.")],
    declined_by: Annotated[str, typer.Option(help="Name of the person declining it.")],
    digest: Digest = "",
    ledger: LedgerUrl = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Remove a draft that waits. The ledger keeps that it was there, who declined it and why.

    Example: seriatim ledger decline ward-visits --reason "wrong extract" --declined-by "Dr Weber"
    """
    from seriatim.cli import output

    declined = _open(ledger).decline(series, reason, declined_by, digest)
    with output.already_done():
        if as_json:
            output.print_json(output.fields_of_record(declined))
        else:
            output.print_drafts([declined])


@app.command("sign-off")
def sign_off_command(
    series: SeriesName,
    number: ReleaseNumber,
    out: Annotated[Path, typer.Option("--out", "-o", callback=new_file, help="HTML page to write (mode 0600).")] = Path(
        "to-sign.html"
    ),
    ledger: LedgerUrl = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Write a release's page to sign again: its input, promises and chain, and who has received it so far.

    Example: seriatim ledger sign-off ward-visits 3 --out to-sign.html
    """
    from seriatim.api import sign_off_in_ledger
    from seriatim.cli import output
    from seriatim.storage.durable_files import write_whole

    page = sign_off_in_ledger(_open(ledger), series, number)
    write_whole({out: page.to_html().encode()})
    output.print_text(page.to_json() if as_json else f"  to sign   {out}")


@app.command("recall")
def recall_command(
    series: SeriesName,
    number: Annotated[int, typer.Argument(help="Number of the release, which must be the newest.")],
    reason: Annotated[str, typer.Option(help="Why it is recalled; the ledger keeps it.")],
    approved_by: Annotated[str | None, typer.Option(help="Name of the person recalling the release.")] = None,
    ledger: LedgerUrl = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Take back a release that nobody has received: it no longer counts, and its copy is removed.

    Example: seriatim ledger recall ward-visits 3 --reason "wrong extract" --approved-by "A. Ortiz"
    """
    from seriatim.cli import output

    output.print_changed(_open(ledger).recall(series, number, reason, approved_by), as_json)


@app.command("erase")
def erase_command(
    series: SeriesName,
    respondent: Annotated[str, typer.Argument(help="Id of the person to forget.")],
    all_series: Annotated[bool, typer.Option("--all-series", help="Also in all other series that know them.")] = False,
    ledger: LedgerUrl = LEDGER,
    as_json: AsJson = False,
) -> None:
    """Forget who a person was. Their groups stay under a number, since the safety of others depends on them.

    Example: seriatim ledger erase ward-visits P000123 --all-series
    """
    import pyarrow as pa

    source = _open(ledger)
    others = tuple(source.in_other_series(series, pa.array([respondent])))
    erased = source.erase_everywhere(series, respondent) if all_series else {series: source.erase(series, respondent)}
    from seriatim.cli import output

    left = [name for name in others if name not in erased]
    with output.already_done():
        if as_json:
            told = {"series": list(erased), "rewritten": sum(erased.values()), "still_known_in": left}
            output.print_json({**told, "series": series} if not all_series else told)
            return
        for name, n_files in erased.items():
            output.print_text(
                f"erased in {name}: {n_files} entries no longer name this person; pseudonymous rows remain"
            )
        if left:
            output.print_text(
                f"  note  other series still know this person: {', '.join(left)}; --all-series erases there"
            )
