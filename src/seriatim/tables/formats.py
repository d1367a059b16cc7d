"""The one table of file endings: who reads a file, who writes it, and which extra that needs.

CSV and Parquet need nothing; a file with an ending that nobody knows is read as CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from seriatim.errors import Fault, InputError, SeriatimError
from seriatim.model import Table
from seriatim.model.table_faults import MOST_NAMED

FILES = "files"
"""The extra whose libraries read and write what statistics programs and spreadsheets do."""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A kind of file."""

    name: str
    endings: tuple[str, ...]
    reader: str = ""
    """Where the function is that reads a path; CSV and Parquet have their own way in."""
    writer: str = ""
    """Where the function is that writes a table with labels to a path; empty if nobody can."""
    _: KW_ONLY
    names: str = ""
    """A pattern of the column names that it can hold; empty if any."""
    most_rows: int | None = None

    def read(self, path: Path) -> Table:
        found: Table = _call(self.reader, self.name)(path)
        return found

    def write(self, table: pa.Table, path: Path, source: Table) -> None:
        """Write a published table; ``source`` has the labels of its columns."""
        _call(self.writer, self.name)(table, path, source)

    @property
    def word(self) -> str:
        """Return what names it as a format to write."""
        return self.endings[0].removeprefix(".")


_STATISTICS, _SHEETS = "seriatim.tables.statistics_files", "seriatim.tables.spreadsheets"
FORMATS = (
    FileFormat("CSV", (".csv", ".tsv", ".txt")),
    FileFormat("Parquet", (".parquet", ".pq")),
    FileFormat(
        "SPSS", (".sav", ".zsav"), f"{_STATISTICS}:read", f"{_STATISTICS}:write", names=r"[^\W\d_][\w.@#$]{0,63}"
    ),
    FileFormat("Stata", (".dta",), f"{_STATISTICS}:read", f"{_STATISTICS}:write", names=r"[^\W\d]\w{0,31}"),
    FileFormat("SAS transport", (".xpt",), f"{_STATISTICS}:read", f"{_STATISTICS}:write", names=r"[A-Za-z_]\w{0,31}"),
    FileFormat("SAS", (".sas7bdat",), f"{_STATISTICS}:read"),
    FileFormat("Excel", (".xlsx",), f"{_SHEETS}:read", f"{_SHEETS}:write", most_rows=1_048_575),
    FileFormat("OpenDocument", (".ods",), f"{_SHEETS}:read"),
    FileFormat("SQL", (".sql",), "seriatim.tables.queries:read_file"),
)
BY_ENDING = {ending: one for one in FORMATS for ending in one.endings}
_PLAIN = ("csv", "parquet")
WRITTEN = {one.word: one for one in FORMATS if one.writer or one.word in _PLAIN}
"""What a release can be written as."""


def format_of(path: Path) -> FileFormat:
    return BY_ENDING.get(path.suffix.lower(), FORMATS[0])


def is_plain(path: Path) -> bool:
    """Return whether a file is read as CSV or Parquet, without an extra."""
    return format_of(path).word in _PLAIN


def written_as(source: Table, asked: str | None, beside: Collection[str] = ()) -> str:
    """Return the format of a release: the one asked for, else that of its source, whose faults show before any work.

    ``beside`` are columns that the release has and the source has not.
    """
    word = asked or (source.kind if source.kind in WRITTEN or BY_ENDING.get(f".{source.kind}") else "csv")
    made = WRITTEN.get(word)
    if made is None:
        found = f"nobody can write .{word}" if f".{word}" in BY_ENDING else "is no format"
        raise InputError(Fault("format", found, ", ".join(WRITTEN), "name one of these"))
    _check(made, [*source.data.column_names, *beside], source.data.num_rows)
    if made.writer:
        _call(made.writer, made.name)
    return word


def _check(made: FileFormat, names: list[str], n_rows: int) -> None:
    import re

    strange = [name for name in names if made.names and not re.fullmatch(made.names, name)]
    if strange:
        found = f"{len(strange)} column names that {made.name} cannot hold: {', '.join(strange[:MOST_NAMED])}"
        raise InputError(Fault("format", found, "letters, digits and _, not too long", "rename them, or write csv"))
    if made.most_rows is not None and n_rows > made.most_rows:
        raise InputError(Fault("format", f"{n_rows:,} rows", f"at most {made.most_rows:,} in {made.name}", "write csv"))


def _call(home: str, name: str) -> Callable[..., Any]:
    """Return a function by its home, or say which extra brings what it needs."""
    module, function = home.split(":")
    try:
        return getattr(import_module(module), function)  # type: ignore[no-any-return]
    except ImportError:
        raise SeriatimError(f"{name} files need the extra: pip install 'seriatim[{FILES}]'") from None
