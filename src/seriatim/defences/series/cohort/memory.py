"""The memory of a series of cohorts: every slot there ever was, who holds it, and when it was last in use.

It is built only from the rows that the ledger keeps. A slot belongs to one person for good. The slots of a cohort that
were last in use in the same release are a cell: their people entered together and were given up together.

``SlotsInUse`` is one release in the making: the slots in use, and who holds them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from seriatim.defences.series.caps import ENOUGH_PEOPLE, Caps, rounded_shares
from seriatim.defences.series.contract import BoolArray, LongArray, PlaceArray, SerialDraw, SerialRules, SerialView
from seriatim.defences.series.inherited import SlotsHeld
from seriatim.defences.series.memory import RememberedRows
from seriatim.errors import Fault, PolicyError


class SlotHistory:
    """The slots of all releases; :meth:`remember` adds a release."""

    def __init__(self) -> None:
        self.n_releases = 0
        self.n_cohorts = 0
        self.cohort = np.empty(0, dtype=np.int64)
        self.value = np.empty(0, dtype=np.int64)
        self.holder = np.empty(0, dtype=np.int64)
        self.last = np.empty(0, dtype=np.int64)
        """Return the release in which each slot was last in use, from 0."""
        self.seen = np.empty(0, dtype=np.int64)
        """The release in which its person was last there, from 0."""
        self.publications = np.empty(0, dtype=np.int64)
        self.newest = np.empty(0, dtype=np.int64)
        """The newest slot of each person; -1 for someone not yet published."""
        self.baseline = np.empty(0, dtype=np.int64)
        """The largest share of each value so far, in millionths; empty without caps."""

    @classmethod
    def of(cls, pasts: Iterable[RememberedRows]) -> Self:
        """Remember all of these releases, oldest first."""
        memory = cls()
        for past in pasts:
            memory.remember(past)
        return memory

    @property
    def n_slots(self) -> int:
        return len(self.cohort)

    @property
    def standing(self) -> LongArray:
        """Return the slots of the last release, cohort by cohort."""
        slots = np.flatnonzero(self.last == self.n_releases - 1) if self.n_releases else np.empty(0, dtype=np.int64)
        return slots[np.argsort(self.cohort[slots], kind="stable")]

    def look_up(self, column: LongArray, person: LongArray, missing: int) -> LongArray:
        """Return each person's entry, or ``missing`` for people without one."""
        out = np.full(len(person), missing, dtype=np.int64)
        inside = person < len(column)
        out[inside] = column[person[inside]]
        return out

    def values_of(self, person: LongArray) -> LongArray:
        """Return each person's value, -1 for newcomers."""
        slot = self.look_up(self.newest, person, -1)
        # slot 0 stands in for newcomers, whose value is not taken
        return np.where(slot >= 0, self.value[np.maximum(slot, 0)], -1) if self.n_slots else slot

    def remember(self, past: RememberedRows) -> None:
        """Add one release, the next in order."""
        if past.lineage is None or past.slot is None or past.baseline is None:
            raise PolicyError(_published_otherwise(self.n_releases + 1))
        self._make_room(past)
        slot, real = past.slot, past.person >= 0
        own, who = slot[real], np.asarray(past.person[real], dtype=np.int64)
        # a slot is one person's for good; the groups of another method cross each other
        if ((self.holder[own] >= 0) & (self.holder[own] != who)).any():
            raise PolicyError(_published_otherwise(self.n_releases + 1))
        self.cohort[slot], self.value[slot], self.last[slot] = past.lineage, past.value, self.n_releases
        self.holder[own], self.newest[who], self.seen[own] = who, own, self.n_releases
        self.publications[who] += 1
        np.maximum.at(self.baseline, past.value, past.baseline)
        self.n_cohorts = max(self.n_cohorts, int(past.lineage.max(initial=-1)) + 1)
        self.n_releases += 1

    def _make_room(self, past: RememberedRows) -> None:
        assert past.slot is not None
        n_slots, n_people = int(past.slot.max(initial=-1)) + 1, int(past.person.max(initial=-1)) + 1
        self.cohort, self.value = _longer(self.cohort, n_slots, -1), _longer(self.value, n_slots, -1)
        self.holder, self.last = _longer(self.holder, n_slots, -1), _longer(self.last, n_slots, -1)
        self.seen = _longer(self.seen, n_slots, -1)
        self.publications, self.newest = _longer(self.publications, n_people, 0), _longer(self.newest, n_people, -1)
        self.baseline = _longer(self.baseline, int(past.value.max(initial=-1)) + 1, 0)


