"""The oldest waiting record of one target that may leave: a single look at each cell in which records wait.

A test asked alone has a loop of its own without branches: which cells are safe, and which of them holds the oldest
record, follows no pattern that a processor could learn (10 x 5, KLD: 10 instead of 4.4 million requests per second).
"""

from __future__ import annotations

from seriatim.kernels.arrays import Floats, Longs, leaf
from seriatim.kernels.gate.gate_board import (
    BUSY,
    CST,
    CST_LIMITS,
    HEAD,
    KLD,
    KLD_ROOM,
    MERGE,
    MERGED_SQUARE,
    MIS,
    MIS_ROOM,
    N_BUSY,
    STEP,
    TARGET_STEP,
    TESTS,
    TOTAL,
)
from seriatim.kernels.gate.merged_steps import MERGED_STEP, PARTS, merged_step
from seriatim.kernels.gate.verdicts import verdict_holds


@leaf
def oldest_safe(
    given: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs, tallies: Longs,
    whole: Longs, work: Longs, y: int, before: int,
) -> int:  # fmt: skip
    """Return the value of X of the oldest record of target y that is safe and was requested ``before``; -1 if none."""
    tests = whole[TESTS]
    if tests == KLD:
        return _oldest_below(cells, marks, tallies, y, before, 0.0, aims[KLD_ROOM, y])
    if tests == MIS:
        return _oldest_below(cells, marks, tallies, y, before, aims[TARGET_STEP, y], scalars[MIS_ROOM])
    if tests == CST:
        return _oldest_merged(given, cells, aims, marks, tallies, whole, work, y, before)
    best, best_x = before, -1
    for i in range(tallies[N_BUSY, y]):
        x = marks[BUSY, y, i]
        record = marks[HEAD, y, x]
        if record < best and verdict_holds(given, cells, aims, scalars, marks, tallies, whole, work, y, x):
            best, best_x = record, x
    return best_x


@leaf
def _oldest_below(
    cells: Floats, marks: Longs, tallies: Longs, y: int, before: int, less: float, room: float
) -> int:  # fmt: skip
    """Look among the cells whose ``STEP`` less something stays below ``room``."""
    best, best_x = before, -1
    for i in range(tallies[N_BUSY, y]):
        x = marks[BUSY, y, i]
        record = marks[HEAD, y, x]
        better = (cells[STEP, y, x] - less < room) & (record < best)
        best = record if better else best
        best_x = x if better else best_x
    return best_x


@leaf
def _oldest_merged(
    given: Floats, cells: Floats, aims: Floats, marks: Longs, tallies: Longs, whole: Longs, work: Longs,
    y: int, before: int,
) -> int:  # fmt: skip
    """Look among the cells with which the merged cells' squares stay below their limit."""
    n, square, best, best_x = tallies[TOTAL, y] + 1, aims[MERGED_SQUARE, y], before, -1
    for i in range(tallies[N_BUSY, y]):
        x = marks[BUSY, y, i]
        record = marks[HEAD, y, x]
        step = cells[MERGED_STEP, y, x]
        if step != step:
            if record > best:
                continue
            step = merged_step(given, cells, marks, tallies, whole[MERGE], work, y, x)
        better = (step < (given[CST_LIMITS, marks[PARTS, y, x]] + n) * n - square) & (record < best)
        best = record if better else best
        best_x = x if better else best_x
    return best_x
