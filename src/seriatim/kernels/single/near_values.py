"""Class tests about numbers: how often a window hits, and what entropy a window leaves.

All of them survive a union of classes: the hit chance is convex and the least entropy concave in the distribution.
"""

from __future__ import annotations

import math

from seriatim.kernels.arrays import Floats, Longs, leaf

HIT_CHANCE, HIT_LIFT, ENTROPY_AT = range(14, 17)
SLACK = 1e-10


@leaf
def most_near_values(counts: Longs, reach: Longs) -> int:
    """Return the most records that one window holds."""
    most, inside, last = 0, 0, 0
    for first in range(len(counts)):
        while last <= reach[first]:
            inside += counts[last]
            last += 1
        most = max(most, inside)
        inside -= counts[first]
    return most


@leaf
def entropy_of_near_values(counts: Longs, size: int, reach: Longs, scratch: Floats) -> float:
    """Return the least entropy in bits over partitions into windows; overwrites ``scratch``."""
    n_values, n_held = len(counts), 0
    for value in range(n_values):
        if counts[value] > 0:
            scratch[n_values + 1 + n_held] = value
            n_held += 1
    scratch[0] = 0.0
    for i in range(1, n_held + 1):
        scratch[i] = math.inf
    for first in range(n_held):
        held, far = 0, reach[int(scratch[n_values + 1 + first])]
        for last in range(first, n_held):
            value = int(scratch[n_values + 1 + last])
            if value > far:
                break
            held += counts[value]
            share = held / size
            scratch[last + 1] = min(scratch[last + 1], scratch[first] - share * math.log2(share))
    return float(scratch[n_held])
