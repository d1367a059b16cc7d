"""Class tests beyond l and t: how far the shares of values in a class may be from the prior.

Shares are compared, not their ratios, so a value the prior does not hold needs no special case; a tie keeps the
promise within ``SLACK``, which is less than what the judging side allows.

About numbers: how often a window hits, and what entropy a window leaves. Both survive a union of classes: the hit
chance is convex and the least entropy concave in the distribution.
"""

from __future__ import annotations

import math

from seriatim.kernels.arrays import Floats, Longs, inner, leaf

HIT_CHANCE, HIT_LIFT, ENTROPY_AT = range(14, 17)


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


ALPHA, BETA_BASIC, BETA_ENHANCED, DELTA, AT_LEAST, AT_MOST, DISTRIBUTION_LEAKAGE, ENTROPY_LEAKAGE = range(6, 14)

SLACK = 1e-10


@leaf
def total_count(counts: Longs) -> int:
    """Return the sum of the counts."""
    total = 0
    for count in counts:
        total += count
    return total


@leaf
def passes_test(kind: int, limit: float, second: float, counts: Longs, prior: Longs, size: int) -> bool:
    """Return whether a class passes one of these tests; ``second`` is the value that a bound on one value is about."""
    if kind == AT_LEAST:
        return bool(counts[int(second)] / size >= limit - SLACK)
    if kind == AT_MOST:
        return bool(counts[int(second)] / size <= limit + SLACK)
    total = total_count(prior)
    if kind == DISTRIBUTION_LEAKAGE:
        apart = 0.0
        for value in range(len(counts)):
            apart += (counts[value] / size - prior[value] / total) ** 2
        return bool(math.sqrt(apart) <= limit + SLACK)
    if kind == ENTROPY_LEAKAGE:
        return bool(abs(_bits(counts, size) - _bits(prior, total)) <= limit + SLACK)
    for value in range(len(counts)):
        share, before = counts[value] / size, prior[value] / total
        if kind == ALPHA:
            if share > limit + SLACK:
                return False
        elif kind == DELTA:
            if before > 0.0 and (share == 0.0 or abs(math.log(share / before)) > limit + SLACK):
                return False
        elif share > before:
            gain = limit if kind == BETA_BASIC else min(limit, -math.log(before))
            if share - before > (gain + SLACK) * before:
                return False
    return True


@inner
def _bits(counts: Longs, size: int) -> float:
    """Return the entropy of a class in bits."""
    bits = 0.0
    for count in counts:
        if count > 0:
            bits -= count / size * math.log2(count / size)
    return bits
