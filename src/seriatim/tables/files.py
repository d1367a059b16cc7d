"""Reads files: CSV and Parquet become Arrow tables. What is plainly something else is refused by how it begins."""

from __future__ import annotations

import csv
import io
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.engines.threads import threads_for
from seriatim.errors import Fault, TableError
from seriatim.model import Table
from seriatim.model.foreign_tables import ROW_NAMES
from seriatim.model.names import printable_file_name
from seriatim.model.table_faults import LONGEST_ROW, first_of_many, size_fault, without_views
from seriatim.tables.formats import FORMATS, format_of, is_plain
from seriatim.tables.reader import check_names, read_table

PARQUET = frozenset(FORMATS[1].endings)
SEPARATORS = ",;\t|"
_LONGEST_HEADER = 1 << 20
"""Characters of a header after its first line; a quote open for longer is not closed."""
_FIRST = 1000
"""Cells that are tried first, to see quickly that a column is text."""
_SHORT, _HEXADECIMAL = 18, 7
"""Characters of a whole number that is not too large to count its digits, and of a hexadecimal one that is as long as
the same number in tens."""
_TENS = np.concatenate(([0], 10 ** np.arange(1, _SHORT + 1)))
"""The least number with two digits, three and so on, after 0: so many of them are not above a number as it has digits.
"""
_LINE_END = re.compile(r"\r\n|\r|\n")


def read_file(path: Path, separator: str | None = None, encoding: str | None = None) -> Table:
    """Read a file by its ending; one that nobody knows is CSV."""
    _must_be_file(path)
    if not is_plain(path):
        return format_of(path).read(path)
    refuse_other_signatures(path)
    return _read_parquet(path) if path.suffix.lower() in PARQUET else _read_csv(path, separator, encoding)


def read_numbered_table(path: Path, separator: str | None = None, encoding: str | None = None) -> Table:
    """Read a file; of a CSV file the first column may be unnamed row numbers, as R and pandas write them."""
    if path.suffix.lower() in PARQUET or not is_plain(path):
        return read_table(path)
    _must_be_file(path)
    refuse_other_signatures(path)
    return _read_csv(path, separator, encoding, unnamed=ROW_NAMES[0])


def _must_be_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        raise TableError(
            Fault(printable_file_name(path), "does not exist", "a CSV or Parquet file", "check the path")
        ) from None
    if not stat.S_ISREG(mode):
        found = "is a folder" if stat.S_ISDIR(mode) else "is a pipe or a device, not a file"
        raise TableError(Fault(printable_file_name(path), found, "a CSV or Parquet file", "check the path"))


def _read_parquet(path: Path) -> Table:
    import pyarrow.parquet as pq

    try:
        refuse_large_parquet(path, path.name)
        table = Table(without_views(pq.read_table(path, memory_map=True))[0], kind="parquet", name=path.name)
        check_texts_read(table.data, path.name)
        return table
    except UnicodeDecodeError:  # Arrow reads such names, and fails whenever they are used
        found = "a name of a column is not UTF-8"
        raise TableError(Fault(path.name, found, "UTF-8", "rename the column, or write the file again")) from None
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise TableError(
            Fault(path.name, f"cannot be read as Parquet ({type(error).__name__})", "a Parquet file")
        ) from None


def refuse_large_parquet(source: Any, where: str) -> None:
    """Raise for a file that would unpack to too much; its footer says so."""
    import pyarrow.parquet as pq

    told = pq.read_metadata(source)
    if fault := size_fault(where, told.num_columns, told.num_rows):
        raise TableError(fault)
    groups = [told.row_group(at) for at in range(told.num_row_groups)]
    if any(group.total_byte_size > LONGEST_ROW * max(group.num_rows, 1) for group in groups):
        allowed = f"rows of at most {LONGEST_ROW >> 20} MB"
        raise TableError(Fault(where, "a row is too long", allowed, "leave out columns of long texts"))


def check_texts_read(data: pa.Table, where: str) -> None:
    """Raise an error for texts that are not UTF-8, which would fail wherever they are used first."""
    broken = [name for name, column in zip(data.column_names, data.columns, strict=True) if not _is_valid(column)]
    faults = [Fault(f"{where}, column {name!r}", "texts that are not UTF-8", "UTF-8", "mend them") for name in broken]
    if faults:
        raise TableError(first_of_many(faults, where))


