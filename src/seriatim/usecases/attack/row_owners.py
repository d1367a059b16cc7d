"""Reads who was in which row: the list of respondents of a folder of releases, as people write such lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, TableError
from seriatim.model.foreign_tables import COUNT, rows_counted, rows_spread
from seriatim.model.names import name_order
from seriatim.model.scale import IntArray
from seriatim.model.table_faults import check_single_cells, header_of

COLUMNS = ("release", "row", "respondent")
_ENDING = re.compile(r"\.(csv|tsv|txt|parquet|pq)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowOwners:
    """The lines of the list."""

    release: IntArray
    """The table of each line."""
    row: npt.NDArray[np.int64]
    """The row of each line, from 0."""
    person: IntArray
    """Index into ``people``; -1 for nobody."""
    people: pa.Array
    first: int
    """The number of the first row in the list: 0, 1, or 2 if it counts the header."""


def read_respondents(listed: pa.Table, tables: Mapping[str, pa.Table]) -> RowOwners:
    """Read columns release (a file's name), row and respondent, in any case; rows count from 0, 1 or the header."""
    listed = listed.rename_columns(_names(listed))
    check_single_cells("respondents", listed, COLUMNS)
    release = _releases(listed.column("release"), list(tables))
    row = _row_numbers(listed.column("row"))
    sizes = np.array([table.num_rows for table in tables.values()])
    first = _first_row(row, sizes[release])
    who = trimmed_owner(listed.column("respondent"))
    people = pc.unique(who.drop_null())
    return RowOwners(release, row - first, owner_positions(who, people), people, first)


def missing_owner_columns(listed: pa.Table) -> list[Fault]:
    """Return the columns that a list of respondents lacks."""
    missing = header_of("respondents", listed.rename_columns(_names(listed))).without(COLUMNS)
    if missing is not None:
        return [missing]
    return [
        Fault("respondents", f"no column {name}", ", ".join(COLUMNS), "rename the columns of the file")
        for name in COLUMNS
        if name not in _names(listed)
    ]


def _names(listed: pa.Table) -> list[str]:
    return [name.strip().casefold() for name in listed.column_names]


def _releases(column: pa.ChunkedArray, names: list[str]) -> IntArray:
    """Return the release of each line: by the file's stem, its whole name, or the same number (1 for 01)."""
    texts = trimmed_owner(column).combine_chunks().dictionary_encode()
    alike: dict[tuple[str | int, ...], list[int]] = {}
    for at, name in enumerate(names):
        alike.setdefault(name_order(name), []).append(at)

    def position(text: str) -> int:
        for name in (text, _ENDING.sub("", text)):
            if name in names:
                return names.index(name)
        same = alike.get(name_order(_ENDING.sub("", text)), [])
        return same[0] if len(same) == 1 else -1

    position_of = np.array([position(text) for text in texts.dictionary.to_pylist()] + [-1], dtype=np.int32)
    found: IntArray = position_of[texts.indices.fill_null(len(position_of) - 1).to_numpy(zero_copy_only=False)]
    lost = int((found < 0).sum())
    if lost:
        said = f"{lost} rows name a release that does not exist"
        raise TableError(Fault("respondents", said, ", ".join(names), "use the names of the files, without ending"))
    return found


def _row_numbers(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Return whole numbers, also if a spreadsheet wrote them as 3.0; an error never shows the cell."""
    fault = Fault("respondents, column row", "not whole numbers", "0, 1, 2, ... or 1, 2, 3, ...", "number the rows")
    if column.null_count:
        raise TableError(fault)
    try:
        rows = pc.cast(column, pa.float64()).to_numpy() if len(column) else np.empty(0)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise TableError(fault) from None
    if (rows != np.round(rows)).any():
        raise TableError(fault)
    return rows.astype(np.int64)


def _first_row(row: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> int:
    """Return 0, unless no line has row 0 and some line the last row; 2 if rows 2 to n + 1 count the header."""
    if not len(row) or (row == 0).any():
        return 0
    # a spreadsheet's own row numbers: its header is row 1
    if (row == size + 1).any() and not (row == 1).any():
        return 2
    return 1 if (row == size).any() else 0


def row_per_person(
    name: str, table: pa.Table, rows: npt.NDArray[np.int64], people: IntArray
) -> tuple[pa.Table, IntArray]:
    """Return the table with a row per person, and the person of each row; -1 if there is none.

    If a table joins equal rows and has their number in a column ``count``, they are spread out again.
    """
    outside = int(((rows < 0) | (rows >= table.num_rows)).sum())
    if outside:
        allowed = f"{table.num_rows} rows"
        remedy = "count the rows of the table from 0 or 1, without the header"
        raise TableError(Fault(name, f"{outside} row numbers outside the table", allowed, remedy))
    real = people[people >= 0]
    twice = len(real) - len(np.unique(real))
    if twice:
        found = f"{twice} respondents listed twice"
        raise TableError(Fault(name, found, "each once", "keep one row per person, or give each record its own id"))
    order = np.argsort(rows, kind="stable")
    listed_times = np.bincount(rows, minlength=table.num_rows)
    counts = _counts(name, table, listed_times)
    starts = np.concatenate(([0], np.cumsum(counts)))
    # of several people in one joined row each gets a copy of it
    within = np.arange(len(rows)) - np.concatenate(([0], np.cumsum(listed_times)))[rows[order]]
    person = np.full(int(starts[-1]), -1, dtype=np.int32)
    person[starts[rows[order]] + within] = people[order]
    if (counts == 1).all():
        return table, person
    return rows_spread(table, counts), person


def _counts(name: str, table: pa.Table, listed_times: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return how many people each row stands for."""
    ones = np.ones(table.num_rows, dtype=np.int64)
    many = int((listed_times > 1).sum())
    if not many:
        return ones
    counts = rows_counted(name, table)
    if counts is None:
        found = f"{many} rows listed twice"
        raise TableError(Fault(name, found, "each once, or a column count", "one row per person"))
    over = int((listed_times > counts).sum())
    if over:
        found = f"{over} rows with more respondents than their count"
        raise TableError(Fault(f"{name}, column {COUNT}", found, "at least as many", "check the list of respondents"))
    return counts


def trimmed_owner(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as text, without blanks at its ends."""
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return pc.utf8_trim_whitespace(plain.cast(pa.string()))


def owner_positions(column: pa.ChunkedArray, known: pa.Array) -> IntArray:
    """Return the position of each entry among the known ones; -1 for an entry that is not."""
    found = pc.fill_null(pc.index_in(column, value_set=known), -1)
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int32)
