"""The commands and their help. Imports typer only: a help page must not wait for compilers and databases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import typer

from seriatim.errors import Fault, InputError

_COMMANDS = {
    "demo": "demo:command",
    "init": "init:command",
    "publish": "publish:command",
    "check": "check:command",
    "audit": "audit:command",
    "attack": "attack:command",
    "compare": "compare:command",
    "forecast": "forecast:command",
    "desk": "desk:command",
    "knowledge": "knowledge:app",
    "ledger": "ledger:app",
}
GROUP = "seriatim.commands"
"""Entry points of other packages: a name, and a function that is made a command, or a typer application of several."""
_NEXT_DOOR = {"gate": "gate", "study": "papers"}
"""Commands that are in distributions of ours, and the extra that brings each."""


def typer_for(words: Sequence[str]) -> Any:
    """Return the command line with the one command that the words begin with; with all of them if they name none."""
    named = tuple(words[:1])
    if named and named[0] in _COMMANDS:
        return _app(named)
    others = sorted({*_NEXT_DOOR, *entry_points(group=GROUP).names} - {*_COMMANDS})
    return _app(named if named and named[0] in others else (*_COMMANDS, *others))


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
        command = _ours(*_COMMANDS[name].split(":")) if name in _COMMANDS else _of_a_package(name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        elif isinstance(command, Fault):
            app.command(name, help=f"Not there: {command.remedy}.", context_settings=_TAKES_ANYTHING)(_telling(command))
        else:
            app.command(name)(command)
    return typer.main.get_command(app)


def _ours(module: str, name: str) -> Any:
    return getattr(import_module(f"seriatim.cli.{module}"), name)


def _of_a_package(name: str) -> Any:
    """Return a command of an installed package, or the fault that it is not there."""
    for point in entry_points(group=GROUP, name=name):
        try:
            return point.load()
        except (ImportError, AttributeError) as error:
            found = f"registered as {point.value}, which cannot be loaded ({type(error).__name__})"
            return Fault(name, found, "", "repair or remove the package that registers it")
    return Fault(name, "this command is in another package", "", f'pip install "seriatim[{_NEXT_DOOR[name]}]"')


_TAKES_ANYTHING = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def _telling(fault: Fault) -> Callable[[], None]:
    """Return a command that only says why it is not there, whatever it is asked: it harms no other."""

    def command() -> None:
        raise InputError(fault)

    return command


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
