"""seriatim audit"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seriatim.cli.options import AsJson, CsvForm, PolicyFile, ReportFile, csv_form

if TYPE_CHECKING:
    from seriatim.model import Finding
    from seriatim.model.audited import PriorKind
    from seriatim.usecases.audit.audit import Audit

BROKEN = 3


Prior = Annotated[str, typer.Option(help="Belief before the release: published, uniform, margin, conditional.")]
Beside = Annotated[
    Path | None, typer.Option(help="Table that prior margin or conditional is taken from (the original if omitted).")
]
Original = Annotated[
    Path | None, typer.Option(help="Table this one was made from; adds information loss and query errors.")
]
Aligned = Annotated[
    bool, typer.Option("--aligned", help="Row i was made from row i of the original; adds linkage risks.")
]
Sampled = Annotated[
    float | None, typer.Option(help="Share of the population in the table, if it is a sample, e.g. 0.05.")
]
ExposedRecords = Annotated[
    Path | None, typer.Option(help="Write which records are exposed, and by which class, to this CSV file (mode 0600).")
]


def command(
    table: Annotated[str, typer.Argument(help="Published table, made by any tool: a file, or a database and a query.")],
    policy: PolicyFile,
    prior: Prior = "published",
    beside: Beside = None,
    original: Original = None,
    aligned: Aligned = False,
    sampled: Sampled = None,
    out: ReportFile = None,
    private: ExposedRecords = None,
    csv: CsvForm = None,
    as_json: AsJson = False,
) -> None:
    """Report what a published table reveals, and about whom.

    Example: seriatim audit published.csv --policy policy.toml --original visits.csv --out audit.html

    The policy needs only roles. Exit code 3 if it has promises and one is broken.
    """
    from seriatim import api
    from seriatim.cli import output
    from seriatim.cli.compile_ahead import compile_ahead

    kind, (separator, encoding) = _prior_kind(prior), csv_form(csv)
    with output.progress_bar(silent=as_json) as progress:
        compile_ahead("figures")
        progress("auditing", 0.2)
        found = api.audit(
            table,
            api.load_policy(policy),
            prior=kind,
            beside=beside,
            original=original,
            aligned=aligned,
            sampled=sampled,
            private=private,
            separator=separator,
            encoding=encoding,
        )
        progress("writing", 0.7)
        output.write_report(found.report, out)
    output.print_text(found.report.to_json()) if as_json else _show(found, out)
    if not found.kept:
        raise typer.Exit(BROKEN)


def _prior_kind(prior: str) -> PriorKind:
    from typing import cast, get_args

    from seriatim.errors import Fault, InputError
    from seriatim.model.audited import PriorKind

    if prior not in get_args(PriorKind):
        raise InputError(Fault("--prior", f"{prior!r}", ", ".join(get_args(PriorKind)), "choose one"))
    return cast(PriorKind, prior)


def _who(finding: Finding) -> str:
    named = ", ".join(str(c) for c in finding.classes)
    more = finding.n_classes - len(finding.classes)
    numbers = f" ({named}{f' and {more:,} more' if more else ''})" if named else ""
    return (
        f"{finding.n_people:,} people in {finding.n_classes:,} class{'' if finding.n_classes == 1 else 'es'}{numbers}"
    )


def _show(found: Audit, out: Path | None) -> None:
    from rich.markup import escape

    from seriatim.cli.output import console, figures_table, findings_table, print_text

    console.print(figures_table(found.summary))
    if found.findings:
        console.print(findings_table(found.findings))
    for finding in found.findings:
        if not finding.kept:
            where = f" of {finding.column!r}" if finding.column else ""
            console.print(f"  [red]broken[/] {escape(finding.rule + where)}: {escape(_who(finding))}", soft_wrap=True)
            console.print(f"         {escape(finding.remedy)}", soft_wrap=True)
    for note in found.notes:
        console.print(f"  note  {escape(note)}", soft_wrap=True)
    if out is not None:
        print_text(f"  report    {out}")
