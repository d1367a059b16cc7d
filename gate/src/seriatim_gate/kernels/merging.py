"""Merging: Pearson's statistic joins neighbouring cells that hold too few records, by one of two named rules.

Merging is expensive, and most releases change nothing about it, so its result is kept: for each cell what one more of
its records would add. A cell that has enough records and is merged with nobody may grow without changing how the
others merge. A merged cell that has enough records may grow too, until it is no longer the smaller neighbour of a short
one: ``slack`` times. Only what a release can have changed is found again.
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Longs, kernel, leaf
from seriatim_gate.kernels.board import Board, Rows

ENOUGH = 5
SMALLEST, FORWARD, NONE = range(3)
"""The rules, in the order of ``gate.inputs.MERGES``."""
UNBOUNDED = 1 << 60
LARGEST_MASK = 63
"""Mergings of fewer cells than this are kept as bits: which cells start a merged one."""


@leaf
def merge(work: Rows, n_cells: int, rule: int) -> tuple[int, int]:
    """Return how many cells are left, and how far they may grow; join in ``work`` those that ``held`` too few.

    Cell i starts at i, holds ``work[i].held`` records and ends before ``work[i].end``; the cell before it is
    ``work[i].before``. Entries inside a merged cell mean nothing. Merged cells that have enough may gain so many
    records, all together, until cells may merge in another way.
    """
    short = 0
    for i in range(n_cells):
        work[i].end = i + 1
        work[i].before = i - 1
        if work[i].held < ENOUGH:
            # which counts below ENOUGH occur: passes for others would find nothing
            short |= 1 << work[i].held
    if short == 0 or rule == NONE:
        return n_cells, UNBOUNDED
    if rule == SMALLEST:
        return _merge_smallest(work, n_cells, short)
    return _merge_forward(work, n_cells), UNBOUNDED


@leaf
def _merge_smallest(work: Rows, n_cells: int, short: int) -> tuple[int, int]:
    """Return what ``merge`` does; join in ``work`` short cells to their smaller neighbour, the smallest one first.

    Of equal cells the one with the lowest index comes first, of equal neighbours the left one.
    """
    left, growth = n_cells, UNBOUNDED
    for size in range(ENOUGH):  # one pass per count is enough: no merged cell is smaller than the cell that was joined
        if not (short >> size) & 1:
            continue
        i = 0
        while i < n_cells and left > 1:
            if work[i].held != size:
                i = work[i].end
                continue
            low, high = work[i].before, work[i].end
            # how much the chosen neighbour may grow until the other one is the smaller: ties go to the left one
            gap = work[high].held - work[low].held if low >= 0 and high < n_cells else UNBOUNDED
            if low >= 0 and gap >= 0:
                chosen, high = work[low].held, i
            else:
                # the right one is chosen only if it is strictly smaller, so one record less may be added before they
                # tie
                chosen, low, gap = work[high].held, i, gap if gap == UNBOUNDED else -gap - 1
            # a short one needs no limit: when it grows, the merge is found anew anyway (`note_count`)
            if chosen >= ENOUGH:
                growth = min(growth, gap)
            end = work[high].end
            work[low].held += work[high].held
            work[low].end = end
            if end < n_cells:
                work[end].before = low
            left -= 1
            if work[low].held < ENOUGH:
                short |= 1 << work[low].held
            # what was joined may still be short, at this very count if the neighbour held none
            i = low
    return left, growth


@leaf
def _merge_forward(work: Rows, n_cells: int) -> int:
    """Return how many cells are left; fill those of ``work`` from left to right, the rest joins the last full one."""
    left, start, last = 0, 0, -1
    while start < n_cells:
        end, total = start, 0
        while end < n_cells and total < ENOUGH:
            total += work[end].held
            end += 1
        # too few are left at the end for a cell of their own
        if total < ENOUGH and last >= 0:
            work[last].held += total
            work[last].end = n_cells
            return left
        work[start].held = total
        work[start].end = end
        left += 1
        last = start
        start = end
    return left


@leaf
def _bits(work: Rows, n_cells: int) -> int:
    """Return which cells start a merged cell, as bits; for fewer than 63 cells."""
    mask = i = 0
    while i < n_cells:
        mask |= 1 << i
        i = work[i].end
    return mask


@leaf
def _loners(mask: int, width: int) -> int:
    """Return which cells are merged with nobody, as bits."""
    # alone is who starts a merged cell and is followed by the start of another; nothing follows the last
    return mask & ((mask >> 1) | (1 << (width - 1)))


@leaf
def _square(cells: Rows, first: int, end: int, count: int) -> float:
    """Return the square of the records of cells merged into one, over their share; ``end`` is the first one left out.

    Pearson's statistic is the sum of these / N - N.
    """
    if end == first + 1:
        return float(count * count * cells[first].inverse)
    share = 0.0
    for cell in range(first, end):
        share += cells[cell].share
    return count * count / share if share > 0.0 else 0.0


@leaf
def note_count(board: Board, cell: int, change: int) -> None:
    """Update in place what is kept of merging, now that a cell's count has changed."""
    one = board.cells[cell]
    target = board.targets[one.target]
    width, place = board.dependencies[target.dependency].width, cell - target.first_cell
    # a short cell that grows, or any that shrinks, may merge in another way: find out when it is next asked for
    if change != 1 or one.count <= ENOUGH or width >= LARGEST_MASK or target.mask == 0:
        target.mask = 0
        return
    if not (target.loners >> place) & 1:
        _note_growth(board, one.target, place, width)
    if (_loners(target.mask, width) >> place) & 1:  # its square is its own, so both figures are exact at once
        one.merged_own = one.count * one.count * one.inverse
        one.merged_step = (2 * one.count + 1) * one.inverse


