"""Who was in which row: the list of respondents beside a folder of releases, read as people write such lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, TableError
from seriatim.model.foreign_tables import COUNT, counts_of, spread
from seriatim.model.header import header_of
from seriatim.model.name_order import name_order
from seriatim.model.scale import IntArray

COLUMNS = ("release", "row", "respondent")
_ENDING = re.compile(r"\.(csv|tsv|txt|parquet|pq)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Seats:
    """One line of the list each."""

    release: IntArray
    """Which of the tables."""
    row: npt.NDArray[np.int64]
    """From 0."""
    person: IntArray
    """Index into ``people``; -1 for nobody."""
    people: pa.Array
    first: int
    """The number that the list gives to the first row: 0, 1, or 2 where it counts the header."""


def read_seats(listed: pa.Table, tables: Mapping[str, pa.Table]) -> Seats:
    """Columns release (a file's name), row and respondent, in any case; rows count from 0, 1 or below the header."""
    listed = listed.rename_columns(_names(listed))
    release = _releases(listed.column("release"), list(tables))
    row = _row_numbers(listed.column("row"))
    sizes = np.array([table.num_rows for table in tables.values()])
    first = _first_row(row, sizes[release])
    who = trimmed(listed.column("respondent"))
    people = pc.unique(who.drop_null())
    return Seats(release, row - first, places(who, people), people, first)


def missing_columns(listed: pa.Table) -> list[Fault]:
    """What a list of respondents lacks."""
    missing = header_of("respondents", listed.rename_columns(_names(listed))).without(COLUMNS)
    if missing is not None:
        return [missing]
    return [
        Fault("respondents", f"no column {name}", ", ".join(COLUMNS), "name the file's columns so")
        for name in COLUMNS
        if name not in _names(listed)
    ]


def _names(listed: pa.Table) -> list[str]:
    return [name.strip().casefold() for name in listed.column_names]


def _releases(column: pa.ChunkedArray, names: list[str]) -> IntArray:
    """Which release each line means: the file's stem, its whole name, or the same number (1 for 01)."""
    texts = trimmed(column).combine_chunks().dictionary_encode()
    alike: dict[tuple[str | int, ...], list[int]] = {}
    for at, name in enumerate(names):
        alike.setdefault(name_order(name), []).append(at)

    def place(text: str) -> int:
        for name in (text, _ENDING.sub("", text)):
            if name in names:
                return names.index(name)
        same = alike.get(name_order(_ENDING.sub("", text)), [])
        return same[0] if len(same) == 1 else -1

    places_of = np.array([place(text) for text in texts.dictionary.to_pylist()] + [-1], dtype=np.int32)
    found: IntArray = places_of[texts.indices.fill_null(len(places_of) - 1).to_numpy(zero_copy_only=False)]
    lost = int((found < 0).sum())
    if lost:
        said = f"{lost} rows name a release that is not there"
        raise TableError(Fault("respondents", said, ", ".join(names), "name releases by their files, without ending"))
    return found


def _row_numbers(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Whole numbers, also where a spreadsheet wrote them as 3.0; anything else is told without the cell."""
    fault = Fault("respondents, column row", "not whole numbers", "0, 1, 2, ... or 1, 2, 3, ...", "number the rows")
    if column.null_count:
        raise TableError(fault)
    try:
        rows = pc.cast(column, pa.float64()).to_numpy() if len(column) else np.empty(0)
    except pa.ArrowInvalid:
        raise TableError(fault) from None
    if (rows != np.round(rows)).any():
        raise TableError(fault)
    return rows.astype(np.int64)


def _first_row(row: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> int:
    """0, unless no row 0 is named and some last row is; where the header counts, rows 2 to n + 1 are named."""
    if not len(row) or (row == 0).any():
        return 0
    if (row == size + 1).any() and not (row == 1).any():
        return 2
    return 1 if (row == size).any() else 0


def seated(name: str, table: pa.Table, rows: npt.NDArray[np.int64], people: IntArray) -> tuple[pa.Table, IntArray]:
    """The table with one row for each person, and the person of each row; -1 where nobody is named.

    A table that joins equal rows and tells their number in a column ``count`` is spread out again.
    """
    outside = int(((rows < 0) | (rows >= table.num_rows)).sum())
    if outside:
        allowed = f"{table.num_rows} rows"
        remedy = "count the table's own rows, from 0 or 1, the header left out"
        raise TableError(Fault(name, f"{outside} row numbers outside the table", allowed, remedy))
    real = people[people >= 0]
    twice = len(real) - len(np.unique(real))
    if twice:
        found = f"{twice} respondents named twice"
        raise TableError(Fault(name, found, "each once", "give every record its own id, or keep one row per person"))
    order = np.argsort(rows, kind="stable")
    sitting = np.bincount(rows, minlength=table.num_rows)
    counts = _counts(name, table, sitting)
    starts = np.concatenate(([0], np.cumsum(counts)))
    within = np.arange(len(rows)) - np.concatenate(([0], np.cumsum(sitting)))[rows[order]]
    person = np.full(int(starts[-1]), -1, dtype=np.int32)
    person[starts[rows[order]] + within] = people[order]
    if (counts == 1).all():
        return table, person
    return spread(table, counts), person


def _counts(name: str, table: pa.Table, sitting: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many people each row stands for."""
    ones = np.ones(table.num_rows, dtype=np.int64)
    many = int((sitting > 1).sum())
    if not many:
        return ones
    counts = counts_of(name, table)
    if counts is None:
        found = f"{many} rows named twice"
        raise TableError(Fault(name, found, "each once, or a column count", "one row per person"))
    over = int((sitting > counts).sum())
    if over:
        found = f"{over} rows with more respondents than their count"
        raise TableError(Fault(f"{name}, column {COUNT}", found, "at least as many", "check the list of respondents"))
    return counts


def trimmed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """As text, without blanks at its ends."""
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return pc.utf8_trim_whitespace(plain.cast(pa.string()))


def places(column: pa.ChunkedArray, known: pa.Array) -> IntArray:
    """Where each entry stands among the known ones; -1 for a missing one that is not."""
    found = pc.fill_null(pc.index_in(column, value_set=known), -1)
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int32)
