"""Counts of values that must stay m-eligible: no value may hold more than one m-th of what is left.

Everything here works on counts alone; which person fills a place is decided elsewhere. A tournament tree keeps
the largest count at its root, so that a step costs the logarithm of the number of values, however many there are.
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, kernel, leaf, sort_array_part


@kernel
def eligibility_tree(counts: Longs) -> Longs:
    """Return a tournament tree: the counts are its leaves, each inner place holds the larger of its two."""
    width = 1
    while width < len(counts):
        width *= 2
    tree = np.full(2 * width, -1, dtype=np.int64)
    for value in range(len(counts)):
        tree[width + value] = counts[value]
    for i in range(width - 1, 0, -1):
        tree[i] = max(tree[2 * i], tree[2 * i + 1])
    return tree


@leaf
def _put_in_eligibility_tree(tree: Longs, value: int, count: int) -> None:
    """Set the count of a value in the tree."""
    i = len(tree) // 2 + value
    tree[i] = count
    i //= 2
    while i:
        tree[i] = max(tree[2 * i], tree[2 * i + 1])
        i //= 2


@leaf
def _count_at(tree: Longs, value: int) -> int:
    """Return the count of a value in the tree."""
    return int(tree[len(tree) // 2 + value])


@leaf
def _most_frequent(tree: Longs) -> int:
    """Return the smallest value with the largest count."""
    i = 1
    while i < len(tree) // 2:
        i = 2 * i if tree[2 * i] >= tree[2 * i + 1] else 2 * i + 1
    return i - len(tree) // 2


@kernel
def largest_eligibility_cap(counts: Longs, m: int) -> int:
    """Return the largest c for which counts cut at c are m-eligible: m * c <= sum(min(count, c))."""
    ordered, n_values, rest = counts.copy(), len(counts), 0
    sort_array_part(ordered, 0, n_values)
    for count in counts:
        rest += count
    for i in range(min(m, n_values)):
        # the i most frequent values are cut at c, the others keep what they have
        cap = rest // (m - i)
        if cap >= ordered[n_values - 1 - i]:
            return int(ordered[n_values - 1]) if i == 0 else int(min(cap, ordered[n_values - i]))
        rest -= ordered[n_values - 1 - i]
    return 0


@kernel
def fill_eligibility_needs(slots: Ints, values: Ints, needs: Longs, tree: Longs, spare: Longs, m: int) -> Longs:
    """Return how many newcomers each slot takes, the rest staying m-eligible; updates tree, spare and needs in place.

    ``slots`` lists which come first. ``spare`` holds newcomers above the eligible cap: taking those costs nothing.
    """
    take = np.zeros(len(values), dtype=np.int64)
    total = 0
    for i in range(len(tree) // 2, len(tree)):
        total += max(tree[i], 0)
    for slot in slots:
        value = values[slot]
        free = min(needs[slot], spare[value])
        spare[value] -= free
        own = _count_at(tree, value)
        _put_in_eligibility_tree(tree, value, -1)
        paid = max(min(needs[slot] - free, own, total - m * max(tree[1], 0)), 0)
        _put_in_eligibility_tree(tree, value, own - paid)
        total -= paid
        take[slot] = free + paid
        needs[slot] -= free + paid
    return take


@leaf
def _rounds_left(total: int, m: int, size: int, fewest: int, most: int, outside: int) -> int:
    """Return how often one of each of ``size`` values can go so that the rest stays m-eligible."""
    rounds = min(fewest, (total - m * outside) // size)
    if size > m:
        rounds = min(rounds, (total - m * most) // (size - m))
    return max(rounds, 0)


@kernel
def join_eligible_buckets(order: Ints, starts: Longs, values: Ints, tree: Longs, m: int) -> Longs:
    """Return how many newcomers of each value join every bucket, in order; takes them from ``tree``.

    The rest stays m-eligible.
    """
    joined = np.zeros(len(starts) - 1, dtype=np.int64)
    total = 0
    for i in range(len(tree) // 2, len(tree)):
        total += max(tree[i], 0)
    held = np.empty(len(values), dtype=np.int64)
    for bucket in order:
        lo, hi = starts[bucket], starts[bucket + 1]
        fewest, most = total, 0
        for j in range(lo, hi):
            held[j] = _count_at(tree, values[j])
            fewest, most = min(fewest, held[j]), max(most, held[j])
            if held[j] == 0:
                break
        if fewest <= 0:
            continue
        for j in range(lo, hi):
            _put_in_eligibility_tree(tree, values[j], -1)
        rounds = _rounds_left(total, m, hi - lo, fewest, most, max(tree[1], 0))
        for j in range(lo, hi):
            _put_in_eligibility_tree(tree, values[j], held[j] - rounds)
        joined[bucket] = rounds
        total -= rounds * (hi - lo)
    return joined


@kernel
def new_eligible_buckets(tree: Longs, m: int) -> tuple[Longs, Longs, Longs]:
    """Return signatures for all that is left: starts, values, newcomers per value; takes them from ``tree``.

    What is left must be m-eligible; then some b >= m most frequent values can always give one each.
    """
    total = 0
    for i in range(len(tree) // 2, len(tree)):
        total += max(tree[i], 0)
    starts = np.zeros(total // m + 2, dtype=np.int64)
    values = np.empty(total, dtype=np.int64)
    joined = np.zeros(total // m + 1, dtype=np.int64)
    held = np.empty(len(tree) // 2, dtype=np.int64)
    n_buckets, at = 0, 0
    while total > 0:
        size, rounds = 0, 0
        while size < m or rounds == 0:
            value = _most_frequent(tree)
            count = _count_at(tree, value)
            if count <= 0:
                break
            held[size] = count
            values[at + size] = value
            _put_in_eligibility_tree(tree, value, -1)
            size += 1
            if size >= m:
                rounds = _rounds_left(total, m, size, count, held[0], max(tree[1], 0))
        for j in range(size):
            _put_in_eligibility_tree(tree, values[at + j], held[j] - rounds)
        if rounds == 0:
            break
        total -= rounds * size
        joined[n_buckets] = rounds
        at += size
        n_buckets += 1
        starts[n_buckets] = at
    return starts[: n_buckets + 1], values[:at], joined[:n_buckets]
