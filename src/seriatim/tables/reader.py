"""Reads tables: CSV, Parquet, Arrow, pandas and polars become one Arrow table, with names and types kept."""

from __future__ import annotations

import re
import stat
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.engines.threads import threads_for
from seriatim.errors import Fault, TableError
from seriatim.model import Table
from seriatim.model.foreign_tables import ROW_NAMES
from seriatim.model.input_bounds import LONGEST_ROW, size_fault
from seriatim.model.names import printable_file_name
from seriatim.model.table_faults import MOST_NAMED, check_time_zones, some_header_faults, without_views
from seriatim.tables.quotes import cells_in_quotes, has_quotes, lines_in_quotes, open_quote
from seriatim.tables.signatures import refuse_other_signatures

PARQUET = frozenset({".parquet", ".pq"})
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


def read_table(source: Any, separator: str | None = None, encoding: str | None = None) -> Table:
    """Read a path to a CSV or Parquet file, or an Arrow, pandas or polars table."""
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        path = Path(source)
        _must_be_file(path)
        table = _read_parquet(path) if path.suffix.lower() in PARQUET else _read_csv(path, separator, encoding)
    elif isinstance(source, pa.Table | pa.RecordBatch):
        table = _read_arrow(source)
    else:
        table = _read_frame(source)
    _check_names(table)
    check_time_zones(table.name, table.data)
    return table


def read_numbered_table(path: Path, separator: str | None = None, encoding: str | None = None) -> Table:
    """Read a CSV or Parquet file whose first column may be unnamed row numbers, as R and pandas write them."""
    if path.suffix.lower() in PARQUET:
        return read_table(path)
    _must_be_file(path)
    return _read_csv(path, separator, encoding, unnamed=ROW_NAMES[0])


def _read_arrow(source: pa.Table | pa.RecordBatch) -> Table:
    """Read views as plain texts and bytes inside; outside they are views again."""
    data, kinds = without_views(pa.Table.from_batches([source]) if isinstance(source, pa.RecordBatch) else source)
    return Table(data, kind="arrow", dtypes=kinds)


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
    refuse_other_signatures(path)


def _check_names(table: Table) -> None:
    names = table.data.column_names
    if fault := size_fault(table.name, len(names)):
        raise TableError(fault)
    faults = [Fault(table.name, "a column without a name", "named columns", "name it")] if "" in names else []
    again = [(name, count) for name, count in Counter(names).items() if count > 1 and name]
    repeated = [_repeated(table.name, names, name, count) for name, count in again[:MOST_NAMED]]
    left = len(again) - len(repeated)
    faults += [*repeated, *([Fault(table.name, f"{left} more names that occur several times")] if left else [])]
    if not names:
        faults.append(Fault(table.name, "no columns", "at least one column"))
    if faults:
        raise TableError(faults)


def _repeated(where: str, names: list[str], name: str, count: int) -> Fault:
    """Report the positions of a repeated name, not the name: without a header line it is a cell."""
    first = names.index(name)
    second = names.index(name, first + 1)
    found = f"columns {first + 1} and {second + 1}{f' and {count - 2} more' if count > 2 else ''} have the same name"
    remedy = "rename or remove the others; if the first line is a record, add a header line"
    return Fault(where, found, "each name once", remedy)


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
        raise TableError(some_header_faults(faults, where))


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
    _check_names(Table(pa.table([pa.array([], pa.string())] * len(names), names=names), name=path.name))
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


def _read_frame(source: Any) -> Table:
    import narwhals as nw

    try:
        frame = nw.from_native(source, eager_only=True)
    except TypeError:
        found = f"a {type(source).__name__}"
        raise TableError(Fault("table", found, "a path, or an Arrow, pandas or polars table")) from None
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in source.columns]
        _check_names(Table(pa.table([pa.array([], pa.string())] * len(names), names=names)))
        raise
    names = list(source.columns)
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        found = f"{len(odd)} column names are not text"
        raise TableError(Fault("table", found, "text", "rename them, e.g. frame.columns = map(str, ...)"))
    kind = "pandas" if frame.implementation.is_pandas_like() else "polars"
    columns, objects = [], {}
    for name in names:
        column = _series_to_arrow(frame[name])
        if column is None:
            column, objects[name] = _objects_to_arrow(frame[name].to_list())
        columns.append(column)
    dtypes = {name: source[name].dtype for name in names}
    return Table(pa.table(columns, names=names), kind=kind, dtypes=dtypes, objects=objects)


def _series_to_arrow(series: Any) -> pa.Array | pa.ChunkedArray | None:
    """Return an Arrow array, or None for Python objects, for which Arrow has no type."""
    try:
        column = series.to_arrow()
    except Exception:  # noqa: BLE001 - each frame library raises its own here, and some quote cells
        return None
    if isinstance(column.type, pa.BaseExtensionType):
        return None
    # for a column of Python objects polars would hand over addresses
    return None if str(series.dtype) == "Object" and _is_bytes(column.type) else column


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pat.is_binary(kind) or pat.is_large_binary(kind) or pat.is_fixed_size_binary(kind))


def _objects_to_arrow(cells: list[Any]) -> tuple[pa.Array, Mapping[str, Any]]:
    """Return Python objects as text, and the objects by their text; two with the same text stay text."""
    texts = [None if _absent(cell) else str(cell) for cell in cells]
    objects: dict[str, Any] = {}
    for text, cell in zip(texts, cells, strict=True):
        if text is not None and type(objects.setdefault(text, cell)) is not type(cell):
            objects[text] = text
    return pa.array(texts, pa.string()), objects


def _absent(cell: object) -> bool:
    """Return whether a cell is None, NaN, NaT, or pandas' NA, which cannot even be compared."""
    if cell is None or type(cell).__name__ == "NAType":
        return True
    differs = cell != cell
    return isinstance(differs, bool | np.bool_) and bool(differs)
