"""Corrected values: what was published about a person was wrong, so the new value is no change of theirs.

A method that follows people needs values that do not change: what a group showed about somebody cannot be unsaid. A
corrected person therefore leaves their old groups, which keep the number alone, and counts as a newcomer with the new
value. No promise and no attack joins the two: the old value was never true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, TableError
from seriatim.model import History, Policy, View
from seriatim.model.table_faults import header_of

COLUMNS = ("respondent", "column", "old", "new")
_WHERE = "corrections"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Corrections:
    """Which values of whom were wrong, all as texts; an entry per value."""

    table: pa.Table
    """respondent, column, old (as published last) and new (as in the view)."""

    @property
    def people(self) -> pa.Array:
        """Return everyone with a corrected value, once."""
        return pc.unique(self.table.column("respondent"))

    @property
    def columns(self) -> Sequence[str]:
        return [str(name) for name in pc.unique(self.table.column("column")).to_pylist()]

    def of(self, column: str) -> pa.Table:
        return self.table.filter(pc.equal(self.table.column("column"), column))


def corrected_cells(table: pa.Table, policy: Policy) -> Corrections:
    """Return the corrections of a table; raise an error for cells that name no value to correct."""
    missing = [name for name in COLUMNS if table.column_names.count(name) != 1]
    if missing:
        header = header_of(_WHERE, table)
        found = f"no column {', '.join(missing)}, or more than one"
        fault = header.missing if header.seems_missing else Fault(_WHERE, found, ", ".join(COLUMNS), "name them so")
        raise TableError(fault)
    if policy.respondent is None:
        raise TableError(Fault(_WHERE, "the policy names no respondent", "[series] respondent", "add it"))
    texts = pa.table({name: pc.cast(_plain(table.column(name)), pa.string()) for name in COLUMNS})
    sensitive = pa.array([rule.name for rule in policy.sensitive], pa.string())
    strange = _count(pc.invert(pc.is_in(texts.column("column"), value_set=sensitive)))
    twice = len(texts) - len(texts.group_by(["respondent", "column"]).aggregate([]))
    faults = [
        Fault(_WHERE, f"{texts.column(name).null_count} empty cells in {name}", "none")
        for name in ("respondent", "column", "new")
        if texts.column(name).null_count
    ]
    faults += [Fault(_WHERE, f"{strange} rows name another column", "a sensitive column")] if strange else []
    faults += [Fault(_WHERE, f"{twice} rows name a value once more", "each value once")] if twice else []
    if faults:
        raise TableError(faults)
    return Corrections(texts)


def check_last_values(asked: Corrections, view: View, histories: Mapping[str, History]) -> None:
    """Raise an error unless every old value was published last and every new one is in the view."""
    faults = []
    for column in asked.columns:
        rows, history = asked.of(column), histories[column]
        published = _published_last(history, rows.column("respondent"))
        told = _told(view, column, rows.column("respondent"))
        never = _count(pc.is_null(published.found))
        absent = _count(pc.is_null(told.found))
        old = _differ(published.values, rows.column("old"), published.found)
        new = _differ(told.values, rows.column("new"), told.found)
        same = _count(pc.equal(rows.column("old"), rows.column("new")))
        where = f"{_WHERE}, column {column!r}"
        said = {
            f"{never} people were never published": (never, "people of an earlier release"),
            f"{absent} people are not in the view": (absent, "people of the view"),
            f"{old} old values are not what was published last": (old, "the value of the newest release"),
            f"{new} new values are not in the view": (new, "the value in the view"),
            f"{same} values are not changed": (same, "another value than the old one"),
        }
        faults += [Fault(where, found, allowed, "check the file") for found, (n, allowed) in said.items() if n]
    if faults:
        raise TableError(faults)


def corrected_history(history: History, asked: Corrections) -> History:
    """Return the history in which nobody knows any more whose the corrected values were."""
    texts = pc.cast(history.respondents, pa.string())
    hit = pc.is_in(texts, value_set=asked.people)
    return replace(history, respondents=pc.if_else(hit, pa.scalar(None, texts.type), texts))


def corrected_memory(memory: Mapping[str, pa.Table], asked: Corrections) -> dict[str, pa.Table]:
    """Return what a method remembers, without the people who count as newcomers."""
    return {
        name: table.filter(pc.invert(pc.is_in(table.column("respondent"), value_set=asked.people)))
        for name, table in memory.items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    found: pa.Array
    """Null for somebody who is not there."""
    values: pa.Array


def _published_last(history: History, people: pa.ChunkedArray) -> _Found:
    texts = pc.cast(history.respondents, pa.string())
    place = pc.index_in(people.combine_chunks(), value_set=texts).fill_null(-1).to_numpy().astype(np.int64)
    last = np.full(len(texts), -1, dtype=np.int64)
    for past in history:
        real = past.person >= 0
        last[past.person[real]] = past.value[real]
    value = np.where(place >= 0, last[place] if len(last) else -1, -1)
    found = pa.array(value, mask=value < 0)
    return _Found(found, pc.cast(history.values, pa.string()).take(found))


def _told(view: View, column: str, people: pa.ChunkedArray) -> _Found:
    assert view.respondent is not None
    who = pc.cast(_plain(view.cells(view.respondent)), pa.string()).combine_chunks()
    found = pc.index_in(people.combine_chunks(), value_set=who)
    values = pc.cast(_plain(view.cells(column)), pa.string()).combine_chunks()
    return _Found(found, values.take(found))


def _differ(held: pa.Array, said: pa.ChunkedArray, there: pa.Array) -> int:
    same = pc.fill_null(pc.equal(pc.fill_null(held, ""), pc.fill_null(said.combine_chunks(), "")), False)
    return _count(pc.and_(pc.is_valid(there), pc.invert(same)))


def _count(flags: pa.Array | pa.ChunkedArray) -> int:
    return int(pc.sum(flags).as_py() or 0)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
