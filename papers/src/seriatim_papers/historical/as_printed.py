"""Cor-Partition and hcSafe exactly as printed (Figures 5 and 6), with merging: for comparison, never for use.

What goes wrong is counted, not mended: Figure 6 looks at the new group's size alone, so that merging (lines 9 to 12)
makes an unsafe group pass by making it larger; tuples replaced by counterfeits stay in their bucket, which is then
unbalanced, so that later groups lack values; and where n is the number of values no group with anyone published before
is ever safe, so that the printed loop would not end. Groups that lack values are completed by counterfeits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from seriatim.defences.series.boxes import number_groups
from seriatim.defences.series.contract import (
    PlaceArray,
    SerialDraw,
    SerialGrouping,
    SerialRules,
    SerialView,
    WithheldReason,
)
from seriatim.model.scale import IntArray
from seriatim.ports import Workers
from seriatim_papers.buckets import Buckets, fill_buckets
from seriatim_papers.invariant import invariant_lifespan
from seriatim_papers.memory import GroupMemory

Tuple = tuple[int, int]
"""A place among the bucket's values, and a record; a counterfeit is a number below 0 of its own."""


def printed_safe(group: Sequence[Tuple], group_in: IntArray, n: int) -> bool:
    """Return hcSafe (Figure 6): whether no earlier release has a group with more than |Q| - n, but not all, of these.

    ``group_in[release, record]`` is the group that somebody was in; -1 for none.
    """
    records = [record for _, record in group if record >= 0]
    for before in group_in[:, records]:
        most = max(Counter(before[before >= 0].tolist()).values(), default=0)
        if len(group) - n < most < len(group):
            return False
    return True


def printed_groups(
    view: SerialView,
    rules: SerialRules,
    memory: GroupMemory,
    draw: SerialDraw,
    workers: Workers,  # noqa: ARG001 - as every method takes
) -> SerialGrouping:
    """Fill the buckets as every method of this family does, and partition each as printed."""
    view.check(rules)
    view.check_values(memory.value)
    active = invariant_lifespan(view, rules, memory)
    buckets = fill_buckets(view, rules, memory, active, draw.chance("assignment"))
    counts: Counter[str] = Counter(merged=0, short=0, replaced=0, stuck=0)
    found: list[tuple[IntArray, list[Tuple]]] = []
    for bucket, values in _bucket_values(buckets):
        partition = _Partition(
            _lists(bucket, buckets, view), memory.group_in, rules.n, draw.chance(f"discards {bucket}")
        )
        found += [(values, group) for group in partition.run()]
        counts.update(partition.counts)
    group = np.full(len(view), -1, dtype=np.int32)
    fakes: list[tuple[int, int]] = []
    for number, (values, members) in enumerate(found):
        held = Counter(place for place, _ in members)
        counts["short"] += len({held[place] for place in range(len(values))}) > 1
        real = [record for _, record in members if record >= 0]
        group[real] = number
        most, own = max(held.values()), Counter(place for place, record in members if record >= 0)
        fakes += [(number, int(values[place])) for place in range(len(values)) for _ in range(most - own[place])]
    withheld = np.where(group < 0, np.int8(rules.leftover), np.int8(0))
    withheld[(group < 0) & (buckets.slot >= 0)] = WithheldReason.UNSAFE
    withheld[~active] = WithheldReason.LIFESPAN
    return SerialGrouping(
        group=group,
        withheld=withheld,
        n_groups=len(found),
        counterfeit_group=np.array([number for number, _ in fakes], dtype=np.int32),
        counterfeit_value=np.array([value for _, value in fakes], dtype=np.int32),
        box=number_groups(view, group, view.place(), rules.m),
        counters={"groups": len(found), "counterfeits": len(fakes), **counts},
    )


