"""Matching: newcomers to the empty slots of their value, the nearest lineages first, at the smallest total cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Singles, inner, kernel, leaf
from seriatim.kernels.series.halves import HalvesBucket, select_half, widest_for_halves

CENTRE_WEIGHT = 0.3


class MatchBoxes(NamedTuple):
    """The box of each slot's lineage: slots x dimensions."""

    low: Singles
    high: Singles


class MatchQueues(NamedTuple):
    """Slots and people by value: those of value v are ``slots[slot_starts[v]:slot_starts[v + 1]]``, people alike."""

    slot_starts: Longs
    slots: Ints
    people_starts: Longs
    people: Ints


@kernel
def cheapest_match(cost: Singles) -> Longs:
    """Return a column of its own for every row, at the smallest total cost; rows are no more than columns.

    By shortest augmenting paths.
    """
    n_rows, n_columns = cost.shape
    row_of = np.full(n_columns + 1, -1, dtype=np.int64)
    row_price, column_price = np.zeros(n_rows), np.zeros(n_columns + 1)
    before = np.zeros(n_columns, dtype=np.int64)
    least = np.empty(n_columns)
    used = np.empty(n_columns + 1, dtype=np.bool_)
    for start in range(n_rows):
        row_of[n_columns] = start
        column = n_columns
        for j in range(n_columns):
            least[j], used[j] = np.inf, False
        used[n_columns] = False
        while row_of[column] >= 0:
            used[column] = True
            row = row_of[column]
            step, following = np.inf, -1
            for j in range(n_columns):
                if used[j]:
                    continue
                reduced = cost[row, j] - row_price[row] - column_price[j]
                if reduced < least[j]:
                    least[j], before[j] = reduced, column
                if least[j] < step:
                    step, following = least[j], j
            for j in range(n_columns):
                if used[j]:
                    row_price[row_of[j]] += step
                    column_price[j] -= step
                else:
                    least[j] -= step
            row_price[start] += step
            column = following
        while column != n_columns:
            row_of[column] = row_of[before[column]]
            column = before[column]
    out = np.empty(n_rows, dtype=np.int64)
    for j in range(n_columns):
        if row_of[j] >= 0:
            out[row_of[j]] = j
    return out


@inner
def _match_block(slots: Ints, people: Ints, boxes: MatchBoxes, place: Singles, out: Ints) -> None:
    """Write into ``out`` a person for each slot, at the smallest total cost.

    The cost: how far outside the lineage's box a newcomer lies, plus some of the way to its centre.
    """
    low, high = boxes.low, boxes.high
    cost = np.empty((len(slots), len(people)), dtype=np.float32)
    for i in range(len(slots)):
        slot = slots[i]
        for j in range(len(people)):
            total = 0.0
            for axis in range(place.shape[1]):
                where = place[people[j], axis]
                total += max(low[slot, axis] - where, 0.0) + max(where - high[slot, axis], 0.0)
                total += CENTRE_WEIGHT * abs(where - (low[slot, axis] + high[slot, axis]) / 2)
            cost[i, j] = total
    chosen = cheapest_match(cost)
    for i in range(len(slots)):
        out[slots[i]] = people[chosen[i]]


@leaf
def _stand(stack: Longs, at: int, slot_lo: int, slot_hi: int, lo: int, hi: int) -> None:
    """Put a block on the stack: a range of slots and a range of people."""
    stack[at, 0], stack[at, 1], stack[at, 2], stack[at, 3] = slot_lo, slot_hi, lo, hi


@kernel
def match_value(slots: Ints, people: Ints, boxes: MatchBoxes, place: Singles, out: Ints, block: int) -> None:
    """Write a person of their own into ``out`` for every slot, in blocks cut by halving; slots are no more than people.

    Reorders ``slots`` and ``people`` in place.
    """
    low, high = boxes.low, boxes.high
    centre = np.empty(low.shape, dtype=np.float32)
    for slot in range(low.shape[0]):
        for axis in range(low.shape[1]):
            centre[slot, axis] = (low[slot, axis] + high[slot, axis]) / np.float32(2)
    stack = np.empty((128, 4), dtype=np.int64)
    _stand(stack, 0, 0, len(slots), 0, len(people))
    depth = 1
    while depth:
        depth -= 1
        slot_lo, slot_hi, lo, hi = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        n_slots, n_people = slot_hi - slot_lo, hi - lo
        if n_slots == 0:
            continue
        if n_people <= block:
            _match_block(slots[slot_lo:slot_hi], people[lo:hi], boxes, place, out)
            continue
        dim = widest_for_halves(people, HalvesBucket(lo, 1, n_people), 0, n_people, place)
        half = n_people // 2
        slot_half = n_slots * half // n_people
        select_half(people, lo, hi, half, place, dim)
        if 0 < slot_half < n_slots:
            select_half(slots, slot_lo, slot_hi, slot_half, centre, dim)
        _stand(stack, depth, slot_lo, slot_lo + slot_half, lo, lo + half)
        _stand(stack, depth + 1, slot_lo + slot_half, slot_hi, lo + half, hi)
        depth += 2


@kernel
def match_values(which: Longs, queues: MatchQueues, boxes: MatchBoxes, place: Singles, out: Ints, block: int) -> None:
    """Write into ``out`` a person for every slot of some values; reorder their queues in place.

    Different values touch different slots and people, so they may run side by side.
    """
    for value in which:
        slots = queues.slots[queues.slot_starts[value] : queues.slot_starts[value + 1]]
        if len(slots):
            people = queues.people[queues.people_starts[value] : queues.people_starts[value + 1]]
            match_value(slots, people, boxes, place, out, block)
