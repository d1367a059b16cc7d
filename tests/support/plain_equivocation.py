"""H(eps) in plain Python: the recurrence at one width, and all partitions one by one. Fractions, so nothing rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

Distribution = list[tuple[Fraction, float]]


def merged(values: Sequence[float | str], shares: Sequence[float]) -> Distribution:
    """Possible values in rising order, each once; texts are read as decimals."""
    found: dict[Fraction, float] = {}
    for value, share in zip(values, shares, strict=True):
        if share > 0:
            found[Fraction(str(value))] = found.get(Fraction(str(value)), 0.0) + share
    return sorted(found.items())


def bits(share: float) -> float:
    return -share * math.log2(share) if 0 < share < 1 else 0.0


def by_recurrence(given: Distribution, eps: Fraction) -> float:
    """The recurrence of the paper, from +inf in its first row."""
    best = [0.0] + [math.inf] * len(given)
    for i in range(1, len(given) + 1):
        for j in range(i):
            if given[i - 1][0] - given[j][0] <= eps:
                best[i] = min(best[i], best[j] + bits(sum(share for _, share in given[j:i])))
    return best[-1]


def by_partitions(given: Distribution, eps: Fraction) -> float:
    """All partitions into runs, one by one."""
    n, least = len(given), math.inf
    for size in range(n):
        for cuts in combinations(range(1, n), size):
            edges = [0, *cuts, n]
            runs = [given[a:b] for a, b in pairwise(edges)]
            if all(run[-1][0] - run[0][0] <= eps for run in runs):
                least = min(least, sum(bits(sum(share for _, share in run)) for run in runs))
    return least


def breakpoints(given: Distribution) -> list[Fraction]:
    return sorted({b - a for a, _ in given for b, _ in given if b >= a})


def area(given: Distribution) -> float:
    at = breakpoints(given)
    return sum(by_recurrence(given, a) * float(b - a) for a, b in pairwise(at))


def hit_chance(given: Distribution, eps: Fraction) -> float:
    return max(sum(share for b, share in given if a <= b <= a + eps) for a, _ in given)
