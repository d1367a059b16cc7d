"""A table's columns as plain lists, numbers as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.errors import Fault, TableError
from seriatim.model import Table
from seriatim.model.table_faults import check_single_cells


class Columns(Mapping[str, list[Any]]):
    """Every column as a list, made when it is asked for.

    A text column whose cells are all numbers becomes numbers, missing stays None.
    """

    def __init__(self, table: Table) -> None:
        self._table, self._made = table, dict[str, list[Any]]()

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self._made:
            if name not in self._table.data.column_names:
                raise KeyError(name)
            check_single_cells(self._table.name, self._table.data, [name])
            try:
                self._made[name] = _column(self._table.data.column(name))
            except (OverflowError, ValueError):  # Python has no name for such a day
                fault = Fault(f"{self._table.name}, column {name!r}", "days that no calendar has", "years 1 to 9999")
                raise TableError(fault) from None
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.data.column_names)

    def __len__(self) -> int:
        return len(self._table.data.column_names)


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
            column = column.cast(pa.int64(), safe=False) if whole and _fit_integers(column) else column
    return list(column.to_pylist())


def _fit_integers(column: pa.ChunkedArray) -> bool:
    largest = pc.max(pc.abs(column)).as_py()
    return largest is not None and bool(largest < 1 << 53)
