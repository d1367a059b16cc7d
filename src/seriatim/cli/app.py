"""The commands and their help. Imports typer only: a help page must not wait for compilers and databases."""

from __future__ import annotations

import typer

from seriatim.cli import attack, audit, compare, forecast, gate, init, knowledge, ledger, publish, study

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
app.command("demo")(init.demo_beside_init)
app.command("init")(init.init)
app.command("publish")(publish.publish)
app.command("audit")(audit.audit)
app.command("attack")(attack.attack)
app.command("compare")(compare.compare)
app.command("forecast")(forecast.forecast)
app.add_typer(gate.app, name="gate")
app.add_typer(knowledge.app, name="knowledge")
app.add_typer(ledger.app, name="ledger")
app.add_typer(study.app, name="study")


@app.callback(invoke_without_command=True)
def version(
    show: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
) -> None:
    if show:
        import seriatim

        typer.echo(f"seriatim {seriatim.__version__}")
        raise typer.Exit


def help_page() -> str:
    """Return what `seriatim --help` prints, 80 columns wide."""
    command = typer.main.get_command(app)
    context = command.make_context("seriatim", [], resilient_parsing=True, terminal_width=80, max_content_width=80)
    return command.get_help(context) + "\n"


__all__ = ["app", "help_page"]
