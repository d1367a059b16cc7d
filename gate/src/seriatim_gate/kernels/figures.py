"""The figures of a target, kept up to date as records leave, and the limits that they must stay below."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import leaf
from seriatim_gate.kernels.board import COUPLED, CST, DQT, KLD, MIS, WDT, Board
from seriatim_gate.kernels.merging import merged_square, note_count

LN2 = 0.6931471805599453
TIE = 1e-9
"""A statistic so near to its critical value counts as equal to it, and a tie is not safe."""
SAME = 1e-12
"""Distances that differ by no more than this are one distance."""


@leaf
def kld_limit(board: Board, dependency: int, n_records: int) -> float:
    """Return the exposure that so many records of one target must stay below."""
    own = board.dependencies[dependency]
    if n_records < own.kld_length:
        return float(board.limits[own.kld_limits + n_records])
    # beyond the simulated values: half a chi-square value, corrected so that the limit does not drop where they end
    limit = own.kld_beyond * (1.0 + own.kld_fading / n_records)
    return float(limit - TIE * max(limit, n_records * LN2))


@leaf
def mis_limit(board: Board, dependency: int, n_records: int) -> float:
    """Return the exposure that so many records of all targets must stay below."""
    own = board.dependencies[dependency]
    if n_records < own.mis_length:
        return float(board.limits[own.mis_limits + n_records])
    limit = own.mis_beyond * (1.0 + own.mis_fading / n_records)
    return float(limit - TIE * max(limit, n_records * LN2))


@leaf
def count(board: Board, cell: int, change: int) -> None:
    """Count records of a cell as released in place, or take them off; ``refresh`` its target afterwards."""
    one = board.cells[cell]
    target = board.targets[one.target]
    own = board.dependencies[target.dependency]
    now = one.count + change
    one.count = now
    target.total += change
    own.all_released += change
    one.own = board.n_log_n[now] - now * one.log_p
    one.step = board.n_log_n[now + 1] - board.n_log_n[now] - one.log_p
    if own.tests & CST:
        note_count(board, cell, change)


@leaf
def refresh(board: Board, target: int) -> None:
    """Update all figures of one target in place, derived from its counts anew so that nothing drifts."""
    own = board.targets[target]
    whole = board.dependencies[own.dependency]
    first, last, tests = own.first_cell, own.first_cell + whole.width, whole.tests
    if tests & (KLD | COUPLED):
        total = 0.0
        for cell in range(first, last):
            total += board.cells[cell].own
        own.exposure = total - board.n_log_n[own.total]
        own.step = board.n_log_n[own.total + 1] - board.n_log_n[own.total]
    if tests & KLD:
        own.room = kld_limit(board, own.dependency, own.total + 1) - own.exposure + own.step
    if tests & MIS:  # added up anew, target by target: a running sum would drift
        total = 0.0
        for i in range(whole.first_target, whole.first_target + whole.height):
            total += board.targets[i].exposure
        whole.all_exposure = total
        whole.mis_room = mis_limit(board, own.dependency, whole.all_released + 1) - total
    if tests & WDT or whole.by_pearson:
        total = 0.0
        for cell in range(first, last):
            total += board.cells[cell].count * board.cells[cell].count * board.cells[cell].inverse
        own.square = total
    if tests & CST:
        own.merged_square = merged_square(board, target)
    if tests & DQT:
        _rank(board, target)


@leaf
def _rank(board: Board, target: int) -> None:
    """Move one target's distance to its rank in ``board``."""
    own = board.targets[target]
    whole = board.dependencies[own.dependency]
    ranked, first, n_ranked = board.ranked, whole.first_ranked, whole.n_ranked
    if own.distance == own.distance:  # it is ranked already: close the gap that it leaves
        i = first
        while ranked[i] < own.distance:
            i += 1
        n_ranked -= 1
        for j in range(i, first + n_ranked):
            ranked[j] = ranked[j + 1]
    own.distance = np.nan
    if own.total > 0:
        new = own.square / own.total - own.total if whole.by_pearson else own.exposure / own.total
        i = first + n_ranked
        while i > first and ranked[i - 1] > new:
            ranked[i] = ranked[i - 1]
            i -= 1
        ranked[i] = new
        own.distance = new
        n_ranked += 1
    whole.n_ranked = n_ranked
    whole.all_differ = 1
    for j in range(first + 1, first + n_ranked):
        if not ranked[j] - ranked[j - 1] > SAME:
            whole.all_differ = 0