def _published_otherwise(release: int) -> Fault:
    """Return the fault that cohorts cannot continue a series of another method: its groups crossed each other."""
    return Fault(
        "[defence] method",
        f"cohort, but release {release} was published by another method",
        "cohort from release 1",
        "keep the method, or start a new series under another name; attack the old series first if people are in both, "
        "since someone who keeps its releases can join the two",
    )


def _longer(column: LongArray, n: int, missing: int) -> LongArray:
    return np.concatenate((column, np.full(max(n - len(column), 0), missing, dtype=np.int64)))


@dataclass(slots=True, eq=False, kw_only=True)
class SlotsInUse:
    """The slots of a release while it is being made, and what making them needs."""

    view: SerialView
    rules: SerialRules
    memory: SlotHistory
    draw: SerialDraw
    caps: Caps
    active: BoolArray
    place: PlaceArray
    slot: LongArray
    cohort: LongArray
    value: LongArray
    record: LongArray
    """The record in each slot; -1 for a counterfeit."""
    counters: dict[str, int] = field(default_factory=dict)

    def keep(self, kept: BoolArray) -> None:
        """Give up the other slots."""
        self.slot, self.cohort = self.slot[kept], self.cohort[kept]
        self.value, self.record = self.value[kept], self.record[kept]

    def add_cohorts(self, records: LongArray, starts: LongArray) -> None:
        """Add a cohort for each run of records."""
        first = max(self.memory.n_cohorts, int(self.cohort.max(initial=-1)) + 1)
        next_slot = max(self.memory.n_slots, int(self.slot.max(initial=-1)) + 1)
        numbers = np.repeat(first + np.arange(len(starts) - 1), np.diff(starts))
        self.slot = np.concatenate((self.slot, next_slot + np.arange(len(records))))
        self.cohort = np.concatenate((self.cohort, numbers))
        self.value = np.concatenate((self.value, self.view.sensitive[records].astype(np.int64)))
        self.record = np.concatenate((self.record, records))

    def shown_with(self, entering: LongArray) -> LongArray:
        """Return the share of every value in the table once these enter, or among them, whichever is larger.

        In millionths; counterfeits count, so anybody who has the table can count the same.
        """
        table = np.bincount(self.value, minlength=self.view.n_values) + entering
        return np.maximum(rounded_shares(table), rounded_shares(entering) if entering.sum() >= ENOUGH_PEOPLE else 0)

    @property
    def has_slot(self) -> BoolArray:
        out = np.zeros(len(self.view), dtype=np.bool_)
        out[self.record[self.record >= 0]] = True
        return out

    @property
    def standing(self) -> SlotsHeld:
        """Return who holds which slot; cohorts are numbered from 0."""
        index = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return SlotsHeld(index, self.value, self.record)

    @property
    def starts(self) -> LongArray:
        """Return where each cohort's slots start."""
        edges = np.flatnonzero(np.diff(self.cohort)) + 1
        return np.concatenate(([0], edges, [len(self.cohort)])) if len(self.cohort) else np.zeros(1, dtype=np.int64)

    def counts(self, which: BoolArray) -> LongArray:
        """Return how often each value occurs among these slots of every cohort."""
        n, n_cohorts = self.view.n_values, len(self.starts) - 1
        index = np.repeat(np.arange(n_cohorts), np.diff(self.starts))
        keys = index[which] * n + self.value[which]
        return np.bincount(keys, minlength=n_cohorts * n).reshape(n_cohorts, n).astype(np.int64)
