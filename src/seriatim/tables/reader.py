"""Reads tables: CSV, Parquet, Arrow, pandas and polars become one Arrow table, with names and types kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from seriatim.errors import Fault, TableError
from seriatim.model import Table
from seriatim.model.table_faults import MOST_NAMED, check_time_zones, size_fault, without_views

ADDRESS = re.compile(r"(postgresql|duckdb)://")


def is_address(source: object) -> bool:
    """Return whether a source is a database rather than a file."""
    return isinstance(source, str) and ADDRESS.match(source) is not None


def read_table(source: Any, separator: str | None = None, encoding: str | None = None) -> Table:
    """Read a path to a file, the address of a database with a query, or an Arrow, pandas or polars table."""
    if isinstance(source, Table):
        return source
    if is_address(source):
        from seriatim.tables.queries import read_address

        table = read_address(source)
    elif isinstance(source, str | Path):
        from seriatim.tables.files import read_file

        table = read_file(Path(source), separator, encoding)
    elif isinstance(source, pa.Table | pa.RecordBatch):
        table = _read_arrow(source)
    else:
        table = _read_frame(source)
    check_names(table)
    check_time_zones(table.name, table.data)
    return table


def _read_arrow(source: pa.Table | pa.RecordBatch) -> Table:
    """Read views as plain texts and bytes inside; outside they are views again."""
    data, kinds = without_views(pa.Table.from_batches([source]) if isinstance(source, pa.RecordBatch) else source)
    return Table(data, kind="arrow", dtypes=kinds)


def check_names(table: Table) -> None:
    """Raise an error for columns without a name, names that occur several times, and too many columns."""
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


def _read_frame(source: Any) -> Table:
    import narwhals as nw

    try:
        frame = nw.from_native(source, eager_only=True)
    except TypeError:
        found = f"a {type(source).__name__}"
        raise TableError(Fault("table", found, "a path, or an Arrow, pandas or polars table")) from None
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in source.columns]
        check_names(Table(pa.table([pa.array([], pa.string())] * len(names), names=names)))
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
