"""seriatim init: a first policy, guessed from a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from seriatim.cli.options import AsJson, Encoding, Separator, new_file


def init_command(
    table: Annotated[Path, typer.Argument(help="CSV or Parquet file.")],
    out: Annotated[Path, typer.Option("--out", "-o", callback=new_file, help="File for the policy.")] = Path(
        "policy.toml"
    ),
    series: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Name of the series (the file's name without numbers and dates if omitted)."),
    ] = None,
    header_is_right: Annotated[
        bool, typer.Option("--header-is-right", help="The first line is a header, although it looks like data.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing policy.")] = False,
    separator: Separator = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
) -> None:
    """Guess a first policy from a table and mark every guess. Read it before you use it.

    Example: seriatim init visits.csv --out policy.toml --series ward-visits
    """
    from seriatim import api
    from seriatim.errors import Fault, InputError
    from seriatim.storage.own_files import write_own_files

    if out.exists() and not force:
        raise InputError(Fault(str(out), "already exists", "a new file", "choose another --out or use --force"))
    source = api.read_table(table, separator, encoding)
    text = api.first_policy(source, series, header_is_right=header_is_right)
    write_own_files({out: text.encode()})
    guesses = text.count("# guess")
    from seriatim.cli import output

    if as_json:
        output.output_json({"policy": str(out), "columns": len(source.data.column_names), "guesses": guesses})
    else:
        output.console.print(f"wrote {out} with {guesses} guesses: read each one, then")
        output.output_text(f"  seriatim publish {table} --policy {out} --dry-run")
