"""seriatim gate"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from seriatim.cli.options import AsJson, CsvForm, ReportFile, csv_form, new_file
from seriatim_gate.cli import service

if TYPE_CHECKING:
    from seriatim_gate.usecases.replay_report import ReplayReport
    from seriatim_gate.usecases.requests import Requests

_ABOUT = "Release single records on demand: replay, suggest, serve a gate."
app = typer.Typer(help=_ABOUT, rich_markup_mode=None, no_args_is_help=True)

TableFile = Annotated[Path, typer.Argument(help="Requests in their order: a CSV or Parquet file.")]
X = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--x", help="Column that is released; may be repeated."),
]
Y = Annotated[Optional[str], typer.Option("--y", help="Column of the targets to protect.")]  # noqa: UP045
Dependency = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--dependency", help="Dependency to guard, such as 'age, sex ~> ward, site'; may be repeated (all must hold)."
    ),
]
BaselineFile = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--baseline", help="File of gate baseline (the table is its own baseline if omitted)."),
]


app.command("hold")(service.hold_command)
app.command("show")(service.show_command)
app.command("verify")(service.verify_command)
app.command("serve")(service.serve_command)
app.add_typer(service.token_app, name="token")


@app.callback(help=_ABOUT)
def help_command() -> None:
    pass


@app.command("baseline")
def baseline_command(
    table: Annotated[Path, typer.Argument(help="Records that requests are compared with: a CSV or Parquet file.")],
    x: X = None,
    y: Y = None,
    dependency: Dependency = None,
    bands: Annotated[int, typer.Option(min=2, max=200, help="Ranges of equal share for a numeric column.")] = 10,
    ranges: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--ranges", help="Cut a numeric column here instead, such as 'age: 18, 40, 65'; may be repeated."),
    ] = None,
    others: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--others", help="Treat unknown targets as this target instead of refusing them."),
    ] = None,
    baseline: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--baseline", help="Recount this baseline, keeping its ranges and targets: its next version."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", callback=new_file, help="Write the baseline to this file.")
    ] = Path("baseline.json"),
    csv: CsvForm = None,
    as_json: AsJson = False,
) -> None:
    """Count the baseline of a gate on a table, for gate replay and for later versions.

    Example: seriatim gate baseline people.csv --x age --y location --out baseline.json
    """
    from seriatim.cli import output
    from seriatim.storage.durable_files import write_whole
    from seriatim_gate import api

    found = api.gate_baseline(
        table, x or (), y, bands, ranges or (), others, baseline, *csv_form(csv), dependency or ()
    )
    write_whole({out: found.to_json().encode()}, "out")
    if as_json:
        output.print_text(found.to_json())
        return
    for name, one in zip(found.names, found.baselines, strict=True):
        output.print_text(
            f"{name}: {len(one.values):,} values and {len(one.targets):,} targets on {one.n_records:,} records"
        )
    for note in found.advice():
        output.console.print(f"  note  {note}", soft_wrap=True)
    output.print_text(f"  baseline  {out}, version {found.version}")


@app.command("replay")
def replay_command(
    table: TableFile,
    x: X = None,
    y: Y = None,
    dependency: Dependency = None,
    test: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--test", help="kld (default), wdt, mis, cst or dqt; all given must hold."),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Level: 0.2 stops casual guessing, 0.05 only attackers who must be sure.")
    ] = 0.2,
    baseline: BaselineFile = None,
    merge: Annotated[
        str, typer.Option(help="How cst joins cells of fewer than 5 records: smallest, or forward.")
    ] = "smallest",
    distance: Annotated[str, typer.Option(help="What dqt compares: kl, or pearson.")] = "kl",
    few: Annotated[
        str, typer.Option(help="How mis and kld judge few records: simulated, or asymptotic.")
    ] = "simulated",
    queue: Annotated[bool, typer.Option(help="Queue unsafe requests (--no-queue: deny them).")] = True,
    joint: Annotated[bool, typer.Option("--joint", help="Also release sets that are safe only together.")] = False,
    journal: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--journal", help="Store baseline and replay in this journal (with --gate), to serve the gate."),
    ] = None,
    gate: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--gate", help="Name of the gate in the journal."),
    ] = None,
    out: ReportFile = None,
    csv: CsvForm = None,
    as_json: AsJson = False,
) -> None:
    """Show what a gate would have released of these requests, and what an observer would learn from it.

    Example: seriatim gate replay requests.csv --x age --y location --out replay.html
    """
    from seriatim.cli import output
    from seriatim_gate import api
    from seriatim_gate.usecases.replay_report import HEAD

    with output.progress_bar(silent=as_json) as progress:
        progress("reading", 0.0)
        requests = api.gate_requests(table, x or (), y, baseline, *csv_form(csv), dependency or ())
        progress("replaying", 0.3)
        found = api.gate_replay(
            requests, test or ("kld",), alpha, merge=merge, distance=distance, few=few, queue=queue, joint=joint,
            title=table.stem,
        )  # fmt: skip
    output.write_report(found, out)
    if journal is not None or gate is not None:
        number = _stored(found, requests, journal, gate)
    if as_json:
        output.print_text(found.to_json())
        return
    one = found.found
    deviating = ", ".join(f"{part.n_deviating} of {part.n_targets}" for part in found.parts)
    refused = f"; {one.n_refused:,} more refused: a cell empty or not in the baseline" if one.n_refused else ""
    left, asked = int(one.released.sum()), int(one.requested.sum())
    output.console.print(
        f"released {left:,} of {asked:,} ({one.share:.1%}), {one.at_once:,} at once; longest wait "
        f"{one.longest_wait:,} requests; {deviating} targets deviate at 5%{refused}"
    )
    for note in (*([found.warning] if found.warning else []), *found.advice):
        output.console.print(f"  note  {note}", soft_wrap=True)
    _show(HEAD, found.rows()[:20], out)
    if journal is not None:
        output.print_text(f"  stored    version {number} of the baseline, with this replay")


def _stored(found: ReplayReport, requests: Requests, journal: str | None, gate: str | None) -> int:
    from seriatim.errors import Fault, InputError
    from seriatim_gate import api

    if journal is None or gate is None:
        raise InputError(Fault("--journal, --gate", "one without the other", "both"))
    return api.gate_store(found, requests, journal, gate)


@app.command("suggest")
def suggest_command(
    table: TableFile,
    most: Annotated[int, typer.Option(min=1, help="Number of pairs to list.")] = 20,
    out: ReportFile = None,
    csv: CsvForm = None,
    as_json: AsJson = False,
) -> None:
    """Rank pairs of columns by how much releasing one reveals about the other.

    Example: seriatim gate suggest people.csv
    """
    from seriatim.cli import output
    from seriatim_gate import api
    from seriatim_gate.usecases.suggest import HEAD

    with output.progress_bar(silent=as_json) as progress:
        progress("measuring", 0.1)
        separator, encoding = csv_form(csv)
        found = api.gate_suggest(table, most=most, separator=separator, encoding=encoding)
    output.write_report(found, out)
    if as_json:
        output.print_text(found.to_json())
    else:
        _show(HEAD, found.rows(), out)


def _show(head: tuple[str, ...], rows: tuple[tuple[str, ...], ...], out: Path | None) -> None:
    from rich.markup import escape
    from rich.table import Table

    from seriatim.cli.output import print_text, print_whole

    table = Table(box=None, pad_edge=False)
    for place, name in enumerate(head):
        table.add_column(name, justify="left" if place == 0 else "right")
    for row in rows:
        table.add_row(*map(escape, row))
    print_whole(table)
    if out is not None:
        print_text(f"  report    {out}")
