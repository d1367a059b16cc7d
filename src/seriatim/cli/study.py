"""seriatim study: the studies of whatever packages are installed."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from seriatim.errors import Fault, InputError

STUDIES = "seriatim.studies"
"""Entry points: a name, and a function that is made a command."""


class InstalledStudies(TyperGroup):
    """A group that says where studies come from if there are none."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the study that is named."""
        if not self.commands:
            found, remedy = f"{args[0]!r}, and no study is installed", 'pip install "seriatim[papers]" brings five'
            raise InputError(Fault("study", found, "a study of an installed package", remedy))
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=InstalledStudies,
    help="Repeat the experiments of papers and compare the figures.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.callback()
def help_command() -> None:
    """Repeat the experiments of papers and compare the figures."""


for study in entry_points(group=STUDIES):
    app.command(study.name)(study.load())
