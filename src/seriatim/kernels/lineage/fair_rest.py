"""A fair rest: newcomers without a slot are as mixed as any other part, so that waiting tells nothing.

Batches take the newcomers whose values they need. What is left over would be holders of the values that are too
frequent for any batch: in a table where 60 % share a value, 99 % of those who wait. So batches give slots back until
the newcomers left are fair as well; they join a lineage or start one, or wait together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Longs, inner, kernel, leaf
from seriatim.kernels.lineage.refill import MILLION, RefillLimits, RefillSlots, refill_limit


@leaf
def _most_unfair(left: Longs, total: int, limits: RefillLimits) -> int:
    """Return the value furthest above its share of those left, if they are unfair; else -1."""
    strangers = limits.strangers if total >= limits.least else 0
    fair, worst, most = True, -1, -1.0
    for value in range(len(left)):
        fair = fair and left[value] <= refill_limit(total, value, strangers, limits)
        cap = limits.raised[value] / MILLION if limits.raised[value] > 0 else 1.0 / limits.m
        if left[value] / cap > most:
            worst, most = value, left[value] / cap
    return -1 if fair else worst


class RestBatches(NamedTuple):
    """What is reserved in every lineage: by lineage, and by lineage and value."""

    size: Longs
    total: Longs
    taken: Longs
    whole: Longs
    back: Longs
    """People who may come back there only."""


@inner
def _count_batches(reserved: Flags, slots: RefillSlots, waiting: Longs, n_values: int) -> RestBatches:
    """Return how large every lineage's batch is, and how often each value is in it, in the lineage and waiting."""
    n_lineages = len(slots.starts) - 1
    size, total = np.zeros(n_lineages, dtype=np.int64), np.zeros(n_lineages, dtype=np.int64)
    sheets = np.zeros((3, n_lineages, n_values), dtype=np.int64)
    for lineage in range(n_lineages):
        total[lineage] = slots.starts[lineage + 1] - slots.starts[lineage]
        for slot in range(slots.starts[lineage], slots.starts[lineage + 1]):
            value = slots.value[slot]
            size[lineage] += reserved[slot]
            sheets[0, lineage, value] += reserved[slot]
            sheets[1, lineage, value] += 1
            sheets[2, lineage, value] += waiting[slot]
    return RestBatches(size, total, sheets[0], sheets[1], sheets[2])


@leaf
def _may_give_back(batches: RestBatches, lineage: int, value: int, limits: RefillLimits) -> bool:
    """Return whether a batch and its rest stay fair with one slot of a value less reserved for newcomers."""
    taken = batches.taken[lineage, value]
    size = batches.size[lineage] - 1
    if taken <= batches.back[lineage, value] or size < limits.least:
        return False
    rest = batches.total[lineage] - size
    stays = batches.whole[lineage, value] - taken + 1
    if stays > refill_limit(rest, value, limits.staying, limits):
        return False
    for other in range(batches.taken.shape[1]):
        held = batches.taken[lineage, other] - (other == value)
        if held > refill_limit(size, other, limits.strangers, limits):
            return False
    return True


@leaf
def _batch_with_spare(batches: RestBatches, value: int, limits: RefillLimits) -> int:
    """Return the lineage with the largest batch that can give back a slot of a value; -1 for none."""
    best = -1
    for lineage in range(len(batches.size)):
        larger = best < 0 or batches.size[lineage] > batches.size[best]
        if larger and _may_give_back(batches, lineage, value, limits):
            best = lineage
    return best


@inner
def _give_back(left: Longs, worst: int, batches: RestBatches, limits: RefillLimits) -> tuple[int, int]:
    """Return a lineage and a value of which it can give back a slot, values that are rare among those left first."""
    tried = np.zeros(len(left), dtype=np.bool_)
    tried[worst] = True
    while True:
        value, least = -1, np.inf
        for other in range(len(left)):
            cap = limits.raised[other] / MILLION if limits.raised[other] > 0 else 1.0 / limits.m
            if not tried[other] and (left[other] + 1) / cap < least:
                value, least = other, (left[other] + 1) / cap
        if value < 0:
            return -1, -1
        tried[value] = True
        lineage = _batch_with_spare(batches, value, limits)
        if lineage >= 0:
            return lineage, value


@kernel
def leave_fair_rest(reserved: Flags, slots: RefillSlots, left: Longs, waiting: Longs, limits: RefillLimits) -> int:
    """Take slots back from batches until the newcomers without one are fair; return how many were taken back.

    Newcomers whose value is too frequent for any batch would else be the only ones who wait, and waiting would give
    their value away. ``left`` counts them by value; it and ``reserved`` are changed in place. Nothing more is taken
    back where no batch can spare a slot; the newcomers left are then unfair.
    """
    total = 0
    for value in range(len(left)):
        total += left[value]
    worst = _most_unfair(left, total, limits)
    if worst < 0:
        return 0
    n_back = 0
    batches = _count_batches(reserved, slots, waiting, len(left))
    while worst >= 0:
        lineage, value = _give_back(left, worst, batches, limits)
        if lineage < 0:
            break
        first = -1
        for slot in range(slots.starts[lineage], slots.starts[lineage + 1]):
            mine = reserved[slot] and slots.value[slot] == value
            if mine and (first < 0 or slots.since[slot] < slots.since[first]):
                first = slot
        reserved[first] = False
        batches.taken[lineage, value] -= 1
        batches.size[lineage] -= 1
        left[value] += 1
        total += 1
        n_back += 1
        worst = _most_unfair(left, total, limits)
    return n_back
