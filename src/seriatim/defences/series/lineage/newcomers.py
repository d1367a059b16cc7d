"""Newcomers without a slot: many start new lineages, a few join existing ones.

A lineage of a few dozen people can hardly be refilled: its batches are too small, and most of its values occur once. In
a small table, where a few dozen newcomers remain in every release, such lineages used to hold most of the counterfeits.
So these newcomers join older lineages instead, with slots for their own values. An attacker sees the same as if they
had started a lineage: how often each value is among them. But from then on they leave and are replaced in larger
batches. Three rules follow from what is visible. No value may exceed one m-th of those who join together, nor of what
is left of their slots after a drop (``kernels.lineage.drops``). And a value is refilled only if founders hold it three
times (``kernels.lineage.refill``), since only those who joined can hold a value that came with them.

People who return do not join this way. They and the newcomers beside them differ in the values they can hold: lineages
that took in both together were breached without any knowledge.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seriatim.defences.series.contract import BoolArray, LongArray, WhenNotEligible
from seriatim.defences.series.lineage.founding_cells import founding_cells
from seriatim.defences.series.lineage.workbench import SlotTable, Workbench, workbench_first_of_each, workbench_pools
from seriatim.kernels.series.eligibility import largest_eligibility_cap
from seriatim.model.scale import IntArray

FloatArray = npt.NDArray[np.float64]

SCATTERED = 0.8
"""Lineages count as the widest if their people are this far apart, as a share of those of the very widest."""


def join_newcomers(making: Workbench, new: BoolArray) -> None:
    """Add slots to a lineage for newcomers who are too few to start one: to the smallest of the widest.

    These newcomers come from everywhere; among near people their boxes would be the only wide ones. A lineage that
    dropped slots is not eligible: an attacker sees only the difference of a drop and an addition, and it may hold too
    much of one value although neither does.

    Nobody joins if people have prior sets: everyone in the lineage would have to hold the new values possible.
    """
    view, table = making.view, making.table
    making.counters["joined"] = 0
    if view.priors is not None or not len(table.slot):
        return
    m, chance = making.rules.m, making.draw.chance("joining")
    for _, pool, known in workbench_pools(view, new & ~making.has_slot):
        if len(pool) >= making.rules.cell:
            continue
        # with exactly 1 / m of one value, none of them could ever be dropped one by one; but if many wait, more enter
        party = _without_excess(making, chance.permutation(pool), m if making.fair_rest else m + m // 3)
        if len(party) >= making.rules.batch:
            newcomers_into_lineages(making, party, known)


def newcomers_into_lineages(making: Workbench, party: LongArray, known: bool = False) -> None:
    """Give newcomers slots of their own in the smallest of the widest lineages that did not shrink, if any.

    People who are known join lineages of such people, and the others join others.
    """
    table = making.table
    lineages, sizes = np.unique(table.lineage, return_counts=True)
    closed = np.isin(lineages, making.shrunk) | (making.known_lineages() != known)
    widths = np.where(closed, -1.0, _widths(making))
    if widths.max() < 0:
        return
    chosen = lineages[np.where(widths >= SCATTERED * widths.max(), sizes, len(table.slot) + 1).argmin()]
    values = making.view.sensitive[party]
    table.extend(int(chosen), making.next_slot + np.arange(len(party)), values, party.astype(np.int32))
    making.has_slot[party] = True
    making.counters["joined"] += len(party)


def _widths(making: Workbench) -> FloatArray:
    """Return how far apart the people of each lineage are: the sum of the standard deviations of their positions."""
    table = making.table
    real = np.flatnonzero(table.record >= 0)
    first = np.searchsorted(real, table.starts()[:-1])
    n = np.diff(first, append=len(real))[:, None]
    points = making.place[table.record[real]].astype(np.float64)
    means = np.add.reduceat(points, first) / n
    spread = np.add.reduceat(points**2, first) / n - means**2
    return np.asarray(np.sqrt(np.maximum(spread, 0.0)).sum(axis=1))


def found_newcomers(making: Workbench, new: BoolArray) -> None:
    """Start new lineages for the newcomers without a slot."""
    memory, view = making.memory, making.view
    next_lineage, next_slot = memory.n_lineages, making.next_slot
    chance = making.draw.chance("founding")
    for possible, pool, _ in workbench_pools(view, new & ~making.has_slot):
        shuffled = chance.permutation(pool)
        ids, extra = _eligible(making, shuffled, possible)
        if not len(ids) or (_may_wait(making) and len(ids) < making.rules.batch):
            continue
        value = np.concatenate((view.sensitive, extra)).astype(np.int32)
        model = ids[chance.integers(0, len(ids), len(extra))]
        place = np.concatenate((making.place, making.place[model]))
        tuples = np.concatenate((ids, len(view) + np.arange(len(extra)))).astype(np.int32)
        starts = founding_cells(tuples, place, value, making.caps.evenly(0), making.rules.cell, making.workers)
        cell = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        record = np.where(tuples < len(view), tuples, -1).astype(np.int32)
        making.has_slot[record[record >= 0]] = True
        numbers = next_slot + np.arange(len(tuples))
        making.table.add(SlotTable(numbers, next_lineage + cell, value[tuples], record))
        next_slot += len(tuples)
        next_lineage += len(starts) - 1
    making.counters["founded"] = next_lineage - memory.n_lineages


def _may_wait(making: Workbench) -> bool:
    """Return whether a few newcomers may be withheld until there are more: of three people, two can breach the third.

    Not if nothing else is published, since a small table would never be, nor if the policy wants counterfeits.
    """
    return len(making.table.slot) > 0 and making.rules.when_not_eligible is not WhenNotEligible.COUNTERFEIT


def _eligible(making: Workbench, shuffled: LongArray, possible: BoolArray | None) -> tuple[LongArray, IntArray]:
    """Return newcomers without the excess of too frequent values; or all of them, with the counterfeits they need."""
    view, m = making.view, making.rules.m
    if making.rules.when_not_eligible is WhenNotEligible.COUNTERFEIT:
        counts = np.bincount(view.sensitive[shuffled], minlength=view.n_values).astype(np.int64)
        return shuffled, _completing(counts, possible, m)
    return _without_excess(making, shuffled, m), np.empty(0, dtype=np.int32)


def _without_excess(making: Workbench, shuffled: LongArray, m: int) -> LongArray:
    """Return the first of each value, as many as leave no value above one m-th."""
    view = making.view
    counts = np.bincount(view.sensitive[shuffled], minlength=view.n_values).astype(np.int64)
    cap = largest_eligibility_cap(counts, m)
    if cap >= counts.max(initial=0):
        return shuffled
    return workbench_first_of_each(shuffled, view, np.full(view.n_values, cap))


def _completing(counts: LongArray, possible: BoolArray | None, m: int) -> IntArray:
    """Return the values of as few counterfeits as make the counts m-eligible, spread over the rarer values."""
    most = int(counts.max(initial=0))
    missing = m * most - int(counts.sum())
    if missing <= 0:
        return np.empty(0, dtype=np.int32)
    allowed = np.arange(len(counts)) if possible is None else np.flatnonzero(possible)
    room = most - counts[allowed]
    level = next(q for q in range(1, most + 1) if np.minimum(room, q).sum() >= missing)
    out = np.repeat(allowed, np.minimum(room, level))
    surplus = len(out) - missing
    return np.delete(out, np.flatnonzero(np.diff(out, append=-1))[:surplus]).astype(np.int32)
