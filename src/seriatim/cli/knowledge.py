"""seriatim knowledge"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seriatim.cli.options import LEDGER, AsJson, LedgerUrl, ledger_place, new_file

app = typer.Typer(
    help="Mine and show what attackers may know about sequences of values.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.command("mine")
def mine_command(
    table: Annotated[
        Path | None,
        typer.Argument(help="Long table, a row per appearance: respondent, time, value and perhaps a class."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", callback=new_file, help="TOML file to write; a Parquet file goes beside it.")
    ] = Path("knowledge.toml"),
    respondent: Annotated[str, typer.Option(help="Column with the person's id.")] = "respondent",
    time: Annotated[str, typer.Option(help="Column with the time: whole steps, or dates (needs --step).")] = "release",
    step: Annotated[
        str | None, typer.Option(help="What one step is, for dates: day, week, month, quarter or year.")
    ] = None,
    value: Annotated[str, typer.Option(help="Column with the values.")] = "sensitive",
    cls: Annotated[
        str | None, typer.Option("--class", help="Column with a class of people that has its own steps.")
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(min=1, max=12, help="Number of past values to use (2 if omitted and the data suffice, else 1)."),
    ] = None,
    ledger: LedgerUrl = LEDGER,
    series: Annotated[str | None, typer.Option(help="Series of the ledger, instead of a table.")] = None,
    as_json: AsJson = False,
) -> None:
    """Mine how values follow each other, for [adversary] sequence = "knowledge.toml".

    Example: seriatim knowledge mine corpus.csv --respondent id --time year --value job --out knowledge.toml
    """
    from seriatim import api
    from seriatim.errors import Fault, InputError

    if (table is None) == (series is None):
        raise InputError(Fault("knowledge mine", "a table and a series, or neither", "one of them", "give one"))
    account = api.mine_knowledge_file(
        table if series is None else api.ledger_history(api.open_ledger(*ledger_place(ledger), create=False), series),
        out,
        respondent=respondent,
        time=time,
        value=value,
        cls=cls,
        order=order,
        step=step,
    )
    _show(account, as_json)


@app.command("show")
def show_command(
    knowledge: Annotated[Path, typer.Argument(help="TOML file of seriatim knowledge mine.")],
    epsilon: Annotated[
        float | None,
        typer.Option(help="Epsilon of each differentially private release; shows what they leak together over time."),
    ] = None,
    releases: Annotated[int, typer.Option(min=1, max=1000, help="Number of these releases.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show what a knowledge file holds: how many keep their value, and what follows what.

    Example: seriatim knowledge show knowledge.toml

    Example: seriatim knowledge show knowledge.toml --epsilon 0.5 --releases 12
    """
    from seriatim import api

    _show(api.show_knowledge_file(knowledge, epsilon=epsilon, releases=releases), as_json)


def _show(account: object, as_json: bool) -> None:
    import json

    from seriatim.cli import output
    from seriatim.usecases.knowledge import ModelAccount

    assert isinstance(account, ModelAccount)
    if as_json:
        output.print_text(json.dumps(account.record(), ensure_ascii=False, indent=1))
    else:
        for line in account.lines():
            output.print_text(line)
