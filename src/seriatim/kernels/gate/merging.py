"""Merge neighbouring cells that hold too few records for Pearson's statistic, by one of two named rules."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

ENOUGH = 5
SMALLEST, FORWARD, NONE = 0, 1, 2


@njit(cache=True, nogil=True)
def merge_cells(counts: LongArray, one_more: int, rule: int, work: LongArray) -> int:
    """Return how many cells remain, one record more counted at ``one_more`` unless it is negative.

    ``work`` is overwritten: cell i starts at i, holds ``work[0, i]`` records and ends before ``work[1, i]``; the cell
    before it is ``work[2, i]``. Entries inside a merged cell mean nothing.
    """
    n = len(counts)
    short = 0
    for i in range(n):
        c = counts[i] + (i == one_more)
        work[0, i] = c
        work[1, i] = i + 1
        work[2, i] = i - 1
        if c < ENOUGH:
            short |= 1 << c
    if short == 0 or rule == NONE:
        return n
    if rule == SMALLEST:
        return _merge_smallest(n, short, work)
    return _merge_forward(n, work)


@njit(cache=True, nogil=True)
def _merge_smallest(n: int, short: int, work: LongArray) -> int:
    """Join the smallest short cell (lowest index first) to its smaller neighbour (the left one on a tie), repeatedly.

    One pass per count 0 to 4 is enough: a merged cell is never smaller than the cell that was joined.
    """
    count, after, before = work[0], work[1], work[2]
    left = n
    for size in range(ENOUGH):
        if not (short >> size) & 1:
            continue
        i = 0
        while i < n and left > 1:
            if count[i] != size:
                i = after[i]
                continue
            low, high = before[i], after[i]
            if low >= 0 and (high >= n or count[low] <= count[high]):
                high = i
            else:
                low = i
            end = after[high]
            count[low] += count[high]
            after[low] = end
            if end < n:
                before[end] = low
            left -= 1
            if count[low] < ENOUGH:
                short |= 1 << count[low]
            i = low
    return left


@njit(cache=True, nogil=True)
def _merge_forward(n: int, work: LongArray) -> int:
    """Fill cells from left to right; what is left over joins the last full cell."""
    count, after = work[0], work[1]
    left, start, last = 0, 0, -1
    while start < n:
        end, total = start, 0
        while end < n and total < ENOUGH:
            total += count[end]
            end += 1
        if total < ENOUGH and last >= 0:
            count[last] += total
            after[last] = n
            return left
        count[start] = total
        after[start] = end
        left += 1
        last = start
        start = end
    return left


@njit(cache=True, nogil=True)
def merged_squares(given: FloatArray, work: LongArray) -> float:
    """Return the sum of count²/probability over merged cells; Pearson's statistic is this / N - N.

    Row 0 of ``given`` is the baseline, row 1 its inverse.
    """
    total = 0.0
    i = 0
    while i < work.shape[1]:
        end, count = work[1, i], work[0, i]
        if end == i + 1:
            total += count * count * given[1, i]
        else:
            share = 0.0
            for j in range(i, end):
                share += given[0, j]
            if share > 0.0:
                total += count * count / share
        i = end
    return total


@njit(cache=True, nogil=True)
def pearson_columns(counts: LongArray, p: FloatArray, rule: int) -> tuple[FloatArray, LongArray]:
    """Return Pearson's statistic and the number of cells after merging for each row of ``counts`` (one per target)."""
    n_targets, n = counts.shape
    statistics = np.zeros(n_targets)
    cells = np.ones(n_targets, dtype=np.int64)
    work = np.empty((3, n), np.int64)
    for y in range(n_targets):
        total = counts[y].sum()
        cells[y] = merge_cells(counts[y], -1, rule, work)
        if total == 0:
            continue
        i = 0
        while i < n:
            end = work[1, i]
            share = p[i:end].sum()
            if share > 0.0:
                statistics[y] += (work[0, i] - total * share) ** 2 / (total * share)
            i = end
    return statistics, cells
