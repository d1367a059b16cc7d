"""How often the people of a group meet again: evidence that repeats itself must not be counted twice."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, kernel
from seriatim.kernels.belief.chains import ChainPeople


@kernel
def repeated_meeting_weights(
    ptr: Longs, person: Ints, people: ChainPeople, group: Ints, time: Ints, c: float
) -> Floats:
    """Return the weight of each group's messages: 1 / max(1, sum_h c^|t_g - t_h| w (w - 1) / (n (n - 1))).

    w is the number of people that group h, of any release, shares with group g of n people; t is a group's time, and c
    how much of a meeting counts one unit of time away. ``ptr`` and ``person`` are the people of each group, ``group``
    and ``time`` the group and time of a row.
    """
    n_groups = len(ptr) - 1
    rho, shared = np.ones(n_groups), np.zeros(n_groups, dtype=np.int32)
    seen, when = np.empty(n_groups, dtype=np.int32), np.zeros(n_groups, dtype=np.int32)
    for own in range(n_groups):
        n, n_seen, now = ptr[own + 1] - ptr[own], 0, 0
        for i in range(ptr[own], ptr[own + 1]):
            now = time[i]
            for j in range(people.ptr[person[i]], people.ptr[person[i] + 1]):
                row = people.rows[j]
                other = group[row]
                if shared[other] == 0:
                    seen[n_seen] = other
                    when[n_seen] = time[row]
                    n_seen += 1
                shared[other] += 1
        total = 0.0
        for j in range(n_seen):
            w = shared[seen[j]]
            shared[seen[j]] = 0
            if w > 1:
                total += c ** abs(when[j] - now) * w * (w - 1.0)
        if n > 1 and total > n * (n - 1.0):
            rho[own] = n * (n - 1.0) / total
    return rho