def _is_valid(column: pa.ChunkedArray) -> bool:
    coded = pat.is_dictionary(column.type)
    words = column.type.value_type if coded else column.type
    try:
        if pat.is_nested(words) or pat.is_string(words) or pat.is_large_string(words):
            for chunk in column.chunks:  # of coded texts only the words can be broken
                (chunk.dictionary if coded else chunk).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _read_csv(path: Path, separator: str | None, encoding: str | None, unnamed: str = "") -> Table:
    """Read every cell as text first, so that postcodes keep leading zeros. Only an empty cell is missing.

    ``unnamed`` is the name for a first column without one.
    """
    import pyarrow.csv as pacsv

    encoding = encoding or _encoding(path)
    header = _header(path, encoding)
    separator = separator or _separator(header)
    if len(separator) != 1 or separator in '"\r\n':
        raise TableError(Fault(path.name, "the separator is not usable", "one character, no quote or line end"))
    names = cells_in_quotes(header, separator)
    names[:1] = [name or unnamed for name in names[:1]]
    check_names(Table(pa.table([pa.array([], pa.string())] * len(names), names=names), name=path.name))
    lines = len(_LINE_END.findall(header))
    if not lines:  # there is only a header
        return Table(
            pa.table([pa.array([], pa.string())] * len(names), names=names),
            kind="csv",
            dtypes=None,
            name=path.name,
            separator=separator,
        )
    try:
        data = pacsv.read_csv(
            path,
            read_options=pacsv.ReadOptions(
                encoding=encoding, column_names=names, skip_rows=lines, block_size=LONGEST_ROW
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=separator, newlines_in_values=True, ignore_empty_lines=len(names) > 1
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        _refuse_open_quote(path, encoding, separator)
        raise TableError(_csv_fault(path, error)) from None
    except (UnicodeError, LookupError, OSError) as error:
        found = f"cannot be read as {encoding} text ({type(error).__name__})"
        raise TableError(Fault(path.name, found, "the file's own encoding", "name it (encoding)")) from None
    columns, n_rows = data.columns, data.num_rows
    if has_quotes(path) and lines_in_quotes(columns):
        _refuse_open_quote(path, encoding, separator)
    del data  # so that the text of a column is freed as soon as the column is typed

    def typed(place: int) -> None:
        columns[place] = _as_read(columns[place])

    threads_for(n_rows).map(typed, range(len(columns)))
    return Table(pa.table(columns, names=names), kind="csv", name=path.name, separator=separator)


def _refuse_open_quote(path: Path, encoding: str, separator: str) -> None:
    line = open_quote(path, encoding, separator)
    if line is not None:
        raise TableError(_open_quote(path, line))


def _open_quote(path: Path, line: int) -> Fault:
    found = f"line {line} opens a quote that is not closed, so the lines after it would be one cell"
    remedy = 'close it, or write a quote inside a cell twice: ""'
    return Fault(path.name, found, "every quote closed before the next separator", remedy)


def _csv_fault(path: Path, error: pa.ArrowInvalid) -> Fault:
    """Report only the kind of error, since Arrow's own message quotes the row."""
    text = str(error)
    if "Empty CSV" in text:
        return Fault(path.name, "the file is empty", "a header line and rows")
    if "straddling" in text:
        return _too_long(path)
    if "Expected" in text and "columns" in text:
        return Fault(path.name, "a row has more or fewer cells than the header", "as many cells as columns", "mend it")
    return Fault(path.name, "cannot be read as CSV", "text cells, one separator, the same encoding throughout")


def _too_long(path: Path) -> Fault:
    return Fault(path.name, "a row is too long", f"rows of at most {LONGEST_ROW >> 20} MB", "look for an open quote")


def _encoding(path: Path) -> str:
    """Detect the encoding by its byte order mark; else UTF-8; else the usual Windows one."""
    with path.open("rb") as file:
        start = file.read(4)
        if start in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
            return "utf-32"
        if b"\0" in start[:2]:  # no text starts like this, but the two-byte form of plain letters does
            return "utf-16-be" if start[:1] == b"\0" else "utf-16-le"
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "utf-16"
        try:
            file.seek(0)
            import codecs

            decode = codecs.getincrementaldecoder("utf-8")().decode
            while block := file.read(1 << 22):
                decode(block)
            decode(b"", True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _header(path: Path, encoding: str) -> str:
    try:
        with path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="") as file:
            lines, quotes, length = [file.readline(LONGEST_ROW)], 0, 0
            quotes = lines[0].count('"')
            while quotes % 2 and length < _LONGEST_HEADER and (more := file.readline(LONGEST_ROW)):
                lines.append(more)
                quotes, length = quotes + more.count('"'), length + len(more)
            header = "".join(lines)
    except (UnicodeError, LookupError) as error:
        found = f"cannot be read as {encoding} text ({type(error).__name__})"
        raise TableError(Fault(path.name, found, "the file's own encoding", "name it (encoding)")) from None
    if max(map(len, lines)) == LONGEST_ROW:
        raise TableError(_too_long(path))
    if not header.strip("\0 \t\r\n"):
        raise TableError(Fault(path.name, "the file is empty", "a header line and rows"))
    if quotes % 2:
        raise TableError(_open_quote(path, 1))
    return header


def _separator(header: str) -> str:
    """Return the separator that splits the header into the most columns."""
    return max(SEPARATORS, key=lambda mark: len(cells_in_quotes(header, mark)))


def _as_read(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn text into whole numbers if every cell is one and is written exactly so; keep all else as text."""
    if len(column) == column.null_count:
        return column
    for kind in (pa.int64(), pa.date32()):
        try:
            pc.cast(column.slice(0, _FIRST), kind)  # Arrow would describe the fault of every cell, and raise the first
            typed = pc.cast(column, kind)
        except pa.ArrowInvalid:
            continue
        if _written_so(typed, column):
            return typed
    return column


def _written_so(typed: pa.ChunkedArray, column: pa.ChunkedArray) -> bool:
    """Return whether every number or date is written exactly as it is printed.

    A text that was read as a whole number is so if it has as many characters as the number has: a zero or a sign before
    it would make it longer, and 0x would show.
    """
    longest = pc.max(pc.binary_length(column)).as_py() or 0
    hexadecimal = longest >= _HEXADECIMAL and pc.any(pc.match_substring(column, "x", ignore_case=True)).as_py()
    if pat.is_integer(typed.type) and longest <= _SHORT and not hexadecimal:
        numbers = pc.drop_null(typed).to_numpy()
        size = np.searchsorted(_TENS, np.abs(numbers), side="right") + (numbers < 0)
        return bool((size == pc.binary_length(pc.drop_null(column)).to_numpy()).all())
    return bool(pc.all(pc.equal(pc.cast(typed, pa.string()), column), skip_nulls=True).as_py())


_CHUNK = 1 << 22


# If a quote is opened and never closed, everything up to the next quote becomes one cell.
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


_BEGINNINGS = {
    b"\x1f\x8b": ("is compressed (gzip)", "unpack it"),
    b"BZh": ("is compressed (bzip2)", "unpack it"),
    b"\xfd7zXZ": ("is compressed (xz)", "unpack it"),
    b"\x28\xb5\x2f\xfd": ("is compressed (zstd)", "unpack it"),
    b"PK\x03\x04": ("is a ZIP archive or a spreadsheet", "unpack it, or call a workbook .xlsx or .ods"),
    b"\xd0\xcf\x11\xe0": ("is a spreadsheet", "save the sheet as CSV"),
    b"ARROW1": ("is a Feather file", "save it as Parquet"),
    b"FEA1": ("is a Feather file", "save it as Parquet"),
    b"SQLite format 3": ("is a database", "export the table as CSV"),
    b"$FL2": ("is an SPSS file", "call it .sav"),
    b"<stata_dta>": ("is a Stata file", "call it .dta"),
    b"\x89HDF": ("is an HDF5 file", "export it as CSV"),
    b"%PDF": ("is a PDF", "export the table as CSV"),
}
_PARQUET = b"PAR1"


def refuse_other_signatures(path: Path) -> None:
    """Raise when a file is plainly something else, also a Parquet file under another name."""
    with path.open("rb") as file:
        start = file.read(16)
    for beginning, (found, remedy) in _BEGINNINGS.items():
        if start.startswith(beginning):
            raise TableError(Fault(path.name, found, "a CSV or Parquet file", remedy))
    if start.startswith(_PARQUET) and path.suffix.lower() not in (".parquet", ".pq"):
        raise TableError(Fault(path.name, "is a Parquet file by another name", "a CSV file", "call it .parquet"))
