"""Would a class with these counts keep the promises? The search's own test, shared by all defences that cut.

The promises are judged again later, by other code, from the published table. This one must be quick: it works on
histograms that a cut has just made. Comparisons are in integers where they can be; a tie keeps the promise within
a relative 1e-9, since a float may land on either side of a threshold that was met exactly.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from seriatim.kernels.arrays import Floats, Ints, Longs, inner, kernel, leaf

HIT_CHANCE, HIT_LIFT, ENTROPY_AT = range(14, 17)


@leaf
def most_near_values(counts: Longs, reach: Longs) -> int:
    """Return the most records that one window holds."""
    most, inside, last = 0, 0, 0
    for first in range(len(counts)):
        # both ends only move up: one walk for all windows
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
            # values come in order: all further ones lie outside the window too
            if value > far:
                break
            held += counts[value]
            share = held / size
            scratch[last + 1] = min(scratch[last + 1], scratch[first] - share * math.log2(share))
    return float(scratch[n_held])


ALPHA, BETA_BASIC, BETA_ENHANCED, DELTA, AT_LEAST, AT_MOST, DISTRIBUTION_LEAKAGE, ENTROPY_LEAKAGE = range(6, 14)

LIKENESS_SLACK = 1e-10


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
        return bool(counts[int(second)] / size >= limit - LIKENESS_SLACK)
    if kind == AT_MOST:
        return bool(counts[int(second)] / size <= limit + LIKENESS_SLACK)
    total = total_count(prior)
    if kind == DISTRIBUTION_LEAKAGE:
        apart = 0.0
        for value in range(len(counts)):
            apart += (counts[value] / size - prior[value] / total) ** 2
        return bool(math.sqrt(apart) <= limit + LIKENESS_SLACK)
    if kind == ENTROPY_LEAKAGE:
        return bool(abs(_bits(counts, size) - _bits(prior, total)) <= limit + LIKENESS_SLACK)
    for value in range(len(counts)):
        share, before = counts[value] / size, prior[value] / total
        if kind == ALPHA:
            if share > limit + LIKENESS_SLACK:
                return False
        elif kind == DELTA:
            if before > 0.0 and (share == 0.0 or abs(math.log(share / before)) > limit + LIKENESS_SLACK):
                return False
        # only gains count: a value that became rarer is no disclosure
        elif share > before:
            # enhanced: a frequent value may gain less, or nearly everyone of a class could have it
            gain = limit if kind == BETA_BASIC else min(limit, -math.log(before))
            if share - before > (gain + LIKENESS_SLACK) * before:
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


L_DISTINCT, L_ENTROPY, L_RECURSIVE, T_EQUAL, T_ORDERED, T_HIERARCHICAL = range(6)

DECLARED = 1.0
SLACK = 1e-9


class ClassTests(NamedTuple):
    """What every class must pass, and the prior counts of the sensitive columns, one after the other."""

    kinds: Longs
    columns: Longs
    """Which sensitive column each test looks at."""
    limits: Floats
    seconds: Floats
    """The second parameter of a test: c of recursive diversity; the value that a bound is about; for the ordered
    distance ``DECLARED`` when values that nobody has count as steps too."""
    offsets: Longs
    """Where the counts of each sensitive column begin; one more than there are columns."""
    prior: Longs
    starts: Ints
    """Value trees for the hierarchical distance: ``starts`` of each column's scale, flat, heights in order."""
    start_offsets: Longs
    tops: Longs
    reach: Longs
    """The last value that a window from each value holds, array after array; ``seconds`` says where each starts."""


@kernel
def passes_tests(tests: Any, counts: Longs, size: int, scratch: Floats) -> bool:
    """Return whether a class of ``size`` records with these flat counts passes every test.

    ``scratch`` has room for twice the largest domain.
    """
    for index in range(len(tests.kinds)):
        column = tests.columns[index]
        begin, end = tests.offsets[column], tests.offsets[column + 1]
        if not _passes(tests, index, counts[begin:end], tests.prior[begin:end], size, scratch):
            return False
    return True


