"""Merge neighbouring cells that hold too few records for Pearson's statistic, by one of two named rules."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Longs, kernel, leaf

ENOUGH = 5
SMALLEST, FORWARD, NONE = 0, 1, 2
UNBOUNDED = 1 << 60


@leaf
def merging_cells(marks: Longs, y: int, one_more: int, rule: int, work: Longs) -> int:
    """Return how many of the cells ``marks[0, y]`` remain, one record more counted at ``one_more`` unless negative.

    ``work`` is overwritten: cell i starts at i, holds ``work[0, i]`` records and ends before ``work[1, i]``; the cell
    before it is ``work[2, i]``. Entries inside a merged cell mean nothing. ``work[4, 0]`` is how many records merged
    cells that have enough may gain, all together, until cells may merge in another way.
    """
    n = marks.shape[2]
    short = 0
    work[4, 0] = UNBOUNDED
    for i in range(n):
        c = marks[0, y, i] + (i == one_more)
        work[0, i] = c
        work[1, i] = i + 1
        work[2, i] = i - 1
        if c < ENOUGH:
            short |= 1 << c
    if short == 0 or rule == NONE:
        return int(n)
    if rule == SMALLEST:
        return _merge_smallest(n, short, work)
    return _merge_forward(n, work)


@leaf
def _merge_smallest(n: int, short: int, work: Longs) -> int:
    """Join the smallest short cell (lowest index first) to its smaller neighbour (the left one on a tie), repeatedly.

    One pass per count 0 to 4 is enough: a merged cell is never smaller than the cell that was joined.
    """
    left = n
    for size in range(ENOUGH):
        if not (short >> size) & 1:
            continue
        i = 0
        while i < n and left > 1:
            if work[0, i] != size:
                i = work[1, i]
                continue
            low, high = work[2, i], work[1, i]
            gap = work[0, high] - work[0, low] if low >= 0 and high < n else UNBOUNDED
            if low >= 0 and gap >= 0:
                chosen, high = work[0, low], i
            else:
                chosen, low, gap = work[0, high], i, gap if gap == UNBOUNDED else -gap - 1
            if chosen >= ENOUGH:
                work[4, 0] = min(work[4, 0], gap)
            end = work[1, high]
            work[0, low] += work[0, high]
            work[1, low] = end
            if end < n:
                work[2, end] = low
            left -= 1
            if work[0, low] < ENOUGH:
                short |= 1 << work[0, low]
            i = low
    return left


@leaf
def _merge_forward(n: int, work: Longs) -> int:
    """Fill cells from left to right; what is left over joins the last full cell."""
    left, start, last = 0, 0, -1
    while start < n:
        end, total = start, 0
        while end < n and total < ENOUGH:
            total += work[0, end]
            end += 1
        if total < ENOUGH and last >= 0:
            work[0, last] += total
            work[1, last] = n
            return left
        work[0, start] = total
        work[1, start] = end
        left += 1
        last = start
        start = end
    return left


@leaf
def merging_squares(given: Floats, work: Longs) -> float:
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


@leaf
def merging_mask(work: Longs) -> int:
    """Return which cells start a merged cell, as bits; for fewer than 63 cells."""
    mask = 0
    i = 0
    while i < work.shape[1]:
        mask |= 1 << i
        i = work[1, i]
    return mask


@leaf
def masked_merging_squares(given: Floats, marks: Longs, y: int, one_more: int, mask: int) -> float:
    """Return ``merging_squares`` of cells ``marks[0, y]`` merged as the mask says, in the same order of additions."""
    n = marks.shape[2]
    total = 0.0
    i = 0
    while i < n:
        count = marks[0, y, i] + (i == one_more)
        end = i + 1
        if end == n or (mask >> end) & 1:
            total += count * count * given[1, i]
        else:
            share = given[0, i]
            while end < n and not (mask >> end) & 1:
                count += marks[0, y, end] + (end == one_more)
                share += given[0, end]
                end += 1
            if share > 0.0:
                total += count * count / share
        i = end
    return total


@kernel
def merging_pearson(counts: Longs, p: Floats, rule: int) -> tuple[Floats, Longs]:
    """Return Pearson's statistic and the number of cells after merging for each row of ``counts`` (one per target)."""
    n_targets, n = counts.shape
    statistics = np.zeros(n_targets)
    cells = np.ones(n_targets, dtype=np.int64)
    work = np.empty((5, n), np.int64)
    stacked = counts.reshape(1, n_targets, n)
    for y in range(n_targets):
        total = counts[y].sum()
        cells[y] = merging_cells(stacked, y, -1, rule, work)
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
