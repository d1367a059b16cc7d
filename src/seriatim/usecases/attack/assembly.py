"""Makes a history of published tables from any tool and a list of who was in which row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, TableError
from seriatim.model.classes import classes_of
from seriatim.model.foreign_tables import numbers_alike, numbers_one_way
from seriatim.model.history import History, PastRelease
from seriatim.model.scale import IntArray
from seriatim.model.table_faults import header_of
from seriatim.usecases.attack.row_owners import (
    missing_owner_columns,
    owner_positions,
    read_respondents,
    row_per_person,
    trimmed_owner,
)

GROUP = "group"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AssembledHistory:
    """A history, and how the files were read: what a reader must know before trusting the figures."""

    history: History
    names: tuple[str, ...]
    """The names of the releases, in order."""
    sensitive: str
    known: tuple[str, ...]
    """Rows that are equal in these columns are one group."""
    notes: tuple[str, ...]
    tables: tuple[pa.Table, ...]
    """The releases, row by row as in the history."""


def history_of_tables(
    tables: Mapping[str, pa.Table], respondents: pa.Table, sensitive: str, quasi: Sequence[str] | None = None
) -> AssembledHistory:
    """Make a history of ``tables``, by name in order of release; ``respondents`` has columns release, row, respondent.

    A group is a set of rows with equal quasi values (all columns but the sensitive one, by default), or with equal
    ``group`` if a table has such a column. A row without a respondent counts as a counterfeit, and a note says so.
    """
    _check_columns(tables, respondents, sensitive, quasi or ())
    owners = read_respondents(respondents, tables)
    spread, people = [], []
    for at, (name, table) in enumerate(tables.items()):
        here = owners.release == at
        rows, person = row_per_person(name, table, owners.row[here], owners.person[here])
        spread.append(rows)
        people.append(person)
    joined = [name for name, table in zip(tables, spread, strict=True) if sensitive not in table.column_names]
    if joined:
        found = f"column {sensitive!r} says how many people a row stands for"
        raise TableError(
            [Fault(name, found, "the sensitive column", "name another one (sensitive)") for name in joined]
        )
    values, domain = _values([table.column(sensitive) for table in spread])
    known = _known(spread, sensitive, quasi)
    releases = tuple(
        PastRelease(number, person=person, group=_groups(table, known), value=value)
        for number, (table, person, value) in enumerate(zip(spread, people, values, strict=True), 1)
    )
    history = History(owners.people, domain, releases)
    said = (
        f"rows counted from {owners.first}" + (" (the header is row 1)" if owners.first == 2 else ""),
        *_of_nobody(tuple(tables), releases),
        *_without_value(spread, sensitive),
        *_changed(history),
        *_alone(spread, known, quasi),
    )
    return AssembledHistory(
        history=history, names=tuple(tables), sensitive=sensitive, known=known, notes=said, tables=tuple(spread)
    )


def _check_columns(tables: Mapping[str, pa.Table], respondents: pa.Table, sensitive: str, quasi: Sequence[str]) -> None:
    faults = missing_owner_columns(respondents)
    shared = [name for name in _shared(tables) if name != sensitive]
    for name, table in tables.items():
        missing = [column for column in (sensitive, *quasi) if column not in table.column_names]
        header = header_of(name, table)
        if header.seems_missing and (missing or not quasi):
            faults.append(header.missing)
            continue
        remedy = "rename it, or move files that are not releases out of the folder"
        faults += [Fault(name, f"no column {column}", ", ".join(shared), remedy) for column in missing]
        faults += [
            Fault(
                name, f"{header.place_of(field.name)} holds {field.type}", "cells that hold one value", "make it text"
            )
            for field in table.schema
            if pa.types.is_nested(field.type)
        ]
    if not tables:
        faults.append(Fault("history", "no releases", "one table or more"))
    if faults:
        raise TableError(faults)


def _shared(tables: Mapping[str, pa.Table]) -> list[str]:
    """Return the columns of every release: a name in only one of them may be a cell of a file without a header line."""
    first = next(iter(tables.values()), pa.table({}))
    if len(tables) < 2:
        return []
    return [name for name in first.column_names if all(name in table.column_names for table in tables.values())]


def _values(columns: Sequence[pa.ChunkedArray]) -> tuple[list[IntArray], pa.Array]:
    """Return codes, release by release, and the values; 2, 2.0 and 2,0 are one value if all are numbers."""
    texts = [trimmed_owner(column).combine_chunks() for column in columns]
    raw = pc.unique(pa.chunked_array(texts, pa.string()))
    # releases of other tools write numbers in several ways; two values that are one would hide a breach
    plain = numbers_one_way(raw.to_pylist())
    domain = pc.unique(pa.array(plain, pa.string()))
    renumber = owner_positions(pa.chunked_array([pa.array(plain, pa.string())]), domain)
    return [renumber[owner_positions(text, raw)] if len(text) else owner_positions(text, raw) for text in texts], domain


def _known(tables: Sequence[pa.Table], sensitive: str, quasi: Sequence[str] | None) -> tuple[str, ...]:
    if quasi is not None:
        return tuple(quasi)
    if all(GROUP in table.column_names for table in tables):
        return (GROUP,)
    return tuple(dict.fromkeys(name for table in tables for name in table.column_names if name != sensitive))


def _groups(table: pa.Table, known: Sequence[str]) -> IntArray:
    names = (GROUP,) if GROUP in known and GROUP in table.column_names else known
    held = [name for name in names if name in table.column_names]
    classes = classes_of(pa.table({name: numbers_alike(table.column(name)) for name in held}), held)
    group = np.empty(table.num_rows, dtype=np.int32)
    group[classes.rows] = np.repeat(np.arange(len(classes), dtype=np.int32), classes.sizes)
    return group


def _of_nobody(names: Sequence[str], releases: Sequence[PastRelease]) -> list[str]:
    # a forgotten line of the list looks the same, so the steward is told how many there are
    missing = [(name, int((past.person < 0).sum())) for name, past in zip(names, releases, strict=True)]
    found = [f"{count:,} in {name}" for name, count in missing if count]
    return [f"rows without a respondent, counted as counterfeits: {', '.join(found)}"] if found else []


def _without_value(tables: Sequence[pa.Table], sensitive: str) -> list[str]:
    empty = sum(table.column(sensitive).null_count for table in tables)
    return [f"{empty:,} rows have no {sensitive}: counted as a value of its own"] if empty else []


def _changed(history: History) -> list[str]:
    """Count the people whose value changes: many of them mean that the list of respondents belongs to other rows."""
    held = np.full(len(history.respondents), -1, dtype=np.int64)
    changed = np.zeros(len(history.respondents), dtype=np.bool_)
    for past in history:
        real = past.person >= 0
        who, value = past.person[real], past.value[real]
        changed[who[(held[who] >= 0) & (held[who] != value)]] = True
        held[who] = value
    if not changed.any():
        return []
    said = f"{int(changed.sum()):,} of {len(changed):,} people have a different value in a later release"
    return [f"{said}: each value is attacked separately. If values cannot change, the list belongs to other rows"]


def _alone(tables: Sequence[pa.Table], known: Sequence[str], quasi: Sequence[str] | None) -> list[str]:
    """Name columns such as row numbers, which make everyone a group of one, so that no attack is needed."""
    if quasi is not None:
        return []
    filled = [table for table in tables if table.num_rows > 1]
    distinct = [
        name
        for name in known
        if filled
        and all(name in t.column_names and pc.count_distinct(t.column(name)).as_py() == len(t) for t in filled)
    ]
    remedy = "so everyone is alone. If nobody knows it, list the columns that others know with --quasi (quasi=)"
    return [f"column {name} differs in every row, {remedy}" for name in distinct]
