"""Halving: balanced buckets are cut at the median of every value at once, down to one tuple of each value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Singles, kernel, leaf


@kernel
def select_half(ids: Ints, lo: int, hi: int, k: int, place: Singles, dim: int) -> None:
    """Reorder ``ids[lo:hi]`` in place so that the first k are the smallest along a dimension (Hoare's selection)."""
    target = lo + k
    hi -= 1
    while lo < hi:
        mid = (lo + hi) // 2
        first, middle, last = place[ids[lo], dim], place[ids[mid], dim], place[ids[hi], dim]
        pivot = max(min(first, middle), min(max(first, middle), last))
        i, j = lo, hi
        while i <= j:
            while place[ids[i], dim] < pivot:
                i += 1
            while place[ids[j], dim] > pivot:
                j -= 1
            if i <= j:
                ids[i], ids[j] = ids[j], ids[i]
                i += 1
                j -= 1
        if target <= j:
            hi = j
        elif target >= i:
            lo = i
        else:
            return


class HalvesBucket(NamedTuple):
    """Tuples of ``size`` values, ``step`` of each, value after value from ``base`` on."""

    base: int
    size: int
    step: int


class HalvesArrays(NamedTuple):
    """Many of them: where each begins, how many values it has, how many tuples of each."""

    bases: Longs
    sizes: Longs
    steps: Longs


@leaf
def widest_for_halves(ids: Ints, bucket: HalvesBucket, at: int, n_tuples: int, place: Singles) -> int:
    """Return the dimension along which the ``n_tuples`` tuples from ``at`` on of every value vary most.

    Two dimensions are summed in one pass: finding a tuple takes longer than adding its place.
    """
    best, dim, n_dims = -1.0, 0, place.shape[1]
    for axis in range(0, n_dims, 2):
        after = min(axis + 1, n_dims - 1)
        total, squares, total_after, squares_after = 0.0, 0.0, 0.0, 0.0
        for value in range(bucket.size):
            first = bucket.base + value * bucket.step + at
            for i in range(first, first + n_tuples):
                at_axis, at_after = place[ids[i], axis], place[ids[i], after]
                total += at_axis
                squares += at_axis * at_axis
                total_after += at_after
                squares_after += at_after * at_after
        for own, spread in (
            (axis, squares - total * total / (bucket.size * n_tuples)),
            (after, squares_after - total_after * total_after / (bucket.size * n_tuples)),
        ):
            if spread > best:
                best, dim = spread, own
    return dim


@kernel
def halve_bucket(ids: Ints, base: int, size: int, step: int, place: Singles) -> None:
    """Reorder a bucket of ``ids`` in place so that its i-th group is the i-th tuple of each value.

    The bucket holds ``size`` values with ``step`` tuples each, value after value, from ``base`` on. A node of the
    tree is the same range of every value's tuples, so the halves stay balanced without moving anything else.
    """
    stack = np.empty((64, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, step
    depth = 1
    while depth:
        depth -= 1
        at, n_tuples = stack[depth, 0], stack[depth, 1]
        if n_tuples < 2:
            continue
        dim = widest_for_halves(ids, HalvesBucket(base, size, step), at, n_tuples, place)
        half = n_tuples // 2
        for j in range(size):
            first = base + j * step + at
            select_half(ids, first, first + n_tuples, half, place, dim)
        stack[depth, 0], stack[depth, 1] = at, half
        stack[depth + 1, 0], stack[depth + 1, 1] = at + half, n_tuples - half
        depth += 2


@kernel
def halve_buckets(ids: Ints, bases: Longs, sizes: Longs, steps: Longs, place: Singles) -> None:
    """Reorder every bucket of ``ids`` in place, as :func:`halve_bucket` does."""
    for bucket in range(len(bases)):
        halve_bucket(ids, bases[bucket], sizes[bucket], steps[bucket], place)
