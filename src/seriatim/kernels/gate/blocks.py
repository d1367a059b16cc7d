"""Blocks: several waiting records of one target that are safe only together.

The worst-direction test cannot do without them; other tests look for them where a joint search was asked for. For a
given size the best block is found greedily: the statistic is a sum of convex functions of the cells' counts.
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
    gate_kld_limit,
    refresh_gate_board,
)
from seriatim.kernels.gate.merged_steps import MERGED_CELLS
from seriatim.kernels.gate.verdicts import dixon_verdict

OPENING, FURTHER = 20, 2
"""The smallest block that opens a target, and the smallest one that frees a target that is stuck."""
LARGEST = 100


@leaf
def release_block(
    given: Floats, f: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, y: int,
) -> int:  # fmt: skip
    """Count the smallest safe block of target y as released; return its size and leave its cells in ``EXTRA``.

    0 means that there is none up to the largest size; then nothing has changed.
    """
    before, square, wdt = tallies[TOTAL, y], aims[SQUARE, y], whole[TESTS] & WDT
    least = OPENING if wdt and before == 0 else FURTHER
    width = marks.shape[2]
    for i in range(width):
        work[EXTRA, i] = 0
    for size in range(1, max(LARGEST, 4 * width) + 1):
        x, price = _cheapest(given, marks, work, y) if wdt else _mildest(given, f, marks, work, y)
        if x < 0:
            return 0
        work[EXTRA, x] += 1
        square += price
        n = before + size
        if size < least or (wdt and not square / n - n < scalars[WDT_LIMIT]):
            continue
        for sign in (1, -1):
            for i in range(width):
                if work[EXTRA, i] > 0:
                    count_gate_cell(given, f, cells, marks, tallies, whole, y, i, sign * work[EXTRA, i])
            refresh_gate_board(given, f, cells, aims, scalars, marks, tallies, whole, work, y)
            if sign == 1 and _stands(given, aims, scalars, tallies, whole, y):
                return size
    return 0


TIE = 1e-12
"""Prices that differ by less are equal: the same share may be written in two ways that round differently."""


@leaf
def _cheapest(given: Floats, marks: Longs, work: Longs, y: int) -> tuple[int, float]:
    """Return the cell whose next waiting record adds least to the statistic, lowest index on a tie; -1 if none."""
    best, best_price = -1, 0.0
    for x in range(marks.shape[2]):
        if work[EXTRA, x] >= marks[LENGTH, y, x]:
            continue
        price = (2 * (marks[COUNT, y, x] + work[EXTRA, x]) + 1) * given[INVERSE, x]
        if best < 0 or price < best_price - TIE * abs(best_price):
            best, best_price = x, price
    return best, best_price


@leaf
def _mildest(given: Floats, f: Floats, marks: Longs, work: Longs, y: int) -> tuple[int, float]:
    """Return the cell whose next waiting record adds least exposure, lowest index on a tie; -1 if none."""
    best, best_price = -1, 0.0
    for x in range(marks.shape[2]):
        if work[EXTRA, x] >= marks[LENGTH, y, x]:
            continue
        c = marks[COUNT, y, x] + work[EXTRA, x]
        price = f[c + 1] - f[c] - given[LOG_P, x]
        if best < 0 or price < best_price - TIE * abs(best_price):
            best, best_price = x, price
    return best, best_price


@leaf
def block_holds(given: Floats, aims: Floats, scalars: Floats, tallies: Longs, whole: Longs, y: int) -> bool:
    """Return whether all tests hold at target y on what is counted now."""
    n = tallies[TOTAL, y]
    if whole[TESTS] & WDT and n > 0 and not aims[SQUARE, y] / n - n < scalars[WDT_LIMIT]:
        return False
    return _stands(given, aims, scalars, tallies, whole, y)


@leaf
def _stands(given: Floats, aims: Floats, scalars: Floats, tallies: Longs, whole: Longs, y: int) -> bool:
    """Return whether the other tests hold on what is counted now."""
    tests, n = whole[TESTS], tallies[TOTAL, y]
    if tests & KLD and not aims[EXPOSURE, y] < gate_kld_limit(given, scalars, whole, n):
        return False
    if tests & MIS and not scalars[ALL_EXPOSURE] < board_mis_limit(given, scalars, whole, whole[ALL_RELEASED]):
        return False
    if tests & CST:
        left = tallies[MERGED_CELLS, y]
        if left > 1 and not aims[MERGED_SQUARE, y] / n - n < given[CST_LIMITS, left]:
            return False
    return not tests & DQT or dixon_verdict(given, aims, whole, y, aims[DISTANCE, y])
