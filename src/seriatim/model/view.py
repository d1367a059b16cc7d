"""A view: the original table for one release, its columns coded by their roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.model.scale import IntArray, Scale


@dataclass(frozen=True, slots=True)
class ColumnLabels:
    """What a file says about a column: a title, a label for each value, and the codes that mean it is missing."""

    title: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    """The label of each value, by the value as it is published."""
    missing: tuple[tuple[float, float], ...] = ()
    """Ranges of codes that stand for kinds of missing cells."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """A table as it came in: Arrow columns, and what it was before, so that the same kind goes out."""

    data: pa.Table
    _: KW_ONLY
    kind: str = "arrow"
    """arrow, pandas, polars, or the ending of a file: csv, parquet, sav"""
    dtypes: dict[str, Any] | None = None
    """The frame library's own column types, if Arrow cannot carry them."""
    name: str = "table"
    """The file's name, for messages."""
    separator: str = ","
    """The separator of a CSV file, so that the release is written like its source."""
    objects: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Python objects by column and text, for types that Arrow does not have."""
    labels: Mapping[str, ColumnLabels] = field(default_factory=dict)
    """What a file of a statistics program says about its columns."""

    def __repr__(self) -> str:
        return f"Table({self.name!r}, {self.kind}, {self.data.num_rows} rows, {self.data.num_columns} columns)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CodedColumn:
    """A column as positions on its scale.

    Every code is valid: a missing cell is a value, or its record is suppressed.
    """

    name: str
    codes: IntArray
    scale: Scale

    def __repr__(self) -> str:
        return f"Coded({self.name!r}, {len(self.codes)} rows, {self.scale!r})"

    def counts(self, rows: npt.NDArray[Any] | None = None) -> npt.NDArray[np.int64]:
        codes = self.codes if rows is None else self.codes[rows]
        return np.bincount(codes, minlength=len(self.scale)).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class View:
    """Roles and codes. Suppressed records (missing or unseen values, by policy) have code 0 and do not count."""

    source: Table
    """As it came in, in its own order: read a column by ``cells``."""
    _: KW_ONLY
    quasi: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    plain: tuple[str, ...]
    respondent: str | None
    suppressed: npt.NDArray[np.bool_]
    """Records withheld before any defence, for a missing or unseen value that the policy suppresses."""
    suppressed_by: Mapping[str, npt.NDArray[np.bool_]] = field(default_factory=dict)
    """The same by the column whose cells are the reason; columns that suppress nobody are left out."""
    once: bool = False
    """Whether everyone is known to have one record only; nobody has looked if not."""
    rows: npt.NDArray[np.int64] | None = None
    """The row of the source that each record is; None where the records are in the order of the source."""
    other_cells: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)
    """Columns whose cells are others than in the source, in the order of the records."""

    def __len__(self) -> int:
        return len(self.suppressed)

    def __repr__(self) -> str:
        return f"View({len(self)} records, {int(self.suppressed.sum())} withheld, columns {[*self.published_names()]})"

    def cells(self, name: str, records: npt.NDArray[np.signedinteger] | None = None) -> pa.ChunkedArray:
        """Return the cells of a column, in the order of the records; or those of some records, in the order asked for.

        Columns are put in order when they are asked for: a second copy of a large table would be the largest thing in
        memory, and most columns are never read again once they are coded.
        """
        other = self.other_cells.get(name)
        column, rows = (self.source.data.column(name), self.rows) if other is None else (other, None)
        if records is not None:
            rows = records if rows is None else rows[records]
        return column if rows is None else column.take(pa.array(rows))

    def cell_type(self, name: str) -> pa.DataType:
        other = self.other_cells.get(name)
        return self.source.data.schema.field(name).type if other is None else other.type

    @property
    def data(self) -> pa.Table:
        """Return all cells in the order of the records: a copy of the table, unless nothing was reordered."""
        if self.rows is None and not self.other_cells:
            return self.source.data
        return pa.table({name: self.cells(name) for name in self.names})

    @property
    def names(self) -> list[str]:
        """Return all columns of the source, in its order."""
        return list(self.source.data.column_names)

    def with_cells(self, name: str, cells: pa.Array) -> View:
        """Return the view with other cells in a column."""
        return replace(self, other_cells={**self.other_cells, name: pa.chunked_array([cells])})

    def taken(self, rows: npt.NDArray[np.int64]) -> View:
        """Return the view of these records, in this order."""
        return replace(
            self,
            rows=rows if self.rows is None else self.rows[rows],
            other_cells={name: column.take(pa.array(rows)) for name, column in self.other_cells.items()},
            quasi=tuple(replace(column, codes=column.codes[rows]) for column in self.quasi),
            sensitive=tuple(replace(column, codes=column.codes[rows]) for column in self.sensitive),
            suppressed=self.suppressed[rows],
            suppressed_by={name: flags[rows] for name, flags in self.suppressed_by.items()},
            once=False,
        )

    def published_names(self) -> Iterator[str]:
        """Yield the published columns, in the order they came in."""
        kept = {c.name for c in self.quasi} | {c.name for c in self.sensitive} | set(self.plain)
        return (name for name in self.names if name in kept)
