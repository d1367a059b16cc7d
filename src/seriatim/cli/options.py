"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

LEDGER = "sqlite:///ledger.db"

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
    typer.Option("--out", "-o", help="Write the report here as HTML, and beside it as JSON."),
]
