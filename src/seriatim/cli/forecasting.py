"""seriatim forecast"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from seriatim.cli.options import LEDGER, AsJson, LedgerUrl, ShelfFolder

if TYPE_CHECKING:
    from seriatim.usecases.forecasting import Forecast


def forecast(
    series: Annotated[str, typer.Argument(help="A series of the ledger.")],
    releases: Annotated[int, typer.Option("--releases", "-r", min=1, max=120, help="How far to look.")] = 12,
    m: Annotated[int, typer.Option(min=2, help="Values that must stay possible for everyone.")] = 3,
    n: Annotated[int, typer.Option(min=1, help="Degree of historical safety.")] = 1,
    compromised: Annotated[float, typer.Option(min=0, max=1, help="Share of people whose value is known.")] = 0.04,
    ledger: LedgerUrl = LEDGER,
    shelf: ShelfFolder = None,
    out: Annotated[Optional[Path], typer.Option("--out", "-o", help="Write a page here as HTML.")] = None,  # noqa: UP045
    as_json: AsJson = False,
) -> None:
    """Simulate the next releases under the churn seen so far: when does the first person break, and what lasts longer?

    Example: seriatim forecast ward-visits --releases 12 --m 4 --compromised 0.04
    """
    from seriatim import wiring
    from seriatim.cli import printing

    rules = {"m": m, "n": n, "compromised": compromised}
    with printing.progress_bar(silent=as_json) as progress:
        source = wiring.open_ledger(ledger, shelf, create=False)
        found = wiring.forecast(source, series, releases, rules, progress=progress)
    report = wiring.forecast_report(found, series)
    if out is not None:
        out.write_text(report.to_html(), encoding="utf-8")
    if as_json:
        printing.print_json_text(report.to_json())
    else:
        _show(found, out)


def _show(found: Forecast, out: Path | None) -> None:
    from rich.markup import escape
    from rich.table import Table

    from seriatim.cli.printing import console, print_json_text

    console.print(f"between two releases {found.leaving:.1%} of people left and {found.joining:.1%} came")
    table = Table(box=None, pad_edge=False)
    for name in ("method", "first person breached at release", "breached at the end", ""):
        table.add_column(name)
    for course in found.courses:
        last = f"{course.estimates[-1].share:.2%}" if course.estimates else ""
        first = str(course.first_break) if course.first_break else ("none" if course.estimates else "")
        table.add_row(course.method, first, last, escape(course.stopped))
    console.print(table)
    if out is not None:
        print_json_text(f"  page      {out}")
