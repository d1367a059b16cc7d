"""Dropping: which empty slots of closed lineages are given up for good, together.

A drop shows its values, so no value may exceed its cap in it, nor in what stays, nor in what stays of the slots that
were added to the lineage at the same time: all of these can be counted. Exactly m people would fall to somebody who
knows m - 1 of them; a drop has a size of its own to reach.

People who came at different times may go together only if those of each time hold three values or more. Somebody who
is the only one of their time in a drop is breached as soon as everyone older with their value is known: the others
cannot hold it. Beside two more of their time they are one of three, and these must be known as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Longs, inner, kernel, leaf, sort_array_part
from seriatim.kernels.lineage.refill import (
    SHARED,
    RefillLimits,
    RefillScratch,
    RefillSlots,
    blank_refill_notes,
    forget_refill,
    gather_lineage,
    refill_batch,
    refill_limit,
)

PART = 3
"""In a drop of people who came at different times, those of each time hold this many different values."""


class Drop(NamedTuple):
    """A drop that is being put together, by slot."""

    open: Flags
    """Empty slots that may still be chosen."""
    stays: Flags
    """All but those refilled just now: what is neither new nor dropped must be eligible too."""
    chosen: Flags


@leaf
def _largest_of(numbers: Longs, first: int, end: int) -> int:
    """Return the largest of ``numbers[first:end]``, which are 0 or more."""
    largest = 0
    for at in range(first, end):
        largest = max(largest, numbers[at])
    return largest


@leaf
def _count_true(flags: Flags, first: int, end: int) -> int:
    """Return how many of ``flags[first:end]`` are set."""
    found = 0
    for at in range(first, end):
        found += flags[at]
    return found


@inner
def _short_part(slots: RefillSlots, lineage: int, chosen: Flags, n_values: int) -> int:
    """Return a time of arrival of which fewer than PART values are chosen beside another time's; -1 for none."""
    first, end = slots.starts[lineage], slots.starts[lineage + 1]
    keys = np.empty(end - first, dtype=np.int64)
    n_chosen = 0
    for slot in range(first, end):
        if chosen[slot]:
            keys[n_chosen] = slots.since[slot] * n_values + slots.value[slot]
            n_chosen += 1
    sort_array_part(keys, 0, n_chosen)
    if n_chosen == 0 or keys[0] // n_values == keys[n_chosen - 1] // n_values:
        return -1
    different = 0
    for i in range(n_chosen):
        different += i == 0 or keys[i] != keys[i - 1]
        if i + 1 == n_chosen or keys[i + 1] // n_values != keys[i] // n_values:
            if different < PART:
                return int(keys[i] // n_values)
            different = 0
    return -1


@leaf
def _broken_rest(slots: RefillSlots, lineage: int, chosen: Flags, counts: Longs, limits: RefillLimits) -> int:
    """Return when slots were added of which the chosen leave an unfair rest, or too few of a later addition; else -1.

    ``counts`` must be 0 for every value, and is so afterwards.
    """
    first, end, value, made = slots.starts[lineage], slots.starts[lineage + 1], slots.value, slots.made
    at_once = _largest_of(made, first, end) == 0
    for one in range(first, end):
        if not chosen[one]:
            continue
        size = 0
        for slot in range(first, end):
            if made[slot] == made[one] and not chosen[slot]:
                counts[value[slot]] += 1
                size += 1
        unfair = 0 < size < limits.least and made[one] > 0
        for slot in range(first, end):
            unfair = unfair or counts[value[slot]] > refill_limit(size, value[slot], limits.staying, limits)
            counts[value[slot]] = 0
        if unfair:
            return int(made[one])
        if at_once:
            break
    return -1


@inner
def _choose_largest(slots: RefillSlots, lineage: int, drop: Drop, notes: RefillScratch, limits: RefillLimits) -> int:
    """Return how many open slots of a lineage can be dropped at most, as far as values go; mark them in ``drop``.

    Slots of the times with the most open slots are taken first.
    """
    first, end, value, since = slots.starts[lineage], slots.starts[lineage + 1], slots.value, slots.since
    place_of, free, take, held = notes.place_of, notes.free, notes.take, notes.held
    n_held = gather_lineage(slots, lineage, drop.open, drop.stays, notes)
    for i in range(n_held):
        held[i], take[i] = 0, 0
    for slot in range(first, end):
        i = place_of[value[slot]]
        held[i] += slots.made[slot] == 0
        take[i] += not drop.stays[slot]
    for i in range(n_held):
        if take[i] > 0:  # refilled just now
            free[i] = min(free[i], max(held[i] - SHARED, 0))
    size = refill_batch(notes.whole[:n_held], free[:n_held], notes.seen[:n_held], limits, take)
    crowd = np.zeros(_largest_of(since, first, end) + 1, dtype=np.int64)
    for slot in range(first, end):
        crowd[since[slot]] += drop.open[slot]
    while size > 0:
        time = 0
        for later in range(1, len(crowd)):
            if crowd[later] > crowd[time]:
                time = later
        if crowd[time] == 0:
            break
        crowd[time] = 0
        for slot in range(first, end):
            i = place_of[value[slot]]
            if drop.open[slot] and since[slot] == time and take[i] > 0:
                drop.chosen[slot] = True
                take[i] -= 1
    forget_refill(notes, n_held)
    return size


@kernel
def drop_slots(slots: RefillSlots, stays: Flags, n_values: int, limits: RefillLimits) -> Flags:
    """Return which slots to drop: in every lineage the most empty ones, ``least`` or more, that may go together.

    ``stays`` leaves out the slots that were refilled just now: what is neither new nor dropped must be eligible too,
    and of a value refilled just now enough must remain.
    """
    drop = Drop(slots.empty.copy(), stays, np.zeros(len(slots.value), dtype=np.bool_))
    notes, counts = blank_refill_notes(n_values), np.zeros(n_values, dtype=np.int64)
    for lineage in range(len(slots.starts) - 1):
        first, end = slots.starts[lineage], slots.starts[lineage + 1]
        while _count_true(drop.open, first, end) >= limits.least:
            if _choose_largest(slots, lineage, drop, notes, limits) == 0:
                break
            time = _short_part(slots, lineage, drop.chosen, n_values)
            added = _broken_rest(slots, lineage, drop.chosen, counts, limits) if time < 0 else -1
            if time < 0 and added < 0:
                break
            for slot in range(first, end):
                drop.chosen[slot] = False
                drop.open[slot] = drop.open[slot] and slots.since[slot] != time and slots.made[slot] != added
    return drop.chosen


@inner
def _cohort_of_rare(slots: RefillSlots, lineage: int, held: Longs) -> int:
    """Return the time of arrival with the most empty slots of values too rare to be refilled, if two; else -1."""
    first, end, since = slots.starts[lineage], slots.starts[lineage + 1], slots.since
    crowd = np.zeros(_largest_of(since, first, end) + 1, dtype=np.int64)
    best, most = -1, 1
    for slot in range(first, end):
        if slots.empty[slot] and held[slots.value[slot]] < SHARED:
            crowd[since[slot]] += 1
            if crowd[since[slot]] > most:
                best, most = since[slot], crowd[since[slot]]
    return best


@kernel
def drop_rare(slots: RefillSlots, n_values: int, limits: RefillLimits) -> Flags:
    """Return which empty slots to drop since their values are too rare here to be refilled; one of each value.

    They go with as many other empty slots as make ``least``, of different values and of people who came at the same
    time, the lineage's most frequent values first; not at all where the rest would not stay fair.
    """
    value, empty, since = slots.value, slots.empty, slots.since
    dropped = np.zeros(len(value), dtype=np.bool_)
    whole, held, counts = (
        np.zeros(n_values, dtype=np.int64), np.zeros(n_values, dtype=np.int64), np.zeros(n_values, dtype=np.int64)
    )  # fmt: skip
    chosen = np.zeros(n_values, dtype=np.bool_)
    for lineage in range(len(slots.starts) - 1):
        first, end = slots.starts[lineage], slots.starts[lineage + 1]
        for slot in range(first, end):
            whole[value[slot]] += 1
            held[value[slot]] += slots.made[slot] == 0
        time = _cohort_of_rare(slots, lineage, held)
        size = 0
        if time >= 0:
            for slot in range(first, end):
                if empty[slot] and since[slot] == time and held[value[slot]] < SHARED and not chosen[value[slot]]:
                    dropped[slot] = chosen[value[slot]] = True
                    size += 1
        while 0 < size < limits.least:
            best = -1
            for slot in range(first, end):
                free = empty[slot] and since[slot] == time and not chosen[value[slot]]
                if free and (best < 0 or whole[value[slot]] > whole[value[best]]):
                    best = slot
            if best < 0:
                break
            dropped[best] = chosen[value[best]] = True
            size += 1
        broken = size < limits.least
        for slot in range(first, end):
            stay = whole[value[slot]] - chosen[value[slot]]
            broken = broken or stay > refill_limit(end - first - size, value[slot], limits.staying, limits)
            broken = broken or chosen[value[slot]] > refill_limit(size, value[slot], limits.strangers, limits)
        if broken or _broken_rest(slots, lineage, dropped, counts, limits) >= 0:
            for slot in range(first, end):
                dropped[slot] = False
        for slot in range(first, end):
            whole[value[slot]] = held[value[slot]] = 0
            chosen[value[slot]] = False
    return dropped
