"""seriatim study"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from seriatim.cli.options import AsJson

app = typer.Typer(
    help="The papers' experiments run again, with what was printed beside what was found.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.callback()
def about() -> None:
    """The papers' experiments run again, with what was printed beside what was found."""


@app.command()
def leakage(
    adult: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(help="The Adult file as CSV; without it only the examples are run."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("study-leakage.html"),
    as_json: AsJson = False,
) -> None:
    """Distribution and entropy leakage: the paper's examples, its Adult section, its figures.

    Example: seriatim study leakage adult.csv --out study-leakage.html
    """
    from seriatim.cli import printing
    from seriatim.studies.leakage import study_leakage

    with printing.progress_bar(silent=as_json) as progress:
        progress("running", 0.1)
        study = study_leakage(adult)
        out.write_text(study.to_html(), encoding="utf-8")
    if as_json:
        printing.print_json_text(study.to_json())
    else:
        printing.print_json_text(f"  study     {out}")


@app.command("cor-split")
def cor_split(
    scale: Annotated[float, typer.Option(min=0.001, max=1, help="1 is the paper's size; 0.05 is a quick look.")] = 1.0,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("study-cor-split.html"),
    as_json: AsJson = False,
) -> None:
    """Serial publication: m-invariance, Cor-Split and what came after, on a made-up census, attacked to the end.

    Example: seriatim study cor-split --scale 0.1 --out study-cor-split.html
    """
    from seriatim.cli import printing
    from seriatim.engines.local import LocalEngine
    from seriatim.studies.cor_split_page import study_cor_split

    with printing.progress_bar(silent=as_json) as progress:
        study = study_cor_split(LocalEngine(), scale, progress=progress)
        out.write_text(study.to_html(), encoding="utf-8")
    if as_json:
        printing.print_json_text(study.to_json())
    else:
        printing.print_json_text(f"  study     {out}")
