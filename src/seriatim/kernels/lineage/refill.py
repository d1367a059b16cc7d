"""Refilling: which empty slots of closed lineages are filled together.

A slot alone, or two, would show a newcomer as the twin of a leaver. So slots change in batches, and in the batch
as well as in what stays no value may exceed one m-th.

More rules, found by attacking. A value is refilled only where a lineage was founded with it and goes on holding it
three times: the holders of a lone value follow each other in a chain, and of two links that are known the one between
them is given away if he came and went alone; a second holder who stays all the time hides nobody once he is known too.
Slots that joined a lineage later do not count, since the values that joined are seen: founders could not hold them.
And a batch of just m people would fall to somebody who knows m - 1 of them, so batches have a size of their own to
reach. What is dropped for good keeps further rules (``dropping``).
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, inner, kernel

SHARED = 3
"""Slots of a value are refilled only in lineages that hold it this often since they were founded, before and after."""


@kernel
def batch_counts(whole: Longs, most: Longs, m: int, least: int, out: Longs) -> int:
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


@inner
def gather_lineage(
    lo: int,
    hi: int,
    value: Ints,
    empty: Flags,
    stays: Flags,
    place_of: Longs,
    seen: Longs,
    whole: Longs,
    free: Longs,
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


@kernel
def reserve_batches(
    order: Longs,
    starts: Longs,
    value: Ints,
    empty: Flags,
    since: Longs,
    made: Longs,
    supply: Longs,
    waiting: Longs,
    m: int,
    least: int,
) -> Flags:
    """Visit lineages in order and reserve the slots of one batch each, as far as newcomers of the values last.

    ``waiting[slot]`` counts, at the first slot of a value in its lineage, people who may come back there only.
    Changes the supply. Gives which slots are reserved: those of later arrivals (``since``) before those of the
    founders, so that the slots left empty are of people who came together and can be dropped. ``made`` says
    when each slot was added to its lineage; 0 when it was founded.
    """
    n_values = len(supply)
    reserved = np.zeros(len(value), dtype=np.bool_)
    everything = np.ones(len(value), dtype=np.bool_)
    place_of = np.full(n_values, -1, dtype=np.int64)
    notes = np.zeros((6, n_values), dtype=np.int64)
    seen, whole, free, back, take, core = notes[0], notes[1], notes[2], notes[3], notes[4], notes[5]
    for lineage in order:
        lo, hi = starts[lineage], starts[lineage + 1]
        n = gather_lineage(lo, hi, value, empty, everything, place_of, seen, whole, free)
        for i in range(n):
            back[i], core[i] = 0, 0
        for i in range(n):
            place_of[seen[i]] = i
        for s in range(lo, hi):
            back[place_of[value[s]]] += waiting[s]
            core[place_of[value[s]]] += made[s] == 0
        for i in range(n):
            free[i] = min(free[i], supply[seen[i]] + back[i]) if core[i] >= SHARED else 0
        if batch_counts(whole[:n], free[:n], m, least, take):
            for i in range(n):
                supply[seen[i]] -= max(take[i] - back[i], 0)
            founded = since[lo]
            for s in range(lo + 1, hi):
                founded = min(founded, since[s])
            for later in (True, False):
                for s in range(lo, hi):
                    i = place_of[value[s]]
                    if empty[s] and not reserved[s] and take[i] > 0 and (since[s] > founded) == later:
                        reserved[s] = True
                        take[i] -= 1
        for i in range(n):
            place_of[seen[i]] = -1
    return reserved