@leaf
def _note_growth(board: Board, target: int, place: int, width: int) -> None:
    """Forget in place what a cell's growth may have changed, where it is or would be merged with others."""
    own = board.targets[target]
    first, alone = own.first_cell, _loners(own.mask, width)
    if not (alone >> place) & 1:
        # so many records may still come before cells could merge in another way
        own.slack -= 1
        if own.slack < 0:
            own.mask = 0
            return
        _write_squares(board.cells, first, width, own.mask)
    for i in range(width):
        if (alone >> i) & 1:
            continue
        cell = board.cells[first + i]
        # nan is 'not known': it is found when somebody asks
        cell.merged_step = np.nan
        # its own merge, with one record more, holds the cell that grew among others
        if not (_loners(cell.mask, width) >> place) & 1:
            cell.slack -= 1
            if cell.slack < 0:
                cell.mask = 0


@leaf
def _write_squares(cells: Rows, first: int, width: int, mask: int) -> None:
    """Write the squares of every merged cell of a target into ``cells``."""
    i = 0
    while i < width:
        end, count = i + 1, cells[first + i].count
        while end < width and not (mask >> end) & 1:
            count += cells[first + end].count
            # a merged cell's square stands at its first cell alone, so that a plain sum counts it once
            cells[first + end].merged_own = 0.0
            end += 1
        cells[first + i].merged_own = _square(cells, first + i, first + end, count)
        i = end


@leaf
def merged_square(board: Board, target: int) -> float:
    """Return the sum of a target's squares; recompute the merge in place if it is stale."""
    first, total = board.targets[target].first_cell, 0.0
    width = board.dependencies[board.targets[target].dependency].width
    if board.targets[target].mask == 0:
        _merge_anew(board, target, first, width)
    for cell in range(first, first + width):
        total += board.cells[cell].merged_own
    return total


@leaf
def _merge_anew(board: Board, target: int, first: int, width: int) -> None:
    """Find in place how the cells of a target merge, from its counts."""
    cells, work, own = board.cells, board.work, board.targets[target]
    for i in range(width):
        work[i].held = cells[first + i].count
    left, growth = merge(work, width, board.dependencies[own.dependency].merge)
    i = 0
    while i < width:
        end = work[i].end
        for cell in range(first + i, first + end):
            cells[cell].merged_own = 0.0
            cells[cell].merged_step = np.nan
            cells[cell].mask = 0
        cells[first + i].merged_own = _square(cells, first + i, first + end, work[i].held)
        if end == i + 1:
            cells[first + i].merged_step = (2 * work[i].held + 1) * cells[first + i].inverse
            cells[first + i].parts = left
        i = end
    own.merged_cells = left
    if width < LARGEST_MASK:
        own.mask, own.slack = _bits(work, width), growth
        own.loners = _loners(own.mask, width)


@leaf
def merged_step(board: Board, target: int, cell: int) -> float:
    """Return what one more record of a cell adds to the squares; kept in place where it was not known."""
    one, own = board.cells[cell], board.targets[target]
    if one.merged_step == one.merged_step:  # not nan: known
        return float(one.merged_step)
    first, width, now, total = own.first_cell, board.dependencies[own.dependency].width, 0.0, 0.0
    for i in range(first, first + width):
        now += board.cells[i].merged_own
    if one.mask != 0:
        total = _masked_squares(board.cells, first, width, cell)
    else:
        work = board.work
        for i in range(width):
            # what would be, with one more record in this cell
            work[i].held = board.cells[first + i].count + (first + i == cell)
        left, growth = merge(work, width, board.dependencies[own.dependency].merge)
        i = 0
        while i < width:
            total += _square(board.cells, first + i, first + work[i].end, work[i].held)
            i = work[i].end
        one.parts = left
        if width < LARGEST_MASK:
            one.mask, one.slack = _bits(work, width), growth
            own.loners &= _loners(one.mask, width)
    one.merged_step = total - now
    return total - now


@leaf
def _masked_squares(cells: Rows, first: int, width: int, one_more: int) -> float:
    """Return the sum of squares of a target's cells, merged as the mask of ``one_more`` says, with a record more there.

    It adds in the same order as without a mask, so that both find the same number.
    """
    mask, total, i = cells[one_more].mask, 0.0, 0
    while i < width:
        count, end = cells[first + i].count + (first + i == one_more), i + 1
        while end < width and not (mask >> end) & 1:
            count += cells[first + end].count + (first + end == one_more)
            end += 1
        total += _square(cells, first + i, first + end, count)
        i = end
    return total


@kernel
def merged_pearson(counts: Longs, shares: Floats, rule: int, work: Rows) -> tuple[Floats, Longs]:
    """Return Pearson's statistic and the number of cells after merging for each row of ``counts`` (one per target)."""
    n_targets, n_cells = counts.shape
    statistics = np.zeros(n_targets)
    cells = np.ones(n_targets, dtype=np.int64)
    for target in range(n_targets):
        total = 0
        for i in range(n_cells):
            work[i].held = counts[target, i]
            total += counts[target, i]
        cells[target] = merge(work, n_cells, rule)[0]
        if total == 0:
            continue
        i = 0
        while i < n_cells:
            end = work[i].end
            share = shares[i:end].sum()
            if share > 0.0:
                statistics[target] += (work[i].held - total * share) ** 2 / (total * share)
            i = end
    return statistics, cells
