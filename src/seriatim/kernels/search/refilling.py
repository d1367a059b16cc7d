"""Refilling: which empty slots of closed lineages are filled, or dropped for good, together.

A slot alone, or two, would show a newcomer as the twin of a leaver. So slots change in batches, and in the batch
as well as in what stays no value may exceed one m-th.

More rules, found by attacking. A value is refilled only where a lineage goes on holding it three times: the holders
of a lone value follow each other in a chain, and of two links that are known the one between them is given away if he
came and went alone; a second holder who stays all the time hides nobody once he is known too. Slots are dropped
together only if their people came together, because a drop shows its values, and whoever came later than the others
could not be one of them. And a batch of just m people would fall to somebody who knows m - 1 of them, so batches
and drops have a size of their own to reach.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
SHARED = 3
"""Slots of a value are refilled only in lineages that hold it this often, before and after."""


@nb.njit(cache=True, nogil=True)
def batch_counts(whole: LongArray, most: LongArray, m: int, least: int, out: LongArray) -> int:
    """The largest batch with at most ``most`` of each value that is m-eligible and leaves an m-eligible rest.

    Writes how many of each value into ``out`` and gives their sum; 0 when there is none of ``least`` or more.
    """
    total, upper = 0, 0
    for i in range(len(whole)):
        total += whole[i]
        upper += most[i]
    size = upper
    while size >= least:
        cap, allowed = size // m, (total - size) // m
        lowest, highest = 0, 0
        possible = True
        for i in range(len(whole)):
            need = max(whole[i] - allowed, 0)
            can = min(most[i], cap)
            if need > can:
                possible = False
                break
            lowest += need
            highest += can
        if possible and lowest <= size <= highest:
            left = size - lowest
            for i in range(len(whole)):
                need = max(whole[i] - allowed, 0)
                extra = min(min(most[i], cap) - need, left)
                out[i] = need + extra
                left -= extra
            return size
        # a size above what the caps let in cannot succeed at the next smaller size either
        size = min(size - 1, highest) if possible else size - 1
    return 0


@nb.njit(cache=True, nogil=True)
def gather_lineage(
    lo: int,
    hi: int,
    value: IntArray,
    empty: BoolArray,
    stays: BoolArray,
    place_of: LongArray,
    seen: LongArray,
    whole: LongArray,
    free: LongArray,
) -> int:
    """Count the different values of a lineage's slots: those that stay and the empty ones. ``place_of`` must be -1."""
    n = 0
    for s in range(lo, hi):
        v = value[s]
        if place_of[v] < 0:
            place_of[v] = n
            seen[n], whole[n], free[n] = v, 0, 0
            n += 1
        whole[place_of[v]] += stays[s]
        if empty[s]:
            free[place_of[v]] += 1
    for i in range(n):
        place_of[seen[i]] = -1
    return n


@nb.njit(cache=True, nogil=True)
def reserve_batches(
    order: LongArray,
    starts: LongArray,
    value: IntArray,
    empty: BoolArray,
    since: LongArray,
    supply: LongArray,
    waiting: LongArray,
    m: int,
    least: int,
) -> BoolArray:
    """Visit lineages in order and reserve the slots of one batch each, as far as newcomers of the values last.

    ``waiting[slot]`` counts, at the first slot of a value in its lineage, people who may come back there only.
    Changes the supply. Gives which slots are reserved: those of later arrivals (``since``) before those of the
    founders, so that the slots left empty are of people who came together and can be dropped.
    """
    n_values = len(supply)
    reserved = np.zeros(len(value), dtype=np.bool_)
    everything = np.ones(len(value), dtype=np.bool_)
    place_of = np.full(n_values, -1, dtype=np.int64)
    notes = np.zeros((5, n_values), dtype=np.int64)
    seen, whole, free, back, take = notes[0], notes[1], notes[2], notes[3], notes[4]
    for lineage in order:
        lo, hi = starts[lineage], starts[lineage + 1]
        n = gather_lineage(lo, hi, value, empty, everything, place_of, seen, whole, free)
        back[:n] = 0
        for i in range(n):
            place_of[seen[i]] = i
        for s in range(lo, hi):
            back[place_of[value[s]]] += waiting[s]
        for i in range(n):
            free[i] = min(free[i], supply[seen[i]] + back[i]) if whole[i] >= SHARED else 0
        if batch_counts(whole[:n], free[:n], m, least, take):
            for i in range(n):
                supply[seen[i]] -= max(take[i] - back[i], 0)
            founded = since[lo:hi].min()
            for later in (True, False):
                for s in range(lo, hi):
                    i = place_of[value[s]]
                    if empty[s] and not reserved[s] and take[i] > 0 and (since[s] > founded) == later:
                        reserved[s] = True
                        take[i] -= 1
        for i in range(n):
            place_of[seen[i]] = -1
    return reserved


