"""seriatim init: a first policy, guessed from a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seriatim.cli.options import AsJson, CsvForm, allowed_words, csv_form, new_file


def command(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="Table: a file, or a database and a query. Several files of a panel, in order, say more."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", callback=new_file, help="File for the policy.")] = Path(
        "policy.toml"
    ),
    series: Annotated[
        str | None, typer.Option(help="Name of the series (the file's name without numbers and dates if omitted).")
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="What is refused otherwise: overwrite (an existing policy), header (names that look like data); "
            "may be repeated."
        ),
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of policies, for editors, and write nothing.")
    ] = False,
    csv: CsvForm = None,
    as_json: AsJson = False,
) -> None:
    """Guess a first policy from a table and mark every guess. Read it before you use it.

    Example: seriatim init visits.csv --out policy.toml --series ward-visits

    Example: seriatim init year-2024.sav year-2025.sav year-2026.sav

    Example: seriatim init --schema > policy.schema.json
    """
    import json

    from seriatim import api
    from seriatim.errors import Fault, InputError
    from seriatim.storage.durable_files import write_whole

    allowed = allowed_words(allow, "overwrite", "header")
    if schema:
        typer.echo(json.dumps(api.policy_schema(), ensure_ascii=False, indent=1))
        return
    if not tables:
        raise InputError(Fault("init", "no table", "a CSV or Parquet file, or --schema", "name it"))
    if out.exists() and "overwrite" not in allowed:
        told = "choose another --out or use --allow overwrite"
        raise InputError(Fault(str(out), "already exists", "a new file", told))
    *earlier, source = [api.read_table(table, *csv_form(csv)) for table in tables]
    text = api.first_policy(source, series, earlier=earlier, header_is_right="header" in allowed)
    write_whole({out: text.encode()})
    guesses = text.count("# guess")
    from seriatim.cli import output

    if as_json:
        output.print_json({"policy": str(out), "columns": len(source.data.column_names), "guesses": guesses})
    else:
        output.console.print(f"wrote {out} with {guesses} guesses: read each one, then")
        output.print_text(f"  seriatim publish {tables[-1]} --policy {out} --dry-run")
