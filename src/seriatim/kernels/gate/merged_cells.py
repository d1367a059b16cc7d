"""Merge neighbouring cells that hold too few records for Pearson's statistic, by one of two named rules."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Longs, kernel, leaf

ENOUGH = 5
SMALLEST, FORWARD, NONE = range(3)
"""The rules, in the order of ``gate.inputs.MERGES``."""
UNBOUNDED = 1 << 60

# rows of the board that merging reads: of marks, and of given
COUNT, SHARE, INVERSE = 0, 0, 1
# rows of work that merging fills, by the first cell of a merged one; GROWTH has one entry. The board has row 3
HELD, END, BEFORE, GROWTH = 0, 1, 2, 4


@leaf
def merging_cells(marks: Longs, target: int, one_more: int, rule: int, work: Longs) -> int:
    """Return how many of a target's cells remain, with one more record at ``one_more`` unless negative; fill ``work``.

    Cell i starts at i, holds ``work[HELD, i]`` records and ends before ``work[END, i]``; the cell before it is
    ``work[BEFORE, i]``. Entries inside a merged cell mean nothing. ``work[GROWTH, 0]`` is how many records merged cells
    that have enough may gain, all together, until cells may merge in another way.
    """
    n_cells = marks.shape[2]
    short = 0
    work[GROWTH, 0] = UNBOUNDED
    for i in range(n_cells):
        count = marks[COUNT, target, i] + (i == one_more)
        work[HELD, i] = count
        work[END, i] = i + 1
        work[BEFORE, i] = i - 1
        if count < ENOUGH:
            short |= 1 << count
    if short == 0 or rule == NONE:
        return int(n_cells)
    if rule == SMALLEST:
        return _merge_smallest(n_cells, short, work)
    return _merge_forward(n_cells, work)


@leaf
def _merge_smallest(n_cells: int, short: int, work: Longs) -> int:
    """Return how many cells are left; join in ``work`` short cells to their smaller neighbour, the smallest one first.

    Of equal cells the one with the lowest index comes first, of equal neighbours the left one.

    One pass per count 0 to 4 is enough: a merged cell is never smaller than the cell that was joined.
    """
    left = n_cells
    for size in range(ENOUGH):
        if not (short >> size) & 1:
            continue
        i = 0
        while i < n_cells and left > 1:
            if work[HELD, i] != size:
                i = work[END, i]
                continue
            low, high = work[BEFORE, i], work[END, i]
            gap = work[HELD, high] - work[HELD, low] if low >= 0 and high < n_cells else UNBOUNDED
            if low >= 0 and gap >= 0:
                chosen, high = work[HELD, low], i
            else:
                chosen, low, gap = work[HELD, high], i, gap if gap == UNBOUNDED else -gap - 1
            if chosen >= ENOUGH:
                work[GROWTH, 0] = min(work[GROWTH, 0], gap)
            end = work[END, high]
            work[HELD, low] += work[HELD, high]
            work[END, low] = end
            if end < n_cells:
                work[BEFORE, end] = low
            left -= 1
            if work[HELD, low] < ENOUGH:
                short |= 1 << work[HELD, low]
            i = low
    return left


@leaf
def _merge_forward(n_cells: int, work: Longs) -> int:
    """Return how many cells are left; fill those of ``work`` from left to right, the rest joins the last full one."""
    left, start, last = 0, 0, -1
    while start < n_cells:
        end, total = start, 0
        while end < n_cells and total < ENOUGH:
            total += work[HELD, end]
            end += 1
        if total < ENOUGH and last >= 0:
            work[HELD, last] += total
            work[END, last] = n_cells
            return left
        work[HELD, start] = total
        work[END, start] = end
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
        end, count = work[END, i], work[HELD, i]
        if end == i + 1:
            total += count * count * given[INVERSE, i]
        else:
            share = 0.0
            for j in range(i, end):
                share += given[SHARE, j]
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
        i = work[END, i]
    return mask


@leaf
def masked_merging_squares(given: Floats, marks: Longs, target: int, one_more: int, mask: int) -> float:
    """Return :func:`merging_squares` of a target's cells merged as the mask says, in the same order of additions."""
    n_cells = marks.shape[2]
    total = 0.0
    i = 0
    while i < n_cells:
        count = marks[COUNT, target, i] + (i == one_more)
        end = i + 1
        if end == n_cells or (mask >> end) & 1:
            total += count * count * given[INVERSE, i]
        else:
            share = given[SHARE, i]
            while end < n_cells and not (mask >> end) & 1:
                count += marks[COUNT, target, end] + (end == one_more)
                share += given[SHARE, end]
                end += 1
            if share > 0.0:
                total += count * count / share
        i = end
    return total


@kernel
def merging_pearson(counts: Longs, shares: Floats, rule: int) -> tuple[Floats, Longs]:
    """Return Pearson's statistic and the number of cells after merging for each row of ``counts`` (one per target)."""
    n_targets, n_cells = counts.shape
    statistics = np.zeros(n_targets)
    cells = np.ones(n_targets, dtype=np.int64)
    work = np.empty((5, n_cells), np.int64)
    stacked = counts.reshape(1, n_targets, n_cells)
    for target in range(n_targets):
        total = counts[target].sum()
        cells[target] = merging_cells(stacked, target, -1, rule, work)
        if total == 0:
            continue
        i = 0
        while i < n_cells:
            end = work[END, i]
            share = shares[i:end].sum()
            if share > 0.0:
                statistics[target] += (work[HELD, i] - total * share) ** 2 / (total * share)
            i = end
    return statistics, cells
