"""Quotes of a CSV file that are opened and never closed: everything up to the next quote would become one cell."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

_CHUNK = 1 << 22


def lines_in_quotes(columns: list[pa.ChunkedArray]) -> bool:
    """Return whether a cell has a line break: right in a closed quote, else the rest of its line and more."""
    return any(bool(pc.any(pc.match_substring(column, "\n")).as_py()) for column in columns)


def has_quotes(path: Path) -> bool:
    """Return whether a file has quotes at all: most have none, and need no further check."""
    with path.open("rb") as file:
        return any(b'"' in block for block in iter(lambda: file.read(_CHUNK), b""))


def open_quote(path: Path, encoding: str, separator: str) -> int | None:
    """Return the line of the first record whose quote is not closed where a cell ends, though the record goes on."""
    decoding = "utf-8-sig" if encoding == "utf-8" else encoding
    with path.open(encoding=decoding, newline="") as file, _cells_of_any_length():
        reader, line = csv.reader(file, delimiter=separator, strict=True), 1
        while True:
            try:
                if next(reader, None) is None:
                    return None
            except csv.Error as error:
                if "unexpected end of data" in str(error) or reader.line_num > line:
                    return line
            line = reader.line_num + 1


def cells_in_quotes(line: str, separator: str) -> list[str]:
    """Return the cells of one record, of any length."""
    with _cells_of_any_length():
        return next(csv.reader(io.StringIO(line, newline=""), delimiter=separator), [])


@contextmanager
def _cells_of_any_length() -> Iterator[None]:
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
