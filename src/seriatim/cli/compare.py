"""seriatim compare"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from seriatim.cli.options import AsJson, CsvForm, PolicyFile, ReportFile, csv_form, inline_table

if TYPE_CHECKING:
    from seriatim.model import Policy, Table
    from seriatim.usecases.compare.compare_page import Comparison
    from seriatim.usecases.compare.risk_map import MapWish

_OF_A_MAP: dict[str, type] = {"risk": str, "cost": str, "column": str, "near": str, "seed": int, "statistics": list}
"""Keys of --risk, and their types."""


def command(
    tables: Annotated[
        list[Path], typer.Argument(help="Table to publish, CSV or Parquet; or several tables of a series, in order.")
    ],
    policy: PolicyFile,
    method: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--method", "-m", help="Method to try; may be repeated (all that fit the policy if omitted)."),
    ] = None,
    out: ReportFile = None,
    risk: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Draw a map of techniques by this risk: hit_chance, area, leakage or gain; or more keys of the map, "
            'as in \'risk = "area", cost = "loss"\': also column, near, seed and statistics = ["mean:age"].'
        ),
    ] = None,
    csv: CsvForm = None,
    as_json: AsJson = False,
) -> None:
    """Try several methods on a table and compare the verdicts. Records nothing.

    Example: seriatim compare visits.csv --policy policy.toml --method median --method lattice

    Example: seriatim compare visits.csv --policy policy.toml --risk hit_chance --out map.html

    Example: seriatim compare visits.csv --policy policy.toml --risk 'risk = "area", statistics = ["mean:age"]'

    Example: seriatim compare month-1.csv month-2.csv month-3.csv --policy policy.toml --method median --method cohort
    """
    from seriatim import api
    from seriatim.cli import output

    loaded = api.load_policy(policy)
    if risk is not None:
        _must_be_one_table(tables, method)
        _map(api.read_table(tables[0], *csv_form(csv)), loaded, _wish(risk), out, as_json)
        return
    with output.progress_bar(silent=as_json) as progress:
        views = [api.prepare(table, loaded, *csv_form(csv)) for table in tables]
        found = api.compare(views, loaded, method, progress=progress)
    output.write_report(found, out)
    if as_json:
        output.print_text(found.to_json())
    else:
        _show(found, out)


def _must_be_one_table(tables: list[Path], method: list[str] | None) -> None:
    """Raise an error for what a map would leave unread."""
    from seriatim.errors import Fault, InputError

    if len(tables) > 1:
        raise InputError(Fault("--risk", f"{len(tables)} tables", "a map of one table", "name one"))
    if method:
        raise InputError(Fault("--risk", "--method beside it", "a map tries all methods", "remove --method"))


def _wish(risk: str) -> MapWish:
    from seriatim.errors import Fault, InputError
    from seriatim.usecases.compare.risk_map import MapWish

    stated: dict[str, Any] = inline_table("--risk", risk) if "=" in risk else {"risk": risk}
    if unknown := sorted(stated.keys() - _OF_A_MAP):
        raise InputError(Fault("--risk", f"unknown: {', '.join(unknown)}", ", ".join(_OF_A_MAP)))
    if wrong := [key for key, value in stated.items() if type(value) is not _OF_A_MAP[key]]:
        allowed = ", ".join(f"{key} a {kind.__name__}" for key, kind in _OF_A_MAP.items())
        raise InputError(Fault("--risk", f"{wrong[0]} of another type", allowed))
    if "statistics" in stated:
        stated["statistics"] = tuple(stated["statistics"])
    return MapWish(**stated)


def _map(table: Table, policy: Policy, wish: MapWish, out: Path | None, as_json: bool) -> None:
    from seriatim import api
    from seriatim.cli import output
    from seriatim.usecases.compare.compare_page import own_point_told

    with output.progress_bar(silent=as_json) as progress:
        found = api.compare_on_map(table, policy, wish, progress=progress)
    output.write_report(found, out)
    if as_json:
        output.print_text(found.to_json())
        return
    for point in found.points:
        if point.of_policy:
            output.print_text(f"  policy    {own_point_told(point)}")
    for point in found.front:
        told = f"risk {point.risk:.3g}, cost {point.cost:.3g}"
        output.print_text(f"  front     {point.technique} {point.parameter}: {told}")
    if out is not None:
        output.print_text(f"  map       {out}")


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
