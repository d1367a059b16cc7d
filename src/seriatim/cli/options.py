"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

LEDGER = "sqlite:///ledger.db"


def new_file(context: typer.Context, parameter: typer.CallbackParam, path: Path | None) -> Path | None:  # noqa: ARG001
    """Refuse a file to write that holds something else, before any work is done."""
    if path is not None:
        from seriatim.storage.own_files import refuse_foreign_file

        refuse_foreign_file(path, parameter.name or "out")
    return path


def new_report(context: typer.Context, parameter: typer.CallbackParam, path: Path | None) -> Path | None:
    """Refuse the same of the record that is written beside a page."""
    if path is not None and path.suffix == ".json":
        from seriatim.errors import Fault, InputError

        told = "the page would have the name of the record beside it"
        raise InputError(Fault("out", told, "a page, as in report.html", "name another"))
    new_file(context, parameter, path and path.with_suffix(".json"))
    return new_file(context, parameter, path)


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
LedgerUrl = Annotated[
    str,
    typer.Option("--ledger", envvar="SERIATIM_LEDGER", help="Ledger: sqlite:///file or postgresql://server/database."),
]
ShelfFolder = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads it at run time
    typer.Option(
        "--shelf", envvar="SERIATIM_SHELF", help="Folder for the ledger's files (beside a SQLite ledger if omitted)."
    ),
]
PolicyFile = Annotated[Path, typer.Option("--policy", "-p", help="Policy, a TOML file.")]
Separator = Annotated[Optional[str], typer.Option(help="CSV separator (detected if omitted).")]  # noqa: UP045
Encoding = Annotated[Optional[str], typer.Option(help="CSV encoding (detected if omitted).")]  # noqa: UP045
ReportFile = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--out", "-o", callback=new_report, help="Write the report here as HTML, and beside it as JSON."),
]
