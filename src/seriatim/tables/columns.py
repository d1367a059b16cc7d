"""A table's columns as plain lists, numbers as numbers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.model import Table


def columns_of(table: Table) -> dict[str, list[Any]]:
    """Return every column as a list; a text column whose cells are all numbers becomes numbers, missing stays None."""
    return {name: _column(table.data.column(name)) for name in table.data.column_names}


def _column(column: pa.ChunkedArray) -> list[Any]:
    if pat.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pat.is_string(column.type) or pat.is_large_string(column.type):
        try:
            column = pc.cast(column, pa.float64())
        except pa.ArrowInvalid:
            pass
        else:
            whole = pc.all(pc.equal(column, pc.floor(column))).as_py()
            column = column.cast(pa.int64()) if whole and len(column) else column
    return list(column.to_pylist())