def _bucket_values(buckets: Buckets) -> Iterator[tuple[int, IntArray]]:
    for bucket in range(len(buckets.steps)):
        yield bucket, buckets.values[buckets.starts[bucket] : buckets.starts[bucket + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class _Lists:
    """A bucket's tuples: for each dimension and place those who hold its value, in order."""

    order: list[list[list[int]]]
    position: PlaceArray
    """position[d, record]: places of all records of the view."""


def _lists(bucket: int, buckets: Buckets, view: SerialView) -> _Lists:
    place = view.place().T
    slots = range(int(buckets.starts[bucket]), int(buckets.starts[bucket + 1]))
    held = [np.flatnonzero(buckets.slot == slot) for slot in slots]
    fakes = np.cumsum([0, *(int(buckets.steps[bucket]) - len(records) for records in held)])
    order = [
        [
            [*records[np.argsort(position[records], kind="stable")].tolist(), *range(-int(last), -int(first))]
            for records, first, last in zip(held, fakes[:-1], fakes[1:], strict=True)
        ]
        for position in place
    ]
    return _Lists(order, place)


@dataclass(slots=True, eq=False)
class _Partition:
    """One bucket on its way into groups."""

    lists: _Lists
    group_in: IntArray
    n: int
    chance: np.random.Generator
    made: list[list[Tuple]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def run(self) -> list[list[Tuple]]:
        """Return the groups; what the printed loop would try for ever is left."""
        while any(self.lists.order[0]):
            tried = [self._candidate(d) for d in range(len(self.lists.order))]
            group, merged, replaced = min(tried, key=lambda one: self._semiperimeter(one[0]))
            taken = {record for _, record in group}
            if not taken & {record for held in self.lists.order[0] for record in held}:
                self.counts["stuck"] += 1
                break
            for at in merged:
                self.made[at] = []
            self.counts["merged"] += bool(merged)
            self.counts["replaced"] += replaced
            self.made.append(group)
            for order in self.lists.order:
                order[:] = [[record for record in held if record not in taken] for held in order]
        return [group for group in self.made if any(record >= 0 for _, record in group)]

    def _safe(self, group: Sequence[Tuple]) -> bool:
        return printed_safe(group, self.group_in, self.n)

    def _first(self, dim: int, without: set[int]) -> list[Tuple]:
        """Return createQIG: the first tuple of each value that is not discarded; some values may have none."""
        found = []
        for place, held in enumerate(self.lists.order[dim]):
            head = next((record for record in held if record not in without), None)
            if head is not None:
                found.append((place, head))
        return found

    def _candidate(self, dim: int) -> tuple[list[Tuple], list[int], int]:
        """Return lines 6 to 13 for one list: the group, the earlier groups merged into it, and tuples replaced."""
        discarded: set[int] = set()
        group, size = self._first(dim, discarded), len(self.lists.order[dim])
        while len(group) == size and not self._safe(group):
            discarded.add(group[int(self.chance.integers(len(group)))][1])
            group = self._first(dim, discarded)
        if len(group) == size:
            return group, [], 0
        first = group = self._first(dim, set())
        merged: list[int] = []
        for at in range(len(self.made) - 1, -1, -1):
            if self._safe(group):
                break
            if self.made[at]:
                group, merged = [*group, *self.made[at]], [*merged, at]
        if self._safe(group):
            return group, merged, 0
        return self._with_counterfeits(first)

    def _with_counterfeits(self, group: list[Tuple]) -> tuple[list[Tuple], list[int], int]:
        """Return setCounterfeits: ever more tuples replaced, until the group is safe; they stay in the bucket."""
        order = self.chance.permutation(len(group)).tolist()
        left = list(group)
        for n_replaced, at in enumerate(order, start=1):
            place, record = left[at]
            left[at] = (place, -(10**9) - abs(record))
            if self._safe(left):
                return left, [], n_replaced
        return left, [], len(left)

    def _semiperimeter(self, group: Sequence[Tuple]) -> float:
        records = [record for _, record in group if record >= 0]
        if not records:
            return float("inf")
        own = self.lists.position[:, records]
        return float((own.max(axis=1) - own.min(axis=1)).sum())
