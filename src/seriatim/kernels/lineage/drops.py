"""Dropping: which empty slots of closed lineages are given up for good, together.

A drop shows its values, so no value may exceed one m-th in it, nor in what stays, nor in what stays of the slots that
were added to the lineage at the same time: all of these can be counted. Exactly m people would fall to somebody who
knows m - 1 of them; a drop has a size of its own to reach.

People who came at different times may go together only if those of each time hold three values or more. Somebody who
is the only one of his time in a drop is given away as soon as everyone older with his value is known: the others
cannot hold it. Beside two more of his time he is one of three, and these must be known as well.
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, ascend, inner, kernel
from seriatim.kernels.lineage.refill import SHARED, batch_counts, gather_lineage

PART = 3
"""In a drop of people who came at different times, those of each time hold this many different values."""


@inner
def largest_of(numbers: Longs, lo: int, hi: int) -> int:
    largest = 0
    for s in range(lo, hi):
        largest = max(largest, numbers[s])
    return largest


@inner
def count_true(flags: Flags, lo: int, hi: int) -> int:
    found = 0
    for s in range(lo, hi):
        found += flags[s]
    return found


@inner
def short_part(lo: int, hi: int, value: Ints, chosen: Flags, since: Longs, n_values: int) -> int:
    """A time of arrival of which fewer than PART values are chosen beside another time's; -1 if there is none."""
    keys = np.empty(hi - lo, dtype=np.int64)
    n = 0
    for s in range(lo, hi):
        if chosen[s]:
            keys[n] = since[s] * n_values + value[s]
            n += 1
    ascend(keys, 0, n)
    if n == 0 or keys[0] // n_values == keys[n - 1] // n_values:
        return -1
    different = 0
    for i in range(n):
        different += i == 0 or keys[i] != keys[i - 1]
        if i + 1 == n or keys[i + 1] // n_values != keys[i] // n_values:
            if different < PART:
                return int(keys[i] // n_values)
            different = 0
    return -1


@inner
def broken_rest(lo: int, hi: int, value: Ints, chosen: Flags, made: Longs, counts: Longs, m: int, least: int) -> int:
    """When slots were added of which the chosen ones leave an unfair rest, or too few of a later addition; else -1.

    ``counts`` must be 0 for every value, and is so afterwards.
    """
    at_once = largest_of(made, lo, hi) == 0
    for c in range(lo, hi):
        if not chosen[c]:
            continue
        size, most = 0, 0
        for s in range(lo, hi):
            if made[s] == made[c] and not chosen[s]:
                counts[value[s]] += 1
                size += 1
                most = max(most, counts[value[s]])
        for s in range(lo, hi):
            counts[value[s]] = 0
        if m * most > size or (0 < size < least and made[c] > 0):
            return int(made[c])
        if at_once:
            break
    return -1


@inner
def choose_largest(
    lo: int, hi: int, value: Ints, open_: Flags, stays: Flags, since: Longs, made: Longs,
    notes: Longs, m: int, least: int, chosen: Flags,
) -> int:  # fmt: skip
    """Choose the most open slots of a lineage that can be dropped as far as values go; gives how many.

    Slots of the times with the most open slots are taken first. ``notes`` has six rows of one entry per value, the
    first of them -1.
    """
    place_of, seen, whole, free, take, held = notes[0], notes[1], notes[2], notes[3], notes[4], notes[5]
    n = gather_lineage(lo, hi, value, open_, stays, place_of, seen, whole, free)
    for i in range(n):
        place_of[seen[i]] = i
    for i in range(n):
        held[i], take[i] = 0, 0
    for s in range(lo, hi):
        i = place_of[value[s]]
        held[i] += made[s] == 0
        take[i] += not stays[s]
    for i in range(n):
        if take[i] > 0:  # refilled just now
            free[i] = min(free[i], max(held[i] - SHARED, 0))
    size = batch_counts(whole[:n], free[:n], m, least, take)
    crowd = np.zeros(largest_of(since, lo, hi) + 1, dtype=np.int64)
    for s in range(lo, hi):
        crowd[since[s]] += open_[s]
    while size > 0:
        time = 0
        for later in range(1, len(crowd)):
            if crowd[later] > crowd[time]:
                time = later
        if crowd[time] == 0:
            break
        crowd[time] = 0
        for s in range(lo, hi):
            i = place_of[value[s]]
            if open_[s] and since[s] == time and take[i] > 0:
                chosen[s] = True
                take[i] -= 1
    for i in range(n):
        place_of[seen[i]] = -1
    return size


@kernel
def drop_slots(
    starts: Longs, value: Ints, empty: Flags, stays: Flags, since: Longs, made: Longs,
    n_values: int, m: int, least: int,
) -> Flags:  # fmt: skip
    """In every lineage drop the most empty slots, ``least`` or more, that may go together.

    ``since`` says when each slot's last person came, ``made`` when the slot was added (0: with the lineage).
    ``stays`` leaves out the slots that were refilled just now: what is neither new nor dropped must be eligible too,
    and of a value refilled just now enough must remain.
    """
    dropped, open_ = np.zeros(len(value), dtype=np.bool_), empty.copy()
    notes, counts = np.zeros((6, n_values), dtype=np.int64), np.zeros(n_values, dtype=np.int64)
    for value_at in range(n_values):
        notes[0, value_at] = -1
    for lineage in range(len(starts) - 1):
        lo, hi = starts[lineage], starts[lineage + 1]
        while count_true(open_, lo, hi) >= least:
            if choose_largest(lo, hi, value, open_, stays, since, made, notes, m, least, dropped) == 0:
                break
            time = short_part(lo, hi, value, dropped, since, n_values)
            added = broken_rest(lo, hi, value, dropped, made, counts, m, least) if time < 0 else -1
            if time < 0 and added < 0:
                break
            for s in range(lo, hi):
                dropped[s] = False
                open_[s] = open_[s] and since[s] != time and made[s] != added
    return dropped


@inner
def cohort_of_rare(lo: int, hi: int, value: Ints, empty: Flags, since: Longs, held: Longs) -> int:
    """The time of arrival with the most empty slots of values too rare to be refilled, if there are two; else -1."""
    crowd = np.zeros(largest_of(since, lo, hi) + 1, dtype=np.int64)
    best, most = -1, 1
    for s in range(lo, hi):
        if empty[s] and held[value[s]] < SHARED:
            crowd[since[s]] += 1
            if crowd[since[s]] > most:
                best, most = since[s], crowd[since[s]]
    return best


@kernel
def retire_rare(
    starts: Longs, value: Ints, empty: Flags, since: Longs, made: Longs, n_values: int, m: int,
    least: int,
) -> Flags:  # fmt: skip
    """Drop empty slots of values that are too rare here to be refilled, before they are stuck; one of each value.

    They go with as many other empty slots as make ``least``, of different values and of people who came at the same
    time, the lineage's most frequent values first; not at all where the rest would not stay m-eligible.
    """
    dropped = np.zeros(len(value), dtype=np.bool_)
    whole, held, counts = (
        np.zeros(n_values, dtype=np.int64), np.zeros(n_values, dtype=np.int64), np.zeros(n_values, dtype=np.int64)
    )  # fmt: skip
    chosen = np.zeros(n_values, dtype=np.bool_)
    for lineage in range(len(starts) - 1):
        lo, hi = starts[lineage], starts[lineage + 1]
        for s in range(lo, hi):
            whole[value[s]] += 1
            held[value[s]] += made[s] == 0
        time = cohort_of_rare(lo, hi, value, empty, since, held)
        size = 0
        if time >= 0:
            for s in range(lo, hi):
                if empty[s] and since[s] == time and held[value[s]] < SHARED and not chosen[value[s]]:
                    dropped[s] = chosen[value[s]] = True
                    size += 1
        while 0 < size < least:
            best = -1
            for s in range(lo, hi):
                free = empty[s] and since[s] == time and not chosen[value[s]]
                if free and (best < 0 or whole[value[s]] > whole[value[best]]):
                    best = s
            if best < 0:
                break
            dropped[best] = chosen[value[best]] = True
            size += 1
        most = 0
        for s in range(lo, hi):
            most = max(most, whole[value[s]] - chosen[value[s]])
        broken = size < least or m * most > hi - lo - size
        if broken or broken_rest(lo, hi, value, dropped, made, counts, m, least) >= 0:
            for s in range(lo, hi):
                dropped[s] = False
        for s in range(lo, hi):
            whole[value[s]] = held[value[s]] = 0
            chosen[value[s]] = False
    return dropped
