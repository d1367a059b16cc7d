"""What one more record of a cell adds to the squares of its target's merged cells, kept for every cell.

Merging is dear, and most releases leave it as it is. A cell that has enough records and is merged with nobody may grow
without changing how the others merge. A merged cell that has enough records may grow too, until it is no longer the
smaller neighbour of a short one: so many times (``SLACK``). Only what a release can have changed is found again.
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Longs, leaf
from seriatim.kernels.gate.merged_cells import (
    ENOUGH,
    masked_merging_squares,
    merging_cells,
    merging_mask,
    merging_squares,
)

LARGEST_MASK = 63
"""Mergings of fewer cells than this are kept as bits: which cells start a merged one."""

# rows of cells, after the board's own: the squares of a merged cell stand at its first cell, 0 at the others;
# MERGED_STEP is nan where it is to be found
MERGED_OWN, MERGED_STEP = 2, 3
# rows of marks: how cells merge once one more record of a cell has left (0: to be found), into so many parts
MASK, PARTS, SLACK = 6, 7, 8
# rows of tallies: how cells merge now; LONERS are the cells that are merged with nobody, neither now nor by any MASK
MERGED_CELLS, OWN_MASK, OWN_SLACK, LONERS = 3, 4, 5, 6


@leaf
def merged_steps_count(given: Floats, cells: Floats, marks: Longs, tallies: Longs, y: int, x: int, change: int) -> None:
    """Note that cell x, whose count is written down, has changed."""
    width, c = marks.shape[2], marks[0, y, x]
    if change != 1 or c <= ENOUGH or width >= LARGEST_MASK or tallies[OWN_MASK, y] == 0:
        tallies[OWN_MASK, y] = 0
        return
    if not (tallies[LONERS, y] >> x) & 1:
        _grow_merged(given, cells, marks, tallies, y, x)
    if (_loners(tallies[OWN_MASK, y], width) >> x) & 1:
        cells[MERGED_OWN, y, x] = c * c * given[1, x]
        cells[MERGED_STEP, y, x] = (2 * c + 1) * given[1, x]


@leaf
def _grow_merged(given: Floats, cells: Floats, marks: Longs, tallies: Longs, y: int, x: int) -> None:
    """Forget what the growth of cell x may have changed, where somebody is or would be merged with it."""
    width, own = marks.shape[2], tallies[OWN_MASK, y]
    alone = _loners(own, width)
    if not (alone >> x) & 1:
        tallies[OWN_SLACK, y] -= 1
        if tallies[OWN_SLACK, y] < 0:
            tallies[OWN_MASK, y] = 0
            return
        _write_own(given, cells, marks, y, own)
    for i in range(width):
        if (alone >> i) & 1:
            continue
        cells[MERGED_STEP, y, i] = np.nan
        if not (_loners(marks[MASK, y, i], width) >> x) & 1:
            marks[SLACK, y, i] -= 1
            if marks[SLACK, y, i] < 0:
                marks[MASK, y, i] = 0


@leaf
def _loners(mask: int, width: int) -> int:
    """Return which cells are merged with nobody, as bits."""
    return mask & ((mask >> 1) | (1 << (width - 1)))


@leaf
def _write_own(given: Floats, cells: Floats, marks: Longs, y: int, mask: int) -> None:
    """Write down the squares of every merged cell."""
    width, i = marks.shape[2], 0
    while i < width:
        end, count, share = i + 1, marks[0, y, i], given[0, i]
        while end < width and not (mask >> end) & 1:
            count += marks[0, y, end]
            share += given[0, end]
            cells[MERGED_OWN, y, end] = 0.0
            end += 1
        cells[MERGED_OWN, y, i] = _squares(given, i, end, count, share)
        i = end


@leaf
def _squares(given: Floats, first: int, end: int, count: int, share: float) -> float:
    if end == first + 1:
        return float(count * count * given[1, first])
    return count * count / share if share > 0.0 else 0.0


@leaf
def merged_steps_refresh(
    given: Floats, cells: Floats, marks: Longs, tallies: Longs, merge: int, work: Longs, y: int
) -> float:
    """Find how the cells of target y merge, if that was forgotten; return the sum of their squares."""
    if tallies[OWN_MASK, y] == 0:
        _merge_anew(given, cells, marks, tallies, merge, work, y)
    total = 0.0
    for x in range(cells.shape[2]):
        total += cells[MERGED_OWN, y, x]
    return total


@leaf
def _merge_anew(given: Floats, cells: Floats, marks: Longs, tallies: Longs, merge: int, work: Longs, y: int) -> None:
    width = marks.shape[2]
    left = merging_cells(marks, y, -1, merge, work)
    i = 0
    while i < width:
        end, share = work[1, i], 0.0
        for x in range(i, end):
            share += given[0, x]
            cells[MERGED_OWN, y, x] = 0.0
            cells[MERGED_STEP, y, x] = np.nan
            marks[MASK, y, x] = 0
        cells[MERGED_OWN, y, i] = _squares(given, i, end, work[0, i], share)
        if end == i + 1:
            cells[MERGED_STEP, y, i] = (2 * work[0, i] + 1) * given[1, i]
            marks[PARTS, y, i] = left
        i = end
    tallies[MERGED_CELLS, y] = left
    if width < LARGEST_MASK:
        mask = merging_mask(work)
        tallies[OWN_MASK, y], tallies[OWN_SLACK, y], tallies[LONERS, y] = mask, work[4, 0], _loners(mask, width)


@leaf
def merged_step(
    given: Floats, cells: Floats, marks: Longs, tallies: Longs, merge: int, work: Longs, y: int, x: int
) -> float:
    """Return what one more record of cell x adds to the squares, found where it is not known."""
    step = cells[MERGED_STEP, y, x]
    if step == step:
        return float(step)
    own = 0.0
    for i in range(cells.shape[2]):
        own += cells[MERGED_OWN, y, i]
    if marks[MASK, y, x] != 0:
        step = masked_merging_squares(given, marks, y, x, marks[MASK, y, x]) - own
    else:
        marks[PARTS, y, x] = merging_cells(marks, y, x, merge, work)
        step = merging_squares(given, work) - own
        if marks.shape[2] < LARGEST_MASK:
            mask = merging_mask(work)
            marks[MASK, y, x], marks[SLACK, y, x] = mask, work[4, 0]
            tallies[LONERS, y] &= _loners(mask, marks.shape[2])
    cells[MERGED_STEP, y, x] = step
    return float(step)
