"""Counting records inside a box, in truth and by uniform spread over published ranges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int32]


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def count_inside(codes: Ints, low: Ints, high: Ints) -> int:
    """Records (columns x records) whose every code lies in low .. high, ends included."""
    inside = 0
    for record in range(codes.shape[1]):
        hit = True
        for column in range(codes.shape[0]):
            if codes[column, record] < low[column] or codes[column, record] > high[column]:
                hit = False
                break
        inside += hit
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
