"""Halving: balanced buckets are cut at the median of every value at once, down to one tuple of each value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Singles, kernel
from seriatim.kernels.series.cut_boxes import HalvesBucket, select_half, widest_for_halves


class HalvesArrays(NamedTuple):
    """Many of them: where each begins, how many values it has, how many tuples of each."""

    bases: Longs
    sizes: Longs
    steps: Longs


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
