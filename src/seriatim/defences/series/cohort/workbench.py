"""One release of cohorts in the making: the slots in use, and who holds them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from seriatim.defences.series.caps import ENOUGH_NEWCOMERS, Caps, caps_shares
from seriatim.defences.series.cohort.memory import CohortMemory
from seriatim.defences.series.contract import BoolArray, LongArray, PlaceArray, SerialDraw, SerialRules, SerialView
from seriatim.defences.series.inherited import InheritedStanding


@dataclass(slots=True, eq=False, kw_only=True)
class CohortMaking:
    """The slots of a release while it is being made, and what making them needs."""

    view: SerialView
    rules: SerialRules
    memory: CohortMemory
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
        return np.maximum(caps_shares(table), caps_shares(entering) if entering.sum() >= ENOUGH_NEWCOMERS else 0)

    @property
    def has_slot(self) -> BoolArray:
        out = np.zeros(len(self.view), dtype=np.bool_)
        out[self.record[self.record >= 0]] = True
        return out

    @property
    def standing(self) -> InheritedStanding:
        """Return who holds which slot; cohorts are numbered from 0."""
        index = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return InheritedStanding(index, self.value, self.record)

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