@leaf
def _passes(
    tests: Any,
    index: int,
    counts: Longs,
    prior: Longs,
    size: int,
    scratch: Floats,
) -> bool:
    """Return whether a class passes one test; overwrites ``scratch``."""
    kind, limit = tests.kinds[index], tests.limits[index]
    if kind >= HIT_CHANCE:
        return bool(_leaves_enough(tests, index, counts, prior, size, scratch))
    if kind > T_HIERARCHICAL:
        return bool(passes_test(kind, limit, tests.seconds[index], counts, prior, size))
    if kind == L_DISTINCT:
        distinct = 0
        for count in counts:
            if count > 0:
                distinct += 1
                if distinct >= limit:
                    break
        return bool(distinct >= limit)
    if kind == L_ENTROPY:
        return bool(_entropy(counts, size) >= math.log(limit) - SLACK)
    if kind == L_RECURSIVE:
        return bool(_recursive(counts, size, math.ceil(limit), tests.seconds[index], scratch))
    total = total_count(prior)
    if kind == T_EQUAL:
        # in whole numbers, times both sizes: floats would tie at the threshold
        apart, allowed = 0, 2.0 * limit * total * size * (1.0 + SLACK)
        for value in range(len(counts)):
            apart += abs(counts[value] * total - prior[value] * size)
            if apart > allowed:
                return False
        return True
    if kind == T_ORDERED:
        carried, moved, steps = 0, 0, -1
        for value in range(len(counts)):
            # a value that nobody has is no step on the way, unless the policy lists it
            if prior[value] > 0 or tests.seconds[index] == DECLARED:
                moved += abs(carried)
                carried += counts[value] * total - prior[value] * size
                steps += 1
        return bool(moved <= limit * total * size * max(steps, 1) * (1.0 + SLACK))
    column = tests.columns[index]
    starts = tests.starts[tests.start_offsets[column] : tests.start_offsets[column + 1]]
    distance = _tree_distance(counts, prior, size, starts, tests.tops[column], scratch)
    return bool(distance <= limit * (1.0 + SLACK))


@leaf
def _leaves_enough(tests: Any, index: int, counts: Longs, prior: Longs, size: int, scratch: Floats) -> bool:
    """Return whether an attacker who is content to be near stays uncertain enough; overwrites ``scratch``."""
    kind, limit, at, n_values = tests.kinds[index], tests.limits[index], int(tests.seconds[index]), len(counts)
    reach = tests.reach[at : at + n_values]
    if kind == ENTROPY_AT:
        return bool(entropy_of_near_values(counts, size, reach, scratch) >= limit - LIKENESS_SLACK)
    chance = most_near_values(counts, reach) / size
    if kind == HIT_LIFT:
        before = most_near_values(prior, reach) / total_count(prior)
        limit = before + limit * (1.0 - before)
    return bool(chance <= limit + LIKENESS_SLACK)


@leaf
def _entropy(counts: Longs, size: int) -> float:
    """Return the entropy of a class in nats."""
    total = 0.0
    for count in counts:
        if count > 0:
            total += count * math.log(count)
    return math.log(size) - total / size if size > 0 else 0.0


@leaf
def _recursive(counts: Longs, size: int, depth: int, c: float, scratch: Floats) -> bool:
    """Return whether r1 < c (r_l + ... + r_m), r1 the count of the MOST frequent value; overwrites ``scratch``."""
    n_values = len(counts)
    if depth > n_values:
        return False
    for value in range(n_values):
        scratch[value] = counts[value]
    most, tail = 0.0, float(size)
    # only the largest few are wanted: selecting them is sooner done than sorting
    for rank in range(max(depth - 1, 1)):
        largest = rank
        for value in range(rank + 1, n_values):
            if scratch[value] > scratch[largest]:
                largest = value
        scratch[rank], scratch[largest] = scratch[largest], scratch[rank]
        most = max(most, scratch[rank])
        if rank < depth - 1:
            tail -= scratch[rank]
    return bool(most < c * tail)


@leaf
def _tree_distance(
    counts: Longs,
    prior: Longs,
    size: int,
    starts: Ints,
    top: int,
    scratch: Floats,
) -> float:
    """Return the earth mover's distance, moves costing the lowest common node's height; overwrites ``scratch``."""
    n_values = len(counts)
    total = float(total_count(prior))
    for value in range(n_values):
        scratch[value] = counts[value] / size - prior[value] / total
    cost = 0.0
    for height in range(1, top + 1):
        value = 0
        while value < n_values:
            node = starts[height * n_values + value]
            gain, lack, child = 0.0, 0.0, value
            while value < n_values and starts[height * n_values + value] == node:
                # a child's surplus sits at its first value
                if starts[(height - 1) * n_values + value] == value:
                    if scratch[value] > 0:
                        gain += scratch[value]
                    else:
                        lack -= scratch[value]
                value += 1
            # what can be evened out below this node need not go higher; the rest is carried up
            cost += height / top * min(gain, lack)
            scratch[child] = gain - lack
    return cost