@nb.njit(cache=True, nogil=True)
def largest_cohort(lo: int, hi: int, value: IntArray, empty: BoolArray, since: LongArray, stamp: LongArray) -> int:
    """The time of arrival with the most different values among the empty slots; -1 if none is empty.

    ``stamp`` remembers per value the last round it was counted in; stamp[-1] is the round.
    """
    best, most = -1, 0
    for s in range(lo, hi):
        if not empty[s]:
            continue
        time, first = since[s], True
        for earlier in range(lo, s):
            if empty[earlier] and since[earlier] == time:
                first = False
                break
        if not first:
            continue
        stamp[-1] += 1
        n = 0
        for other in range(s, hi):
            if empty[other] and since[other] == time and stamp[value[other]] != stamp[-1]:
                stamp[value[other]] = stamp[-1]
                n += 1
        if n > most:
            best, most = time, n
    return best


@nb.njit(cache=True, nogil=True)
def drop_slots(
    starts: LongArray,
    value: IntArray,
    empty: BoolArray,
    stays: BoolArray,
    since: LongArray,
    n_values: int,
    m: int,
    least: int,
) -> BoolArray:
    """In every lineage drop the most empty slots, ``least`` or more, of people who came at the same time.

    ``since`` says when each slot's last person came. ``stays`` leaves out the slots that were refilled just now:
    what is neither new nor dropped must be eligible too, and of a value refilled just now enough must remain.
    """
    dropped = np.zeros(len(value), dtype=np.bool_)
    open_ = np.zeros(len(value), dtype=np.bool_)
    place_of = np.full(n_values, -1, dtype=np.int64)
    stamp = np.zeros(n_values + 1, dtype=np.int64)
    notes = np.zeros((5, n_values), dtype=np.int64)
    seen, whole, free, take, fresh = notes[0], notes[1], notes[2], notes[3], notes[4]
    for lineage in range(len(starts) - 1):
        lo, hi = starts[lineage], starts[lineage + 1]
        time = largest_cohort(lo, hi, value, empty, since, stamp)
        if time < 0:
            continue
        for s in range(lo, hi):
            open_[s] = empty[s] and since[s] == time
        n = gather_lineage(lo, hi, value, open_, stays, place_of, seen, whole, free)
        fresh[:n] = 0
        for i in range(n):
            place_of[seen[i]] = i
        for s in range(lo, hi):
            fresh[place_of[value[s]]] += not stays[s]
        for i in range(n):
            if fresh[i]:
                free[i] = min(free[i], max(whole[i] + fresh[i] - SHARED, 0))
        if batch_counts(whole[:n], free[:n], m, least, take):
            for s in range(lo, hi):
                i = place_of[value[s]]
                if open_[s] and take[i] > 0:
                    dropped[s] = True
                    take[i] -= 1
        for i in range(n):
            place_of[seen[i]] = -1
    return dropped


@nb.njit(cache=True, nogil=True)
def cohort_of_rare(lo: int, hi: int, value: IntArray, empty: BoolArray, since: LongArray, whole: LongArray) -> int:
    """The time of arrival with the most empty slots of values too rare to be refilled, if there are two; else -1."""
    best, most = -1, 1
    for s in range(lo, hi):
        if not empty[s] or whole[value[s]] >= SHARED:
            continue
        n = 0
        for other in range(lo, hi):
            n += empty[other] and since[other] == since[s] and whole[value[other]] < SHARED
        if n > most:
            best, most = since[s], n
    return best


@nb.njit(cache=True, nogil=True)
def retire_rare(
    starts: LongArray, value: IntArray, empty: BoolArray, since: LongArray, n_values: int, m: int, least: int
) -> BoolArray:
    """Drop empty slots of values that are too rare here to be refilled, before they are stuck; one of each value.

    They go with as many other empty slots as make ``least``, of different values and of people who came at the same
    time, the lineage's most frequent values first; not at all where the rest would not stay m-eligible.
    """
    dropped = np.zeros(len(value), dtype=np.bool_)
    whole = np.zeros(n_values, dtype=np.int64)
    chosen = np.zeros(n_values, dtype=np.bool_)
    for lineage in range(len(starts) - 1):
        lo, hi = starts[lineage], starts[lineage + 1]
        for s in range(lo, hi):
            whole[value[s]] += 1
        time = cohort_of_rare(lo, hi, value, empty, since, whole)
        size = 0
        if time >= 0:
            for s in range(lo, hi):
                if empty[s] and since[s] == time and whole[value[s]] < SHARED and not chosen[value[s]]:
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
        if size < least or m * most > hi - lo - size:
            dropped[lo:hi] = False
        for s in range(lo, hi):
            whole[value[s]] = 0
            chosen[value[s]] = False
    return dropped
