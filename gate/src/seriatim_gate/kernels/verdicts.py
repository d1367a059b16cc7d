"""May one more record of a cell leave? Every test in O(1), but for merging, and never from stale figures."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import leaf
from seriatim_gate.kernels.board import CST, DQT, KLD, MIS, WDT, Board
from seriatim_gate.kernels.figures import SAME, kld_limit, mis_limit
from seriatim_gate.kernels.merging import merged_step


@leaf
def holds(board: Board, cell: int) -> bool:
    """Return whether all tests hold once one more record of a cell has left.

    Merged steps that had to be found are kept in place.
    """
    one = board.cells[cell]
    own = board.targets[one.target]
    whole = board.dependencies[own.dependency]
    tests, good = whole.tests, True
    if tests & KLD:
        good = one.step < own.room
    if good and tests & MIS:
        good = one.step - own.step < whole.mis_room
    if good and tests & CST:
        step = merged_step(board, one.target, cell)
        good = step < merged_room(board, one.target, cell)
    if good and tests & WDT:
        good = _pearson_with(board, cell) < whole.wdt_limit
    if good and tests & DQT:
        if whole.by_pearson:
            distance = _pearson_with(board, cell)
        else:
            distance = (own.exposure + one.step - own.step) / (own.total + 1)
        good = distance_holds(board, one.target, distance)
    return good


@leaf
def stands(board: Board, target: int, with_wdt: bool) -> bool:
    """Return whether all tests hold at a target on what is counted now; WDT only where it is asked for."""
    own = board.targets[target]
    whole = board.dependencies[own.dependency]
    tests = whole.tests
    if with_wdt and tests & WDT and own.total > 0 and not own.square / own.total - own.total < whole.wdt_limit:
        return False
    if tests & KLD and not own.exposure < kld_limit(board, own.dependency, own.total):
        return False
    if tests & MIS and not whole.all_exposure < mis_limit(board, own.dependency, whole.all_released):
        return False
    if tests & CST and own.merged_cells > 1:
        limit = board.limits[whole.cst_limits + own.merged_cells]
        if not own.merged_square / own.total - own.total < limit:
            return False
    return not tests & DQT or distance_holds(board, target, own.distance)


@leaf
def merged_room(board: Board, target: int, cell: int) -> float:
    """Return what the squares of a target may grow by with one more record of a cell, whose merging is known."""
    own = board.targets[target]
    limits, n_records = board.dependencies[own.dependency].cst_limits, own.total + 1
    return float((board.limits[limits + board.cells[cell].parts] + n_records) * n_records - own.merged_square)


@leaf
def _pearson_with(board: Board, cell: int) -> float:
    """Return Pearson's statistic without merging once one more record has left."""
    one = board.cells[cell]
    own = board.targets[one.target]
    n_records = own.total + 1
    return float((own.square + (2 * one.count + 1) * one.inverse) / n_records - n_records)


@leaf
def distance_holds(board: Board, target: int, new: float) -> bool:
    """Return whether Dixon's Q stays below its critical value when a target has the distance ``new``.

    More distances make the critical value smaller, so they are counted only when the answer depends on it.
    """
    own = board.targets[target]
    whole = board.dependencies[own.dependency]
    limits, most = whole.dixon_limits, whole.n_ranked + (own.distance != own.distance)
    if most < 3:
        return True
    top, second, bottom = _ends(board, target, new)
    if second != second:  # all distances are one: nobody is an outlier
        return True
    quotient = (top - second) / (top - bottom)
    if quotient < board.limits[limits + most]:  # safe by the strictest value, so by any
        return True
    # a target moves, so at most two of the ranked distances can become one with another
    if most > 4 and whole.all_differ and not quotient < board.limits[limits + most - 2]:
        return False
    different = _count_different(board, target, new)
    return different < 3 or quotient < board.limits[limits + different]


@leaf
def hopeless(board: Board, target: int) -> bool:
    """Return whether even a target's mildest waiting record leaves it an outlier by Dixon's test; then they all do."""
    own = board.targets[target]
    whole = board.dependencies[own.dependency]
    ranked, low, high = board.ranked, whole.first_ranked, whole.first_ranked + whole.n_ranked - 1
    most = whole.n_ranked + (own.distance != own.distance)
    if most < 5 or not whole.all_differ or whole.by_pearson:
        return False
    # Q grows with the distance, so if the smallest one is too far out, so are all others
    mildest = (own.exposure + own.least - own.step) / (own.total + 1)
    next_one = ranked[high - 1] if ranked[high] == own.distance else ranked[high]
    bottom = ranked[low + 1] if ranked[low] == own.distance else ranked[low]
    gap = mildest - next_one
    return gap > SAME and not gap < board.limits[whole.dixon_limits + most - 2] * (mildest - bottom)


@leaf
def _ends(board: Board, target: int, new: float) -> tuple[float, float, float]:
    """Return the largest, the second largest (nan if there is none) and the smallest distance, a target's being new."""
    old = board.targets[target].distance
    whole = board.dependencies[board.targets[target].dependency]
    ranked, first, n_ranked = board.ranked, whole.first_ranked, whole.n_ranked
    skipped, placed = old != old, False
    top, second, last = np.nan, np.nan, np.nan
    i = n_ranked - 1
    while i >= 0 or not placed:
        if i >= 0 and not skipped and ranked[first + i] == old:
            skipped = True
            i -= 1
            continue
        if not placed and (i < 0 or new >= ranked[first + i]):
            value = new
            placed = True
        else:
            value = ranked[first + i]
            i -= 1
        if top != top:
            top = value
        elif last - value > SAME:
            second = value
            break
        last = value
    i = 1 if n_ranked > 0 and ranked[first] == old else 0
    return top, second, min(new, ranked[first + i]) if i < n_ranked else new


@leaf
def _count_different(board: Board, target: int, new: float) -> int:
    """Return how many distances differ once a target's is ``new``."""
    old = board.targets[target].distance
    whole = board.dependencies[board.targets[target].dependency]
    ranked, first, n_ranked = board.ranked, whole.first_ranked, whole.n_ranked
    skipped, placed = old != old, False
    different, last, i = 0, -np.inf, 0
    while i < n_ranked or not placed:
        if i < n_ranked and not skipped and ranked[first + i] == old:
            skipped = True
            i += 1
            continue
        if not placed and (i >= n_ranked or new <= ranked[first + i]):
            value = new
            placed = True
        else:
            value = ranked[first + i]
            i += 1
        if value - last > SAME:
            different += 1
        last = value
    return different
