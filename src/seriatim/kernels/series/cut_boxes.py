"""Boxes of near people, by halving along the dimension in which they differ most."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Singles, kernel
from seriatim.kernels.series.halves import HalvesBucket, select_half, widest_for_halves


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
