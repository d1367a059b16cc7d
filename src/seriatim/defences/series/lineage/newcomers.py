"""Newcomers who found no empty slot: enough of them found lineages, a few join those that there are.

A lineage of a few dozen people can hardly be refilled: its batches are too small, and most of its values stand alone.
In a small table, where a few dozen newcomers are left over in every release, such lineages used to hold most of the
counterfeits. So the newcomers who are left over join older lineages instead, as slots of their own values. What is
seen is the same as if they had founded a lineage: how often each value is among them. But from then on they leave and
are replaced in larger crowds. Three rules follow from what is seen. No value may exceed one m-th of those who join
together, nor of what is left of their slots after a drop (``dropping``). And a value is refilled only where the
founders hold it three times (``refilling``), since nobody but those who joined can hold a value that came with them.

People who return are not let in this way. Those who came back and newcomers beside them differ in what they can hold:
attacked without any knowledge, lineages that took in both together gave people away.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seriatim.defences.series.contract import BoolArray, LongArray, WhenNotEligible
from seriatim.defences.series.lineage.workbench import Making, Table, pools
from seriatim.kernels.lineage.cells import fair_cells
from seriatim.kernels.series.eligibility import largest_cap
from seriatim.kernels.series.memory import by_key
from seriatim.model.scale import IntArray

FloatArray = npt.NDArray[np.float64]

SCATTERED = 0.8
"""Lineages count as the widest if their people lie this far apart, as a share of those of the very widest."""


def join(making: Making, new: BoolArray) -> None:
    """Add slots to a lineage for newcomers who are too few to found one: to the smallest of the widest.

    Those who are left over come from everywhere; among near people their boxes would be the only wide ones. A lineage
    of which something was dropped is none of them: of a drop and an addition only the difference shows, and that may
    hold too much of one value where neither does.

    Not where people have prior sets: everyone in the lineage would have to hold the values that join possible.
    """
    view, table = making.view, making.table
    making.counters["joined"] = 0
    pool = np.flatnonzero(new & ~making.seated)
    if view.priors is not None or not len(table.slot) or len(pool) >= making.rules.cell:
        return
    m = making.rules.m
    # with just 1 / m of one value nothing could ever be dropped of them one by one
    party = _without_excess(making, making.draw.chance("joining").permutation(pool), m + m // 3)
    if len(party) < making.rules.batch:
        return
    lineages, sizes = np.unique(table.lineage, return_counts=True)
    widths = np.where(np.isin(lineages, making.shrunk), -1.0, _widths(making))
    if widths.max() < 0:
        return
    chosen = lineages[np.where(widths >= SCATTERED * widths.max(), sizes, len(table.slot) + 1).argmin()]
    table.extend(int(chosen), making.next_slot + np.arange(len(party)), view.sensitive[party], party.astype(np.int32))
    making.seated[party] = True
    making.counters["joined"] = len(party)


def _widths(making: Making) -> FloatArray:
    """How far apart the people of each lineage lie: the standard deviations of their places, added."""
    table = making.table
    real = np.flatnonzero(table.record >= 0)
    first = np.searchsorted(real, table.starts()[:-1])
    n = np.diff(first, append=len(real))[:, None]
    spots = making.place[table.record[real]].astype(np.float64)
    means = np.add.reduceat(spots, first) / n
    spread = np.add.reduceat(spots**2, first) / n - means**2
    return np.asarray(np.sqrt(np.maximum(spread, 0.0)).sum(axis=1))


def found(making: Making, new: BoolArray) -> None:
    """New lineages for the newcomers who found no slot."""
    homes, view = making.homes, making.view
    next_lineage, next_slot = homes.n_lineages, making.next_slot
    chance = making.draw.chance("founding")
    for possible, pool in pools(view, new & ~making.seated):
        shuffled = chance.permutation(pool)
        ids, extra = _eligible(making, shuffled, possible)
        if not len(ids) or (_may_wait(making) and len(ids) < making.rules.batch):
            continue
        value = np.concatenate((view.sensitive, extra)).astype(np.int32)
        model = ids[chance.integers(0, len(ids), len(extra))]
        place = np.concatenate((making.place, making.place[model]))
        tuples = np.concatenate((ids, len(view) + np.arange(len(extra)))).astype(np.int32)
        starts = fair_cells(tuples, place, value, view.n_values, making.rules.m, making.rules.cell)
        cell = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        record = np.where(tuples < len(view), tuples, -1).astype(np.int32)
        making.seated[record[record >= 0]] = True
        numbers = next_slot + np.arange(len(tuples))
        making.table.add(Table(numbers, next_lineage + cell, value[tuples], record))
        next_slot += len(tuples)
        next_lineage += len(starts) - 1
    making.counters["founded"] = next_lineage - homes.n_lineages


def _may_wait(making: Making) -> bool:
    """Whether a few newcomers are withheld until more have come: three people are given away by two.

    Not where nothing else is published, since a small table would never be, nor where the policy wants counterfeits.
    """
    return len(making.table.slot) > 0 and making.rules.when_not_eligible is not WhenNotEligible.COUNTERFEIT


def _eligible(making: Making, shuffled: LongArray, possible: BoolArray | None) -> tuple[LongArray, IntArray]:
    """Newcomers without the excess of over-frequent values; or all of them, with the counterfeits they need."""
    view, m = making.view, making.rules.m
    if making.rules.when_not_eligible is WhenNotEligible.COUNTERFEIT:
        counts = np.bincount(view.sensitive[shuffled], minlength=view.n_values).astype(np.int64)
        return shuffled, _completing(counts, possible, m)
    return _without_excess(making, shuffled, m), np.empty(0, dtype=np.int32)


def _without_excess(making: Making, shuffled: LongArray, m: int) -> LongArray:
    """The first of each value, as many as leave no value beyond one m-th."""
    view = making.view
    counts = np.bincount(view.sensitive[shuffled], minlength=view.n_values).astype(np.int64)
    cap = largest_cap(counts, m)
    if cap >= counts.max(initial=0):
        return shuffled
    first, order = by_key(view.sensitive[shuffled], view.n_values)
    rank = np.empty(len(shuffled), dtype=np.int64)
    rank[order] = np.arange(len(order)) - first[view.sensitive[shuffled][order]]
    return shuffled[rank < cap]


def _completing(counts: LongArray, possible: BoolArray | None, m: int) -> IntArray:
    """Values of the counterfeits that make the counts m-eligible: as few as can be, spread over the rarer values."""
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
