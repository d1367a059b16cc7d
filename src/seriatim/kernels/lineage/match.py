"""Matching: newcomers to the empty slots of their value, the nearest lineages first, at the smallest total cost."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Singles, inner, kernel
from seriatim.kernels.series.halves import select, widest

CENTRE_WEIGHT = 0.3


@kernel
def cheapest(cost: Singles) -> Longs:
    """Minimum-cost assignment of every row to a column of its own (shortest augmenting paths; rows <= columns)."""
    n, m = cost.shape
    row_of = np.full(m + 1, -1, dtype=np.int64)
    u, v = np.zeros(n), np.zeros(m + 1)
    before = np.zeros(m, dtype=np.int64)
    least = np.empty(m)
    used = np.empty(m + 1, dtype=np.bool_)
    for start in range(n):
        row_of[m] = start
        column = m
        for j in range(m):
            least[j], used[j] = np.inf, False
        used[m] = False
        while row_of[column] >= 0:
            used[column] = True
            row = row_of[column]
            step, following = np.inf, -1
            for j in range(m):
                if used[j]:
                    continue
                reduced = cost[row, j] - u[row] - v[j]
                if reduced < least[j]:
                    least[j], before[j] = reduced, column
                if least[j] < step:
                    step, following = least[j], j
            for j in range(m):
                if used[j]:
                    u[row_of[j]] += step
                    v[j] -= step
                else:
                    least[j] -= step
            u[start] += step
            column = following
        while column != m:
            row_of[column] = row_of[before[column]]
            column = before[column]
    out = np.empty(n, dtype=np.int64)
    for j in range(m):
        if row_of[j] >= 0:
            out[row_of[j]] = j
    return out


@inner
def match_block(slots: Ints, people: Ints, low: Singles, high: Singles, place: Singles, out: Ints) -> None:
    """Cost: how far outside the lineage's box a newcomer lies, plus some of the way to its centre."""
    cost = np.empty((len(slots), len(people)), dtype=np.float32)
    for i in range(len(slots)):
        s = slots[i]
        for j in range(len(people)):
            total = 0.0
            for d in range(place.shape[1]):
                x = place[people[j], d]
                total += max(low[s, d] - x, 0.0) + max(x - high[s, d], 0.0)
                total += CENTRE_WEIGHT * abs(x - (low[s, d] + high[s, d]) / 2)
            cost[i, j] = total
    chosen = cheapest(cost)
    for i in range(len(slots)):
        out[slots[i]] = people[chosen[i]]


@inner
def _stand(stack: Longs, at: int, slot_lo: int, slot_hi: int, lo: int, hi: int) -> None:
    """Put a block on the stack: a range of slots and a range of people."""
    stack[at, 0], stack[at, 1], stack[at, 2], stack[at, 3] = slot_lo, slot_hi, lo, hi


@kernel
def match_value(slots: Ints, people: Ints, low: Singles, high: Singles, place: Singles, out: Ints, block: int) -> None:
    """Fill every slot with one of the people, in blocks cut by halving; slots are no more than people.

    ``low`` and ``high`` are the boxes of the slots' lineages; ``out[slot]`` receives the person.
    """
    centre = np.empty(low.shape, dtype=np.float32)
    for s in range(low.shape[0]):
        for d in range(low.shape[1]):
            centre[s, d] = (low[s, d] + high[s, d]) / np.float32(2)
    stack = np.empty((128, 4), dtype=np.int64)
    _stand(stack, 0, 0, len(slots), 0, len(people))
    depth = 1
    while depth:
        depth -= 1
        slot_lo, slot_hi, lo, hi = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        n_slots, n = slot_hi - slot_lo, hi - lo
        if n_slots == 0:
            continue
        if n <= block:
            match_block(slots[slot_lo:slot_hi], people[lo:hi], low, high, place, out)
            continue
        dim = widest(people, lo, 1, n, 0, n, place)
        half = n // 2
        slot_half = n_slots * half // n
        select(people, lo, hi, half, place, dim)
        if 0 < slot_half < n_slots:
            select(slots, slot_lo, slot_hi, slot_half, centre, dim)
        _stand(stack, depth, slot_lo, slot_lo + slot_half, lo, lo + half)
        _stand(stack, depth + 1, slot_lo + slot_half, slot_hi, lo + half, hi)
        depth += 2


@kernel
def match_values(
    which: Longs,
    slot_starts: Longs,
    slots: Ints,
    people_starts: Longs,
    people: Ints,
    low: Singles,
    high: Singles,
    place: Singles,
    out: Ints,
    block: int,
) -> None:
    """Match value after value; different values touch different slots and people, so they may run side by side."""
    for value in which:
        own = slots[slot_starts[value] : slot_starts[value + 1]]
        if len(own):
            here = people[people_starts[value] : people_starts[value + 1]]
            match_value(own, here, low, high, place, out, block)
