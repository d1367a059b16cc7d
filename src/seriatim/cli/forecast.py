"""seriatim forecast"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seriatim.cli.options import (
    LEDGER,
    AdversaryKeys,
    AsJson,
    LedgerUrl,
    ReportFile,
    inline_table,
    known_to_adversary,
    ledger_place,
)

if TYPE_CHECKING:
    from seriatim.usecases.forecast.forecast_page import OutlookReport


def command(
    series: Annotated[str, typer.Argument(help="Series of the ledger.")],
    releases: Annotated[int, typer.Option("--releases", "-r", min=1, max=120, help="Releases to simulate.")] = 12,
    rules: Annotated[
        str | None, typer.Option(help="Promises to simulate, as in 'm = 4, odds = 1.5' (m = 3 if omitted).")
    ] = None,
    adversary: AdversaryKeys = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive column to follow (the first if omitted).")] = None,
    ledger: LedgerUrl = LEDGER,
    out: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Forecast when the first person is breached, method by method.

    Simulates the next releases with the churn seen so far.

    Example: seriatim forecast ward-visits --releases 12 --rules "m = 4" --adversary "compromised = 0.04"
    """
    from seriatim import api
    from seriatim.cli import output

    declared, promised = known_to_adversary(adversary), {} if rules is None else inline_table("--rules", rules)
    with output.progress_bar(silent=as_json) as progress:
        source = api.open_ledger(*ledger_place(ledger), create=False)
        found = api.forecast(
            source, series, releases, promised, progress=progress, adversary=declared, sensitive=sensitive
        )
    report = api.forecast_report(found, series)
    output.write_report(report, out)
    if as_json:
        output.print_text(report.to_json())
    else:
        _show(report, out)


def _show(report: OutlookReport, out: Path | None) -> None:
    from rich.markup import escape
    from rich.table import Table

    from seriatim.cli.output import console, print_text, print_whole
    from seriatim.usecases.forecast.forecast_page import HEAD

    found = report.forecast
    console.print(
        f"between two releases {found.leaving:.1%} of people left and {found.joining:.1%} joined{report.changes}"
    )
    if report.today:
        colour = "red" if report.broken_today else "yellow"
        console.print(f"[{colour}]today[/] {escape(report.today)}", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for at, name in enumerate(HEAD):
        table.add_column(name, justify="right" if at in (2, 3, 4) else "left")
    for cells in report.rows():
        table.add_row(*map(escape, cells))
    print_whole(table)
    console.print(escape(report.advice), soft_wrap=True)
    if found.sure:
        console.print("values change; people inferred with certainty by an attacker who knows how values change:")
    for line in report.sure:
        console.print(f"  {escape(line)}", soft_wrap=True, highlight=False)
    if out is not None:
        print_text(f"  page      {out}")
