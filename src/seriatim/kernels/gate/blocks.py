"""Blocks: several waiting records of one target that are safe only together.

The worst-direction test cannot do without them; other tests look for them where a joint search was asked for. For a
given size the best block is found greedily: the statistic is a sum of convex functions of the cells' counts.

The arrays are those of :mod:`seriatim.kernels.gate.gate_board`, and travel one by one for the reason measured there.
"""

from __future__ import annotations

from seriatim.kernels.arrays import Floats, Longs, leaf
from seriatim.kernels.gate.gate_board import (
    ALL_EXPOSURE,
    ALL_RELEASED,
    COUNT,
    CST,
    CST_LIMITS,
    DISTANCE,
    DQT,
    EXPOSURE,
    EXTRA,
    INVERSE,
    KLD,
    LENGTH,
    LOG_P,
    MERGED_SQUARE,
    MIS,
    SQUARE,
    TESTS,
    TOTAL,
    WDT,
    WDT_LIMIT,
    board_mis_limit,
    count_gate_cell,
    gate_board_kld_limit,
    refresh_gate_board,
)
from seriatim.kernels.gate.merged_steps import MERGED_CELLS
from seriatim.kernels.gate.verdicts import dixon_verdict

OPENING, FURTHER = 20, 2
"""The smallest block that opens a target, and the smallest one that frees a target that is stuck."""
LARGEST = 100


@leaf
def release_block(
    given: Floats, n_log_n: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, target: int,
) -> int:  # fmt: skip
    """Return the size of a target's smallest safe block; count it as released in place, its cells left in ``EXTRA``.

    0 means that there is none up to the largest size; then nothing has changed.
    """
    before, square, wdt = tallies[TOTAL, target], aims[SQUARE, target], whole[TESTS] & WDT
    least = OPENING if wdt and before == 0 else FURTHER
    width = marks.shape[2]
    for i in range(width):
        work[EXTRA, i] = 0
    for size in range(1, max(LARGEST, 4 * width) + 1):
        value, price = _cheapest(given, marks, work, target) if wdt else _mildest(given, n_log_n, marks, work, target)
        if value < 0:
            return 0
        work[EXTRA, value] += 1
        square += price
        n_records = before + size
        if size < least or (wdt and not square / n_records - n_records < scalars[WDT_LIMIT]):
            continue
        for sign in (1, -1):
            for i in range(width):
                if work[EXTRA, i] > 0:
                    count_gate_cell(given, n_log_n, cells, marks, tallies, whole, target, i, sign * work[EXTRA, i])
            refresh_gate_board(given, n_log_n, cells, aims, scalars, marks, tallies, whole, work, target)
            if sign == 1 and _stands(given, aims, scalars, tallies, whole, target):
                return size
    return 0


TIE = 1e-12
"""Prices that differ by less are equal: the same share may be written in two ways that round differently."""


@leaf
def _cheapest(given: Floats, marks: Longs, work: Longs, target: int) -> tuple[int, float]:
    """Return the cell whose next waiting record adds least to the statistic, lowest index on a tie; -1 if none."""
    best, best_price = -1, 0.0
    for value in range(marks.shape[2]):
        if work[EXTRA, value] >= marks[LENGTH, target, value]:
            continue
        price = (2 * (marks[COUNT, target, value] + work[EXTRA, value]) + 1) * given[INVERSE, value]
        if best < 0 or price < best_price - TIE * abs(best_price):
            best, best_price = value, price
    return best, best_price


@leaf
def _mildest(given: Floats, n_log_n: Floats, marks: Longs, work: Longs, target: int) -> tuple[int, float]:
    """Return the cell whose next waiting record adds least exposure, lowest index on a tie; -1 if none."""
    best, best_price = -1, 0.0
    for value in range(marks.shape[2]):
        if work[EXTRA, value] >= marks[LENGTH, target, value]:
            continue
        count = marks[COUNT, target, value] + work[EXTRA, value]
        price = n_log_n[count + 1] - n_log_n[count] - given[LOG_P, value]
        if best < 0 or price < best_price - TIE * abs(best_price):
            best, best_price = value, price
    return best, best_price


@leaf
def block_holds(given: Floats, aims: Floats, scalars: Floats, tallies: Longs, whole: Longs, target: int) -> bool:
    """Return whether all tests hold at a target on what is counted now."""
    n_records = tallies[TOTAL, target]
    if whole[TESTS] & WDT and n_records > 0 and not aims[SQUARE, target] / n_records - n_records < scalars[WDT_LIMIT]:
        return False
    return _stands(given, aims, scalars, tallies, whole, target)


@leaf
def _stands(given: Floats, aims: Floats, scalars: Floats, tallies: Longs, whole: Longs, target: int) -> bool:
    """Return whether the other tests hold on what is counted now."""
    tests, n_records = whole[TESTS], tallies[TOTAL, target]
    if tests & KLD and not aims[EXPOSURE, target] < gate_board_kld_limit(given, scalars, whole, n_records):
        return False
    if tests & MIS and not scalars[ALL_EXPOSURE] < board_mis_limit(given, scalars, whole, whole[ALL_RELEASED]):
        return False
    if tests & CST:
        left = tallies[MERGED_CELLS, target]
        if left > 1 and not aims[MERGED_SQUARE, target] / n_records - n_records < given[CST_LIMITS, left]:
            return False
    return not tests & DQT or dixon_verdict(given, aims, whole, target, aims[DISTANCE, target])
