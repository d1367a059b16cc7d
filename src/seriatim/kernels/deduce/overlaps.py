"""Which groups of different releases share people."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, kernel


@kernel
def overlaps(mem_ptr: Longs, mem: Ints, per_ptr: Longs, per: Ints, least: int) -> tuple[Longs, Ints]:
    """Return for each group the groups that share at least ``least`` people with it, all its own excepted.

    A pair whose groups are the same people without anyone over teaches nothing and is left out.
    """
    n_groups = len(mem_ptr) - 1
    ptr = np.zeros(n_groups + 1, dtype=np.int64)
    shared = np.zeros(n_groups, dtype=np.int32)
    seen = np.empty(n_groups, dtype=np.int32)
    found = np.empty(max(16, n_groups), dtype=np.int32)
    n_found = 0
    for group in range(n_groups):
        n_seen = 0
        for i in range(mem_ptr[group], mem_ptr[group + 1]):
            episode = mem[i]
            for j in range(per_ptr[episode], per_ptr[episode + 1]):
                other = per[j]
                # met for the first time: the list of these is what is wiped at the end
                if shared[other] == 0:
                    seen[n_seen] = other
                    n_seen += 1
                shared[other] += 1
        size = mem_ptr[group + 1] - mem_ptr[group]
        if n_found + n_seen > len(found):
            grown = np.empty(max(2 * len(found), n_found + n_seen), dtype=np.int32)
            for i in range(n_found):
                grown[i] = found[i]
            found = grown
        for i in range(n_seen):
            other = seen[i]
            same = shared[other] == size and mem_ptr[other + 1] - mem_ptr[other] == size
            if other != group and shared[other] >= least and not same:
                found[n_found] = other
                n_found += 1
            shared[other] = 0
        ptr[group + 1] = n_found
    return ptr, found[:n_found].copy()
