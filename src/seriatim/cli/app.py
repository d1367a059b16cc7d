"""The commands and their help. Imports typer only: a help page must not wait for compilers and databases."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import typer

_COMMANDS = {
    "demo": "demo:command",
    "init": "init:command",
    "publish": "publish:command",
    "audit": "audit:command",
    "attack": "attack:command",
    "compare": "compare:command",
    "forecast": "forecast:command",
    "desk": "desk:command",
}
_GROUPS = ("gate", "knowledge", "ledger", "study")


def typer_for(words: Sequence[str]) -> Any:
    """Return the command line with the one command that the words begin with; with all of them if they name none."""
    named = tuple(word for word in words[:1] if word in _COMMANDS or word in _GROUPS)
    return _app(named or (*_COMMANDS, *_GROUPS))


@cache
def _app(names: tuple[str, ...]) -> Any:
    """Return the command line with some commands: typer reads every signature it is given, whichever is called."""
    app = typer.Typer(
        name="seriatim",
        help="Publish data about people again and again, and keep the releases safe together.",
        epilog="Exit codes: 0 done, 2 bad input, 3 refused by the verdict, 4 the ledger moved or is damaged, "
        "5 something outside the data failed (database, disk, folder). "
        "Start with: seriatim demo",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_version)
    for name in names:
        if name in _GROUPS:
            app.add_typer(_loaded(name, "app"), name=name)
        else:
            app.command(name)(_loaded(*_COMMANDS[name].split(":")))
    return typer.main.get_command(app)


def _loaded(module: str, name: str) -> Any:
    return getattr(import_module(f"seriatim.cli.{module}"), name)


def _version(
    show: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
) -> None:
    if show:
        import seriatim

        typer.echo(f"seriatim {seriatim.__version__}")
        raise typer.Exit


def help_page() -> str:
    """Return what `seriatim --help` prints, 80 columns wide."""
    command = typer_for(())
    context = command.make_context("seriatim", [], resilient_parsing=True, terminal_width=80, max_content_width=80)
    return f"{command.get_help(context)}\n"


__all__ = ["help_page", "typer_for"]
