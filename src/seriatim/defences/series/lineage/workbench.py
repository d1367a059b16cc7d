"""One release of closed lineages in the making: its slots, and who holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from seriatim.defences.series.caps import Caps
from seriatim.defences.series.contract import BoolArray, LongArray, PlaceArray, SerialDraw, SerialRules, SerialView
from seriatim.defences.series.inherited import InheritedStanding, inherited_known_records
from seriatim.defences.series.lineage.slots import SlotMemory
from seriatim.kernels.lineage.refill import RefillLimits, RefillSlots
from seriatim.kernels.series.memory import memory_by_key
from seriatim.model.scale import IntArray
from seriatim.ports import Workers


@dataclass(slots=True, eq=False)
class SlotTable:
    """The slots while a release is being made, lineage by lineage."""

    slot: LongArray
    lineage: LongArray
    value: IntArray
    record: IntArray
    """The record in each slot; -1 for a counterfeit."""

    def keep(self, kept: BoolArray) -> None:
        self.slot, self.lineage = self.slot[kept], self.lineage[kept]
        self.value, self.record = self.value[kept], self.record[kept]

    def add(self, other: SlotTable) -> None:
        self.slot = np.concatenate((self.slot, other.slot))
        self.lineage = np.concatenate((self.lineage, other.lineage))
        self.value = np.concatenate((self.value, other.value))
        self.record = np.concatenate((self.record, other.record))

    def extend(self, lineage: int, slot: LongArray, value: IntArray, record: IntArray) -> None:
        """Add slots to an existing lineage, after its others."""
        at = np.full(len(slot), np.searchsorted(self.lineage, lineage, side="right"))
        self.slot, self.lineage = np.insert(self.slot, at, slot), np.insert(self.lineage, at, lineage)
        self.value, self.record = np.insert(self.value, at, value), np.insert(self.record, at, record)

    def starts(self) -> LongArray:
        """Return where each lineage's slots start."""
        edges = np.flatnonzero(np.diff(self.lineage)) + 1
        return np.concatenate(([0], edges, [len(self.lineage)])) if len(self.lineage) else np.zeros(1, dtype=np.int64)


@dataclass(slots=True, eq=False, kw_only=True)
class Workbench:
    """One release in the making."""

    view: SerialView
    rules: SerialRules
    memory: SlotMemory
    draw: SerialDraw
    workers: Workers
    caps: Caps
    place: PlaceArray
    table: SlotTable
    has_slot: BoolArray
    fair_rest: bool = False
    """Whether batches give slots back until the newcomers without one are fair (``kernels.lineage.fair_rest``)."""
    fresh: BoolArray = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    """Slots that this release refills."""
    shrunk: LongArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Lineages that have dropped slots in this release."""
    freed: LongArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Lineages whose batches gave slots back so that idle ones can be dropped."""
    counters: dict[str, int] = field(default_factory=dict)

    @property
    def capped(self) -> bool:
        """Return whether values have caps of their own; then every part has a floor of strangers as well."""
        return self.rules.odds is not None

    @property
    def n_waiting(self) -> int:
        """Return how many people of the view have no slot."""
        return int((~self.has_slot).sum())

    @property
    def lineage_size(self) -> int:
        baseline = self.caps.baseline
        return self.rules.lineage_size(int(baseline.max(initial=0)), int(np.count_nonzero(baseline)))

    @property
    def standing(self) -> InheritedStanding:
        """Return who holds which slot; lineages are numbered from 0."""
        _, group = np.unique(self.table.lineage, return_inverse=True)
        return InheritedStanding(group.astype(np.int64), self.table.value, self.table.record)

    def counts(self, at: LongArray) -> LongArray:
        """Return how often each value is among some slots."""
        return np.bincount(self.table.value[at], minlength=self.view.n_values).astype(np.int64)

    def known_lineages(self) -> BoolArray:
        """Return for each lineage, in order, whether its people are known from releases of another method."""
        starts = self.table.starts()
        if self.view.inherited is None or len(starts) < 2:
            return np.zeros(len(starts) - 1, dtype=np.bool_)
        holder = np.append(self.memory.last_holder, -1)[np.minimum(self.table.slot, self.memory.n_slots)]
        new = self.table.record >= 0
        holder[new] = self.view.person[self.table.record[new]]
        return np.asarray(np.logical_or.reduceat(self.view.inherited.known(holder), starts[:-1]))

    def batch_limits(self) -> RefillLimits:
        """Return the limits of slots refilled together."""
        rules = self.rules
        strangers, staying = (rules.strangers, rules.strangers_dropped) if self.capped else (0, 0)
        return self.caps.limits(rules.m, rules.batch, strangers, staying)

    def drop_limits(self) -> RefillLimits:
        """Return the limits of slots dropped together."""
        strangers = self.rules.strangers_dropped if self.capped else 0
        return self.caps.limits(self.rules.m, self.rules.drop, strangers, strangers)

    def slot_arrays(self, empty: BoolArray) -> RefillSlots:
        """Return the slots for kernels; ``empty`` says which may change hands."""
        table, memory = self.table, self.memory
        return RefillSlots(table.starts(), table.value, empty, memory.since[table.slot], memory.made[table.slot])

    @property
    def next_slot(self) -> int:
        """Return the first number that no slot ever had."""
        return max(self.memory.n_slots, int(self.table.slot.max(initial=-1)) + 1)

    def fill(self, at: LongArray, records: LongArray) -> None:
        self.table.record[at] = records
        self.has_slot[records] = True


def workbench_first_of_each(records: LongArray, view: SerialView, counts: LongArray) -> LongArray:
    """Return the first records of each value, as many as ``counts`` says."""
    value = view.sensitive[records]
    first, order = memory_by_key(value, view.n_values)
    rank = np.empty(len(records), dtype=np.int64)
    rank[order] = np.arange(len(order)) - first[value[order]]
    return records[rank < counts[value]]


class NewcomerPool(NamedTuple):
    """Newcomers who may be in one group."""

    possible: BoolArray | None
    """The values that their priors allow; None for all."""
    records: LongArray
    known: bool = False
    """Whether earlier releases of another method have told their values."""


def workbench_pools(view: SerialView, new: BoolArray) -> list[NewcomerPool]:
    """Return the newcomers by their possible values, the smallest sets first; people who are known are kept apart."""
    if view.inherited is None:
        return _pools_by_priors(view, new)
    known = inherited_known_records(view)
    apart = (_pools_by_priors(view, new & (known == kind), kind) for kind in (False, True))
    return [pool for pools in apart for pool in pools]


def _pools_by_priors(view: SerialView, new: BoolArray, known: bool = False) -> list[NewcomerPool]:
    if view.priors is None:
        return [NewcomerPool(None, np.flatnonzero(new), known)]
    order = np.argsort(view.priors.possible.sum(axis=1), kind="stable")
    return [
        NewcomerPool(view.priors.possible[s], np.flatnonzero(new & (view.priors.of_record == s)), known) for s in order
    ]
