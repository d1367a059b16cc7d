"""Boxes of near people, by halving along the dimension in which they differ most."""

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
def cut_boxes(ids: Ints, starts: Longs, place: Singles, least: int) -> Longs:
    """Return the number of the box of every position; reorder the ids inside each run in place.

    Each run of ids is cut into boxes of ``least`` to 2 * least - 1 (fewer only where the run has fewer).
    """
    box = np.empty(len(ids), dtype=np.int64)
    stack = np.empty((128, 2), dtype=np.int64)
    n_boxes = 0
    for run in range(len(starts) - 1):
        stack[0, 0], stack[0, 1] = starts[run], starts[run + 1]
        depth = 1 if starts[run] < starts[run + 1] else 0
        while depth:
            depth -= 1
            lo, hi = stack[depth, 0], stack[depth, 1]
            size = hi - lo
            if size < 2 * least:
                for i in range(lo, hi):
                    box[i] = n_boxes
                n_boxes += 1
                continue
            half = size // 2
            select_half(ids, lo, hi, half, place, widest_for_halves(ids, HalvesBucket(lo, 1, size), 0, size, place))
            stack[depth, 0], stack[depth, 1] = lo, lo + half
            stack[depth + 1, 0], stack[depth + 1, 1] = lo + half, hi
            depth += 2
    return box
