"""The oldest waiting record of one target that may leave: a single look at each cell in which records wait.

A test asked alone has a loop of its own without branches: which cells are safe, and which of them holds the oldest
record, follows no pattern that a processor could learn (10 x 5, KLD: 10 instead of 4.4 million requests per second).

The arrays are those of :mod:`seriatim.kernels.gate.gate_board`, and travel one by one for the reason measured there.
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
    whole: Longs, work: Longs, target: int, before: int,
) -> int:  # fmt: skip
    """Return the value of X of a target's oldest safe record requested ``before``; -1 if none.

    Merged steps that had to be found are kept in place.
    """
    tests = whole[TESTS]
    if tests == KLD:
        return _oldest_below(cells, marks, tallies, target, before, 0.0, aims[KLD_ROOM, target])
    if tests == MIS:
        return _oldest_below(cells, marks, tallies, target, before, aims[TARGET_STEP, target], scalars[MIS_ROOM])
    if tests == CST:
        return _oldest_merged(given, cells, aims, marks, tallies, whole, work, target, before)
    best, best_value = before, -1
    for i in range(tallies[N_BUSY, target]):
        value = marks[BUSY, target, i]
        record = marks[HEAD, target, value]
        if record < best and verdict_holds(given, cells, aims, scalars, marks, tallies, whole, work, target, value):
            best, best_value = record, value
    return best_value


@leaf
def _oldest_below(
    cells: Floats, marks: Longs, tallies: Longs, target: int, before: int, less: float, room: float
) -> int:  # fmt: skip
    """Return the value of X of the oldest record whose ``STEP - less`` stays below ``room``; -1 if none."""
    best, best_value = before, -1
    for i in range(tallies[N_BUSY, target]):
        value = marks[BUSY, target, i]
        record = marks[HEAD, target, value]
        better = (cells[STEP, target, value] - less < room) & (record < best)
        best = record if better else best
        best_value = value if better else best_value
    return best_value


@leaf
def _oldest_merged(
    given: Floats, cells: Floats, aims: Floats, marks: Longs, tallies: Longs, whole: Longs, work: Longs,
    target: int, before: int,
) -> int:  # fmt: skip
    """Return the value of X of the oldest record with which merged squares stay below their limit; -1 if none.

    Steps that had to be found are kept in place.
    """
    n_records, square, best, best_value = tallies[TOTAL, target] + 1, aims[MERGED_SQUARE, target], before, -1
    for i in range(tallies[N_BUSY, target]):
        value = marks[BUSY, target, i]
        record = marks[HEAD, target, value]
        step = cells[MERGED_STEP, target, value]
        if step != step:
            if record > best:
                continue
            step = merged_step(given, cells, marks, tallies, whole[MERGE], work, target, value)
        better = (step < (given[CST_LIMITS, marks[PARTS, target, value]] + n_records) * n_records - square) & (
            record < best
        )
        best = record if better else best
        best_value = value if better else best_value
    return best_value
