"""How near an attacker comes to a number in every class: the best hit chance, and the entropy that is left.

``reach[v]`` is the last value that a window from value v holds. Classes are sparse runs, see ``value_counts``.
"""

from __future__ import annotations

import math

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, kernel


@kernel
def hit_chances_of_near_values(starts: Longs, value: Ints, count: Ints, reach: Longs) -> Floats:
    """Return the largest share of each class in one window; nan for an empty class."""
    chances = np.full(len(starts) - 1, np.nan)
    for each in range(len(chances)):
        last, size, inside, most = starts[each], 0, 0, 0
        for first in range(starts[each], starts[each + 1]):
            size += count[first]
            while last < starts[each + 1] and value[last] <= reach[value[first]]:
                inside += count[last]
                last += 1
            most = max(most, inside)
            inside -= count[first]
        if size > 0:
            chances[each] = most / size
    return chances


@kernel
def entropies_of_near_values(starts: Longs, value: Ints, count: Ints, reach: Longs) -> Floats:
    """Return each class's least entropy, in bits, over partitions into windows; nan for an empty class."""
    entropies = np.full(len(starts) - 1, np.nan)
    longest = 0
    for each in range(len(entropies)):
        longest = max(longest, starts[each + 1] - starts[each])
    best = np.empty(longest + 1)
    for each in range(len(entropies)):
        begin, n_held, size = starts[each], starts[each + 1] - starts[each], 0
        for i in range(begin, starts[each + 1]):
            size += count[i]
        if size == 0:
            continue
        best[0] = 0.0
        for i in range(1, n_held + 1):
            best[i] = np.inf
        for first in range(n_held):
            held, last = 0, first
            while last < n_held and value[begin + last] <= reach[value[begin + first]]:
                held += count[begin + last]
                share = held / size
                best[last + 1] = min(best[last + 1], best[first] - share * math.log2(share))
                last += 1
        entropies[each] = best[n_held] if best[n_held] > 1e-12 else 0.0
    return entropies
