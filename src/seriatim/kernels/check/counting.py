"""Counting records inside a box, in truth and by uniform spread over published ranges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int32]


_BLOCK = 4096
"""Records that are looked at column after column while they are in the cache."""


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def count_inside(codes: Ints, low: Ints, high: Ints) -> int:
    """Records (columns x records) whose every code lies in low .. high, ends included."""
    inside = 0
    hit = np.empty(_BLOCK, dtype=np.uint8)
    for first in range(0, codes.shape[1], _BLOCK):
        n = min(_BLOCK, codes.shape[1] - first)
        hit[:n] = 1
        for column in range(codes.shape[0]):
            own, lo, hi = codes[column, first : first + n], low[column], high[column]
            # no way out before the end of a block: so it runs on many records at a time
            for i in range(n):
                hit[i] &= np.uint8(own[i] >= lo) & np.uint8(own[i] <= hi)
        some = 0
        for i in range(n):
            some += hit[i]
        inside += some
    return inside


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def estimate_inside(lows: Ints, highs: Ints, weights: npt.NDArray[np.float64], low: Ints, high: Ints) -> float:
    """The expected count when each group's records are spread evenly over its box (columns x groups)."""
    total = 0.0
    for group in range(lows.shape[1]):
        share = weights[group]
        for column in range(lows.shape[0]):
            first = max(lows[column, group], low[column])
            last = min(highs[column, group], high[column])
            if last < first:
                share = 0.0
                break
            share *= (last - first + 1) / (highs[column, group] - lows[column, group] + 1)
        total += share
    return total
