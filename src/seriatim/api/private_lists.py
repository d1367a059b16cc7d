"""Private lists of exposed people: files that only their owner may read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from seriatim.storage.own_files import PRIVATE_LIST, refuse_foreign_file, write_own_files


def refuse_private_list(path: str | Path) -> None:
    """Refuse a private list that could not be written, before anything happens."""
    refuse_foreign_file(Path(path), "private", PRIVATE_LIST)


def write_private_list(table: Any, path: str | Path) -> None:
    """Write a private list as CSV that only its owner may read."""
    buffer = pa.BufferOutputStream()
    pacsv.write_csv(table, buffer)
    write_own_files({Path(path): buffer.getvalue().to_pybytes()}, "private")
