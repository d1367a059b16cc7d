"""Detects a missing header line: the first record is in its place, and no message may print it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.errors import Fault, TableError

MOST_NAMED = 20
"""The most faults about single columns to name: the wrong file would otherwise fill the screen."""
_NUMBER = re.compile(r"[-+]?(\d++([.,]\d++)*+|[.,]\d++)([eE][-+]?\d++)?\s?[%€$£]?")
_DAY = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ].*)?")
_ROWS = 100_000
_MANY = 4
"""If one name in this many looks like a cell, the table has no header."""
_REMEDY = "add a line with the column names above the first record"


@dataclass(frozen=True, slots=True)
class Header:
    """The names of a table's columns, and which of them look like cells."""

    where: str
    names: tuple[str, ...]
    cells: frozenset[int]

    @property
    def seems_missing(self) -> bool:
        """Return whether enough names look like cells to be the first record."""
        return bool(self.cells) and len(self.cells) * _MANY >= len(self.names)

    @property
    def missing(self) -> Fault:
        """Return the fault that there is no header, in counts."""
        found = f"{len(self.cells)} of the {len(self.names)} column names look like cells"
        return Fault(self.where, f"{found}: the header line seems to be missing", "names of columns", _REMEDY)

    def without(self, declared: Collection[str]) -> Fault | None:
        """Return the fault that the header has few of the declared names; None if it has at least half."""
        known = sum(name in declared for name in self.names)
        if known * 2 >= len(declared):
            return None
        why = "seems to be missing" if self.cells else "is missing, or this is another table"
        found = f"{known} of {len(declared)} expected columns are among its {len(self.names)} names"
        alike = f", of which {len(self.cells)} look like cells" if self.cells else ""
        few = len(declared) <= MOST_NAMED
        allowed = ", ".join(map(repr, sorted(declared))) if few else "the expected columns by name"
        return Fault(self.where, f"{found}{alike}: the header line {why}", allowed, _REMEDY)

    def place_of(self, name: str) -> str:
        """Name a column by its name, or by its position if the name looks like a cell."""
        at = self.names.index(name)
        return f"column {at + 1} (its name looks like a cell)" if at in self.cells else f"column {name!r}"


def header_of(where: str, data: pa.Table) -> Header:
    """Look at the names of a table. Numbers from 0 count as names: pandas names columns so."""
    names = tuple(data.column_names)
    if names == tuple(map(str, range(len(names)))):
        return Header(where, names, frozenset())
    return Header(where, names, frozenset(at for at, name in enumerate(names) if _is_cell(name, data, at)))


def _is_cell(name: str, data: pa.Table, at: int) -> bool:
    """Return whether a name is a number or a day, or occurs in the column below it."""
    text = name.strip()
    if _NUMBER.fullmatch(text) or _DAY.fullmatch(text):
        return True
    column = data.column(at).slice(0, _ROWS)
    if pat.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not text or not (pat.is_string(column.type) or pat.is_large_string(column.type)):
        return False
    return bool(pc.any(pc.equal(column, name)).as_py())


def check_header(where: str, data: pa.Table, wanted: Collection[str] = ()) -> None:
    """Raise if the header line is missing: it has few of the wanted names or, if none are known, looks like cells."""
    header = header_of(where, data)
    fault = header.without(wanted) if wanted else header.missing if header.seems_missing else None
    if fault is not None:
        raise TableError(fault)


def some_header_faults(faults: Sequence[Fault], where: str) -> list[Fault]:
    """Return the first faults of many, and the number of the others."""
    if len(faults) <= MOST_NAMED:
        return list(faults)
    return [*faults[:MOST_NAMED], Fault(where, f"{len(faults) - MOST_NAMED} more faults of these kinds")]
