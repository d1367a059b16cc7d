"""seriatim compare"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from seriatim.cli.options import AsJson, Encoding, PolicyFile, ReportFile, Separator

if TYPE_CHECKING:
    from seriatim.model import Policy, Table
    from seriatim.usecases.compare.compare_page import Comparison
    from seriatim.usecases.compare.risk_map import MapWish


def compare_command(
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
        typer.Option(help="Draw a map of techniques by this risk: hit_chance, area, leakage or gain."),
    ] = None,
    cost: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="What the map's other axis shows: statistics, loss, query_error or models (statistics if omitted)."
        ),
    ] = None,
    statistic: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Own statistic for the map, as mean:age or quantile:wage:0.9; may be repeated."),
    ] = None,
    column: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Sensitive column that the map is about (the first one of numbers if omitted)."),
    ] = None,
    near: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="What counts as a hit on the map, as ±10 or '±5% or 100' (±5%, for dates ±15, if omitted)."),
    ] = None,
    seed: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="Seed of the map's random choices (1 if omitted)."),
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
) -> None:
    """Try several methods on a table and compare the verdicts. Records nothing.

    Example: seriatim compare visits.csv --policy policy.toml --method median --method lattice

    Example: seriatim compare visits.csv --policy policy.toml --risk hit_chance --out map.html

    Example: seriatim compare visits.csv --policy policy.toml --risk area --statistic mean:age

    Example: seriatim compare month-1.csv month-2.csv month-3.csv --policy policy.toml --method median --method cohort
    """
    from seriatim import api
    from seriatim.cli import output

    loaded = api.load_policy(policy)
    of_a_map = {"cost": cost, "statistics": tuple(statistic) if statistic else None, "column": column, "near": near}
    stated = {name: value for name, value in {**of_a_map, "seed": seed}.items() if value is not None}
    if risk is not None:
        _must_be_one_table(tables, method)
        _map(api.read_table(tables[0], separator, encoding), loaded, _wish(risk, stated), out, as_json)
        return
    _must_be_of_methods(stated)
    with output.output_bar(silent=as_json) as progress:
        views = [api.prepare(table, loaded, separator, encoding) for table in tables]
        found = api.compare(views, loaded, method, progress=progress)
    output.output_filed(found, out)
    if as_json:
        output.output_text(found.to_json())
    else:
        _show(found, out)


def _must_be_one_table(tables: list[Path], method: list[str] | None) -> None:
    """Raise an error for what a map would leave unread."""
    from seriatim.errors import Fault, InputError

    if len(tables) > 1:
        raise InputError(Fault("--risk", f"{len(tables)} tables", "a map of one table", "name one"))
    if method:
        raise InputError(Fault("--risk", "--method beside it", "a map tries all methods", "remove --method"))


def _must_be_of_methods(stated: Mapping[str, object]) -> None:
    """Raise an error for options of a map that is not asked for."""
    from seriatim.errors import Fault, InputError

    if stated:
        raise InputError(Fault(", ".join(stated), "describes a map", "beside --risk", "add --risk, or remove it"))


def _wish(risk: str, stated: Mapping[str, Any]) -> MapWish:
    from dataclasses import replace

    from seriatim.usecases.compare.risk_map import MapWish

    return replace(MapWish(risk=risk), **stated)


def _map(table: Table, policy: Policy, wish: MapWish, out: Path | None, as_json: bool) -> None:
    from seriatim import api
    from seriatim.cli import output
    from seriatim.usecases.compare.map_page import map_point_words

    with output.output_bar(silent=as_json) as progress:
        found = api.compare_on_map(table, policy, wish, progress=progress)
    output.output_filed(found, out)
    if as_json:
        output.output_text(found.to_json())
        return
    for point in found.points:
        if point.of_policy:
            output.output_text(f"  policy    {map_point_words(point)}")
    for point in found.front:
        told = f"risk {point.risk:.3g}, cost {point.cost:.3g}"
        output.output_text(f"  front     {point.technique} {point.parameter}: {told}")
    if out is not None:
        output.output_text(f"  map       {out}")


def _show(found: Comparison, out: Path | None) -> None:
    from rich.markup import escape
    from rich.table import Table

    from seriatim.cli.output import console, output_text, output_whole

    table = Table(box=None, pad_edge=False)
    for at, name in enumerate(found.head):
        table.add_column(name, justify="left" if at < 2 else "right", overflow="fold")
    for row in found.rows():
        table.add_row(*row)
    output_whole(table)
    for one in found.methods:
        if found.n_views > 1:
            console.print(f"  {one.method} is judged by {escape(one.promises)}", soft_wrap=True)
        if one.why:
            console.print(f"  {one.method}: {escape(one.why)}", soft_wrap=True)
    if out is not None:
        output_text(f"  report    {out}")
