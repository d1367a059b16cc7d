"""Appearances: the rows of a history as a sequential adversary reads them, group by group and person by person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from seriatim.errors import Fault, TableError
from seriatim.kernels.arrays import Ints, Longs
from seriatim.kernels.belief.chains import ChainPeople
from seriatim.knowledge._posterior import MessageGroups
from seriatim.model.classes import class_text_codes
from seriatim.model.history import History
from seriatim.model.table_faults import most_records_at_once, several_records_fault


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Appearances:
    """One row per published record, in order of release and group."""

    groups: MessageGroups
    person: Ints
    """A number per respondent; counterfeits come last, each a person of its own that appears once."""
    value: Ints
    """The true value; what a counterfeit shows."""
    group: Ints
    release: Ints
    """The position of the release in the history."""
    time: Ints
    people: ChainPeople
    respondents: pa.Array
    """The ids of the people, without counterfeits; null for people who were erased."""
    first_index: Longs
    """The first entry of the history's respondents that is each person."""
    group_of_release: Longs
    """The first group of each release."""
    n_values: int

    @property
    def n_people(self) -> int:
        return len(self.respondents)

    @property
    def real(self) -> Longs:
        """Return the rows that are no counterfeits."""
        return np.flatnonzero(self.person < self.n_people)

    @property
    def counts(self) -> Longs:
        """Return the number of appearances of each person."""
        return np.bincount(self.person[self.real], minlength=self.n_people)

    def changed(self) -> int:
        """Count the people who ever appeared with another value than before."""
        rows, ptr = self.people.rows, self.people.ptr
        owner = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        same = (owner[1:] == owner[:-1]) & (self.value[rows[1:]] != self.value[rows[:-1]])
        return len(np.unique(owner[1:][same]))


def appearances_of(history: History, times: Sequence[int] | None = None, classes: Ints | None = None) -> Appearances:
    """Return the appearances of a history.

    ``times`` has a whole number for each release (its number if omitted): gaps are counted in it. ``classes`` has the
    class of each of ``history.respondents``.
    """
    when = [past.number for past in history] if times is None else list(times)
    if len(when) != len(history) or any(later <= now for now, later in pairwise(when)):
        raise TableError(Fault("times", f"{len(when)} for {len(history)} releases", "a rising number for each"))
    number, ids = _numbered(history.respondents)
    first = np.zeros(0, dtype=np.int64)
    parts: list[tuple[Ints, Ints, Ints, Ints, int]] = []
    for at, past in enumerate(history):
        order = np.lexsort((past.person, past.group))
        who = np.where(past.person[order] < 0, -1, number[past.person[order]]) if len(number) else past.person[order]
        first = np.append(first, sum(part[4] for part in parts))
        parts.append((who, past.value[order], past.group[order], np.full(len(order), at), past.n_groups))
    person = _joined([part[0] for part in parts])
    value, release = _joined([part[1] for part in parts]), _joined([part[3] for part in parts])
    group = _joined([part[2] + begin for part, begin in zip(parts, first, strict=True)])
    time = np.array(when, dtype=np.int32)[release] if len(when) else release
    counterfeit = np.flatnonzero(person < 0)
    # every counterfeit is somebody of its own, numbered after all people, seen once
    person[counterfeit] = len(ids) + np.arange(len(counterfeit))
    own = np.zeros(len(ids) + len(counterfeit), dtype=np.int32)
    if classes is not None and len(number):
        own[number] = classes
    groups = _groups(group, value, sum(part[4] for part in parts), len(history.values))
    return Appearances(
        groups=groups,
        person=person,
        value=value,
        group=group,
        release=release,
        time=time,
        people=_people(person, time, own),
        respondents=ids,
        first_index=np.unique(number, return_index=True)[1].astype(np.int64),
        group_of_release=np.append(first, sum(part[4] for part in parts)),
        n_values=len(history.values),
    )


def _numbered(respondents: pa.Array) -> tuple[Ints, pa.Array]:
    """Return the person of each entry, and the ids; an erased entry is a person without an id."""
    number, ids = class_text_codes(respondents)
    erased = np.flatnonzero(number < 0)
    if len(erased):
        number = number.copy()
        number[erased] = len(ids) + np.arange(len(erased))
        ids = pa.concat_arrays([ids, pa.nulls(len(erased), ids.type)])
    return number, ids


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate(parts).astype(np.int32) if parts else np.empty(0, dtype=np.int32)


def _groups(group: Ints, value: Ints, n_groups: int, n_values: int) -> MessageGroups:
    """Return rows and published values of each group; rows are in order of group already."""
    ptr = np.searchsorted(group, np.arange(n_groups + 1))
    keys, counts = np.unique(group.astype(np.int64) * max(n_values, 1) + value, return_counts=True)
    val_ptr = np.searchsorted(keys // max(n_values, 1), np.arange(n_groups + 1))
    val = (keys % max(n_values, 1)).astype(np.int32)
    return MessageGroups(ptr.astype(np.int64), val_ptr.astype(np.int64), val, counts.astype(np.int32))


def _people(person: Ints, time: Ints, cls: Ints) -> ChainPeople:
    """Return everyone's rows in order of time. A person twice in one release is an error."""
    rows = np.lexsort((time, person)).astype(np.int32)
    ptr = np.searchsorted(person[rows], np.arange(len(cls) + 1)).astype(np.int64)
    gap = np.zeros(len(rows), dtype=np.int32)
    same = np.flatnonzero(person[rows[1:]] == person[rows[:-1]]) + 1
    gap[same] = time[rows[same]] - time[rows[same - 1]]
    if (gap[same] < 1).any():
        several = several_records_fault("respondent, in one release", most_records_at_once(person, time))
        assert several is not None
        raise TableError(several)
    return ChainPeople(ptr, rows, gap, cls[person] if len(person) else np.empty(0, dtype=np.int32))
