"""What one more record of a cell adds to the squares of its target's merged cells, kept for every cell.

Merging is expensive, and most releases change nothing about it, so its result is kept. A cell that has enough records
and is merged with nobody may grow without changing how the others merge. A merged cell that has enough records may grow
too, until it is no longer the smaller neighbour of a short one: ``SLACK`` times. Only what a release can have changed
is found again.

The arrays are those of :mod:`seriatim.kernels.gate.gate_board`, and travel one by one for the reason measured there.
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Longs, leaf
from seriatim.kernels.gate.merged_cells import (
    COUNT,
    END,
    ENOUGH,
    GROWTH,
    HELD,
    INVERSE,
    SHARE,
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
def merged_steps_count(
    given: Floats, cells: Floats, marks: Longs, tallies: Longs, target: int, value: int, change: int
) -> None:
    """Update in place what is kept of merging, now that a cell's count has changed."""
    width, count = marks.shape[2], marks[COUNT, target, value]
    if change != 1 or count <= ENOUGH or width >= LARGEST_MASK or tallies[OWN_MASK, target] == 0:
        tallies[OWN_MASK, target] = 0
        return
    if not (tallies[LONERS, target] >> value) & 1:
        _grow_merged(given, cells, marks, tallies, target, value)
    if (_loners(tallies[OWN_MASK, target], width) >> value) & 1:
        cells[MERGED_OWN, target, value] = count * count * given[INVERSE, value]
        cells[MERGED_STEP, target, value] = (2 * count + 1) * given[INVERSE, value]


@leaf
def _grow_merged(given: Floats, cells: Floats, marks: Longs, tallies: Longs, target: int, value: int) -> None:
    """Forget in place what a cell's growth may have changed, where it is or would be merged with others."""
    width, own = marks.shape[2], tallies[OWN_MASK, target]
    alone = _loners(own, width)
    if not (alone >> value) & 1:
        tallies[OWN_SLACK, target] -= 1
        if tallies[OWN_SLACK, target] < 0:
            tallies[OWN_MASK, target] = 0
            return
        _write_own(given, cells, marks, target, own)
    for i in range(width):
        if (alone >> i) & 1:
            continue
        cells[MERGED_STEP, target, i] = np.nan
        if not (_loners(marks[MASK, target, i], width) >> value) & 1:
            marks[SLACK, target, i] -= 1
            if marks[SLACK, target, i] < 0:
                marks[MASK, target, i] = 0


@leaf
def _loners(mask: int, width: int) -> int:
    """Return which cells are merged with nobody, as bits."""
    return mask & ((mask >> 1) | (1 << (width - 1)))


@leaf
def _write_own(given: Floats, cells: Floats, marks: Longs, target: int, mask: int) -> None:
    """Write the squares of every merged cell into ``cells``."""
    width, i = marks.shape[2], 0
    while i < width:
        end, count, share = i + 1, marks[COUNT, target, i], given[SHARE, i]
        while end < width and not (mask >> end) & 1:
            count += marks[COUNT, target, end]
            share += given[SHARE, end]
            cells[MERGED_OWN, target, end] = 0.0
            end += 1
        cells[MERGED_OWN, target, i] = _squares(given, i, end, count, share)
        i = end


@leaf
def _squares(given: Floats, first: int, end: int, count: int, share: float) -> float:
    """Return the square of the records of cells merged into one, over their share."""
    if end == first + 1:
        return float(count * count * given[INVERSE, first])
    return count * count / share if share > 0.0 else 0.0


@leaf
def merged_steps_refresh(
    given: Floats, cells: Floats, marks: Longs, tallies: Longs, merge: int, work: Longs, target: int
) -> float:
    """Return the sum of a target's squares; find in place how its cells merge, if that was forgotten."""
    if tallies[OWN_MASK, target] == 0:
        _merge_anew(given, cells, marks, tallies, merge, work, target)
    total = 0.0
    for value in range(cells.shape[2]):
        total += cells[MERGED_OWN, target, value]
    return total


@leaf
def _merge_anew(
    given: Floats, cells: Floats, marks: Longs, tallies: Longs, merge: int, work: Longs, target: int
) -> None:
    """Find in place how the cells of a target merge, from its counts."""
    width = marks.shape[2]
    left = merging_cells(marks, target, -1, merge, work)
    i = 0
    while i < width:
        end, share = work[END, i], 0.0
        for value in range(i, end):
            share += given[SHARE, value]
            cells[MERGED_OWN, target, value] = 0.0
            cells[MERGED_STEP, target, value] = np.nan
            marks[MASK, target, value] = 0
        cells[MERGED_OWN, target, i] = _squares(given, i, end, work[HELD, i], share)
        if end == i + 1:
            cells[MERGED_STEP, target, i] = (2 * work[HELD, i] + 1) * given[INVERSE, i]
            marks[PARTS, target, i] = left
        i = end
    tallies[MERGED_CELLS, target] = left
    if width < LARGEST_MASK:
        mask = merging_mask(work)
        tallies[OWN_MASK, target], tallies[OWN_SLACK, target], tallies[LONERS, target] = (
            mask,
            work[GROWTH, 0],
            _loners(mask, width),
        )


@leaf
def merged_step(
    given: Floats, cells: Floats, marks: Longs, tallies: Longs, merge: int, work: Longs, target: int, value: int
) -> float:
    """Return what one more record of a cell adds to the squares; kept in place where it was not known."""
    step = cells[MERGED_STEP, target, value]
    if step == step:
        return float(step)
    own = 0.0
    for i in range(cells.shape[2]):
        own += cells[MERGED_OWN, target, i]
    if marks[MASK, target, value] != 0:
        step = masked_merging_squares(given, marks, target, value, marks[MASK, target, value]) - own
    else:
        marks[PARTS, target, value] = merging_cells(marks, target, value, merge, work)
        step = merging_squares(given, work) - own
        if marks.shape[2] < LARGEST_MASK:
            mask = merging_mask(work)
            marks[MASK, target, value], marks[SLACK, target, value] = mask, work[GROWTH, 0]
            tallies[LONERS, target] &= _loners(mask, marks.shape[2])
    cells[MERGED_STEP, target, value] = step
    return float(step)
