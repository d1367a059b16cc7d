"""Private lists of exposed people: files that only their owner may read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from seriatim.errors import Fault, InputError
from seriatim.storage.durable_files import write_durably

_BEGINNINGS = (b'"respondent",', b'"row","promise')
"""How private lists begin: those of a publish or an attack, and those of an audit."""


def refuse_private_list(path: str | Path) -> None:
    """Refuse a private list that could not be written, before anything happens."""
    folder = Path(path).absolute().parent
    if not folder.is_dir() or Path(path).is_dir():
        raise InputError(Fault("private", "not a file in a folder that exists", "a new file", "check the path"))
    if Path(path).is_file() and not _is_private_list(Path(path)):
        raise InputError(Fault("private", "a file that is not a private list", "a new file", "name another file"))


def _is_private_list(path: Path) -> bool:
    """Say whether a file begins as our lists do, so that no table or ledger is overwritten by mistake."""
    with path.open("rb") as file:
        beginning = file.read(max(map(len, _BEGINNINGS)))
    return not beginning or beginning.startswith(_BEGINNINGS)


def write_private_list(table: Any, path: str | Path) -> None:
    """Write a private list as CSV that only its owner may read."""
    buffer = pa.BufferOutputStream()
    pacsv.write_csv(table, buffer)
    write_durably(Path(path), buffer.getvalue().to_pybytes())
