"""A history from published tables of any tool and a list of who was in which row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, TableError
from seriatim.model.history import History, Past
from seriatim.model.published import classes_of
from seriatim.model.scale import IntArray

GROUP = "group"


def assemble(
    tables: Mapping[str, pa.Table], respondents: pa.Table, sensitive: str, quasi: Sequence[str] | None = None
) -> History:
    """``tables`` by name, in the order of their release; ``respondents`` has the columns release, row, respondent.

    A group is a set of rows with equal quasi values (all columns but the sensitive one, if not named), or with
    equal ``group`` where a table has such a column. Rows count from 0, or from 1 when no row 0 is named and some
    last row is. A row without a respondent belongs to nobody known: it is taken as a counterfeit.
    """
    _check_columns(tables, respondents, sensitive, quasi or ())
    release = respondents.column("release").cast(pa.string())
    people = pc.unique(respondents.column("respondent").drop_null().cast(pa.string()))
    values = pc.unique(
        pa.chunked_array([t.column(sensitive).cast(pa.string()).combine_chunks() for t in tables.values()])
    )
    row = _row_numbers(respondents.column("row"))
    base = _first_row(tables, release, row)
    releases = []
    for number, (name, table) in enumerate(tables.items(), 1):
        here = pc.equal(release, name).combine_chunks().to_numpy(zero_copy_only=False)
        who = respondents.column("respondent").filter(pa.array(here)).cast(pa.string())
        person = _person_of_row(name, table, row[here] - base, _index(who, people))
        value = _index(table.column(sensitive).cast(pa.string()), values)
        releases.append(Past(number, person, _groups(table, sensitive, quasi), value))
    return History(people, values, tuple(releases))


def _check_columns(tables: Mapping[str, pa.Table], respondents: pa.Table, sensitive: str, quasi: Sequence[str]) -> None:
    faults = [
        Fault("respondents", f"no column {name}", "release, row, respondent")
        for name in ("release", "row", "respondent")
        if name not in respondents.column_names
    ]
    for name, table in tables.items():
        missing = [column for column in (sensitive, *quasi) if column not in table.column_names]
        faults += [Fault(name, f"no column {column}", ", ".join(table.column_names)) for column in missing]
    if not tables:
        faults.append(Fault("history", "no releases", "one table or more"))
    if not faults:
        known = pc.is_in(respondents.column("release").cast(pa.string()), value_set=pa.array(list(tables)))
        lost = len(known) - int(pc.sum(known).as_py() or 0)
        if lost:
            faults.append(Fault("respondents", f"{lost} rows name a release that is not there", ", ".join(tables)))
    if faults:
        raise TableError(faults)


def _row_numbers(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Whole numbers, also where a spreadsheet wrote them as 3.0; anything else is told without the cell."""
    fault = Fault("respondents, column row", "not whole numbers", "0, 1, 2, ... or 1, 2, 3, ...", "number the rows")
    if column.null_count:
        raise TableError(fault)
    try:
        rows: npt.NDArray[np.int64] = column.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        raise TableError(fault) from None
    return rows


def _first_row(tables: Mapping[str, pa.Table], release: pa.ChunkedArray, row: npt.NDArray[np.int64]) -> int:
    if (row == 0).any():
        return 0
    sizes = pa.array([table.num_rows for table in tables.values()])
    last = sizes.take(pc.index_in(release, value_set=pa.array(list(tables))).combine_chunks()).to_numpy()
    return 1 if (row == last).any() else 0


def _person_of_row(name: str, table: pa.Table, rows: npt.NDArray[np.int64], people: IntArray) -> IntArray:
    outside = int(((rows < 0) | (rows >= table.num_rows)).sum())
    if outside:
        raise TableError(Fault(name, f"{outside} row numbers outside the table", f"{table.num_rows} rows"))
    real = people[people >= 0]
    twice = len(rows) - len(np.unique(rows)) + len(real) - len(np.unique(real))
    if twice:
        raise TableError(Fault(name, f"{twice} rows or respondents named twice", "each once", "one row per person"))
    person = np.full(table.num_rows, -1, dtype=np.int32)
    person[rows] = people
    return person


def _groups(table: pa.Table, sensitive: str, quasi: Sequence[str] | None) -> IntArray:
    if quasi is None and GROUP in table.column_names:
        quasi = (GROUP,)
    names = [name for name in table.column_names if name != sensitive] if quasi is None else list(quasi)
    classes = classes_of(table, names)
    group = np.empty(table.num_rows, dtype=np.int32)
    group[classes.rows] = np.repeat(np.arange(len(classes), dtype=np.int32), classes.sizes)
    return group


def _index(column: pa.ChunkedArray, known: pa.Array) -> IntArray:
    """Where each entry stands among the known ones; -1 for a missing one that is not."""
    places = pc.fill_null(pc.index_in(column, value_set=known), -1)
    found: IntArray = places.to_numpy().astype(np.int32)
    return found
