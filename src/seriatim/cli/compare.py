"""seriatim compare"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seriatim.cli.options import AsJson, CsvForm, PolicyFile, ReportFile, csv_form

if TYPE_CHECKING:
    from seriatim.usecases.compare.compare_page import Comparison


def command(
    tables: Annotated[
        list[Path], typer.Argument(help="Table to publish, CSV or Parquet; or several tables of a series, in order.")
    ],
    policy: PolicyFile,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help="Method to try; may be repeated (all that fit the policy if omitted)."),
    ] = None,
    out: ReportFile = None,
    csv: CsvForm = None,
    as_json: AsJson = False,
) -> None:
    """Try several methods on a table and compare the verdicts. Records nothing.

    Example: seriatim compare visits.csv --policy policy.toml --method median --method lattice

    Example: seriatim compare month-1.csv month-2.csv month-3.csv --policy policy.toml --method median --method cohort
    """
    from seriatim import api
    from seriatim.cli import output

    loaded = api.load_policy(policy)
    with output.progress_bar(silent=as_json) as progress:
        views = [api.prepare(table, loaded, *csv_form(csv)) for table in tables]
        found = api.compare(views, loaded, method, progress=progress)
    output.write_report(found, out)
    if as_json:
        output.print_text(found.to_json())
    else:
        _show(found, out)


def _show(found: Comparison, out: Path | None) -> None:
    from rich.markup import escape
    from rich.table import Table

    from seriatim.cli.output import console, print_text, print_whole

    table = Table(box=None, pad_edge=False)
    for at, name in enumerate(found.head):
        table.add_column(name, justify="left" if at < 2 else "right", overflow="fold")
    for row in found.rows():
        table.add_row(*row)
    print_whole(table)
    for one in found.methods:
        if found.n_views > 1:
            console.print(f"  {one.method} is judged by {escape(one.promises)}", soft_wrap=True)
        if one.why:
            console.print(f"  {one.method}: {escape(one.why)}", soft_wrap=True)
    if out is not None:
        print_text(f"  report    {out}")
