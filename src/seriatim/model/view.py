"""A view: the original table for one release, its columns coded by their roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.model.scale import IntArray, Scale


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """A table as it came in: Arrow columns, and what it was before, so that the same kind goes out."""

    data: pa.Table
    _: KW_ONLY
    kind: str = "arrow"
    """arrow, pandas, polars, csv or parquet"""
    dtypes: dict[str, Any] | None = None
    """The frame library's own column types, if Arrow cannot carry them."""
    name: str = "table"
    """The file's name, for messages."""
    separator: str = ","
    """The separator of a CSV file, so that the release is written like its source."""
    objects: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Python objects by column and text, for types that Arrow does not have."""

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

    table: Table
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

    def __len__(self) -> int:
        return int(self.table.data.num_rows)

    def __repr__(self) -> str:
        return f"View({len(self)} records, {int(self.suppressed.sum())} withheld, columns {[*self.published_names()]})"

    def taken(self, rows: npt.NDArray[np.int64], apply: Callable[..., Iterable[pa.ChunkedArray]] = map) -> View:
        """Return the view of these records, in this order; ``apply`` may take several columns at once."""
        data, wanted = self.table.data, pa.array(rows)
        columns = list(apply(lambda column: column.take(wanted), data.columns))
        return replace(
            self,
            table=replace(self.table, data=pa.table(columns, schema=data.schema)),
            quasi=tuple(replace(column, codes=column.codes[rows]) for column in self.quasi),
            sensitive=tuple(replace(column, codes=column.codes[rows]) for column in self.sensitive),
            suppressed=self.suppressed[rows],
            suppressed_by={name: flags[rows] for name, flags in self.suppressed_by.items()},
            once=False,
        )

    def published_names(self) -> Iterator[str]:
        """Yield the published columns, in the order they came in."""
        kept = {c.name for c in self.quasi} | {c.name for c in self.sensitive} | set(self.plain)
        return (name for name in self.table.data.column_names if name in kept)
