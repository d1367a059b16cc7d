"""Quotes of a CSV file that are opened and never closed: everything up to the next quote would become one cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model.input_bounds import LONGEST_ROW

_CHUNK = 1 << 22


def lines_in_quotes(columns: list[pa.ChunkedArray]) -> bool:
    """Return whether a cell has a line break: right in a closed quote, else the rest of its line and more."""
    return any(bool(pc.any(pc.match_substring(column, "\n")).as_py()) for column in columns)


def has_quotes(path: Path) -> bool:
    """Return whether a file has quotes at all: most have none, and need no further check."""
    with path.open("rb") as file:
        return any(b'"' in block for block in iter(lambda: file.read(_CHUNK), b""))


def open_quote(path: Path, encoding: str, separator: str) -> int | None:
    """Return the line of the first record whose quote is not closed where a cell ends, though the record goes on.

    Nothing is said of what comes after a line that is longer than a row may be.
    """
    decoding = "utf-8-sig" if encoding == "utf-8" else encoding
    with path.open(encoding=decoding, newline="") as file, _cells_up_to(LONGEST_ROW):
        reader, line = csv.reader(_short_lines(file), delimiter=separator, strict=True), 1
        while True:
            try:
                if next(reader, None) is None:
                    return None
            except csv.Error as error:
                told = str(error)
                if "unexpected end of data" in told or "field larger" in told or reader.line_num > line:
                    return line
            line = reader.line_num + 1


def cells_in_quotes(line: str, separator: str) -> list[str]:
    """Return the cells of one record, of any length."""
    with _cells_up_to(LONGEST_ROW):
        return next(csv.reader(io.StringIO(line, newline=""), delimiter=separator), [])


def _short_lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(LONGEST_ROW):
        if len(line) == LONGEST_ROW:
            return
        yield line


@contextmanager
def _cells_up_to(size: int) -> Iterator[None]:
    before = csv.field_size_limit(size)
    try:
        yield
    finally:
        csv.field_size_limit(before)
