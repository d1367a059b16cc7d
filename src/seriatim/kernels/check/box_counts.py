"""Counting records inside a box, in truth and by uniform spread over published ranges."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, kernel


@kernel
def count_inside(codes: Ints, asked: Ints, low: Ints, high: Ints) -> int:
    """Return how many records (columns x records) have codes in low .. high, ends included, in the asked columns."""
    # column by column without a branch: random records would be guessed wrong half of the time
    inside = np.ones(codes.shape[1], dtype=np.uint8)
    for column in asked:
        first, last = low[column], high[column]
        for record in range(codes.shape[1]):
            inside[record] &= (codes[column, record] >= first) & (codes[column, record] <= last)
    found = 0
    for record in range(len(inside)):
        found += inside[record]
    return found


@kernel
def estimate_box_counts(lows: Ints, highs: Ints, weights: Floats, asked: Ints, low: Ints, high: Ints) -> float:
    """Return the expected count when each group's records are spread evenly over its box (columns x groups)."""
    expected = weights.copy()
    for column in asked:
        first, last = low[column], high[column]
        for group in range(lows.shape[1]):
            begin, end = lows[column, group], highs[column, group]
            common = max(min(end, last) - max(begin, first) + 1, 0)
            expected[group] *= common / (end - begin + 1)
    total = 0.0
    for group in range(len(expected)):
        total += expected[group]
    return total
