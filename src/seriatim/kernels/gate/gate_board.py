"""The state of a gate as arrays: what was released, what the tests need of it, and the queue of waiting records.

A record is a cell (x, y). Waiting records of one cell are interchangeable for every test, so the queue is one list per
cell, oldest first. f(n) = n ln n throughout; exposure(y) = sum f(c) - f(N) - sum c ln p, half the G statistic.

The arrays are few, and their first axis has names, because passing many arrays costs more than the test itself. They
travel one by one: bundled in tuples the gate was five times slower (0.46 instead of 2.46 million requests per second).

    given    what does not change, by row: the baseline and the critical values
    f        n ln n
    cells    figures of every cell        (row, y, x)
    aims     figures of every target      (row, y)
    scalars  figures of the whole
    marks    counts and lists of cells    (row, y, x)
    tallies  counts of targets            (row, y)
    whole    settings and counters
    work     scratch space                (row, x)
    records  links and fate of requests   (row, request)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, kernel, leaf
from seriatim.kernels.gate.merged_steps import merged_steps_count, merged_steps_refresh

MIS, KLD, CST, DQT, WDT = 1, 2, 4, 8, 16
COUPLED = MIS | DQT
"""Tests in which a release at one target changes what is safe at another."""
WAITING, RELEASED, UNKNOWN, DENIED, GONE = 0, 1, 2, 3, 4
SAME = 1e-12
"""Distances that differ by no more than this are one distance."""

# rows of given; INVERSE is 1 / p, and 0 where p is 0; limits have the margin for ties taken off
P, INVERSE, LOG_P, MIS_LIMITS, KLD_LIMITS, CST_LIMITS, DIXON_LIMITS = range(7)
# rows of cells; STEP is what one more record adds: f(c + 1) - f(c) - ln p; two more rows are those of merged_steps
OWN, STEP = range(2)
# rows of aims; one more record is safe by KLD where its STEP is below KLD_ROOM; LEAST is the smallest STEP of the
# waiting cells
EXPOSURE, TARGET_STEP, SQUARE, KLD_ROOM, MERGED_SQUARE, DISTANCE, LEAST, RANKED = range(8)
# scalars; BEYOND is half a chi-square value, FADING its correction that fades as 1/n
MIS_BEYOND, MIS_FADING, KLD_BEYOND, KLD_FADING, WDT_LIMIT, ALL_EXPOSURE, MIS_ROOM = range(7)
# rows of marks; BUSY lists the waiting values of X, SPOT says where one stands there; three more rows are those of
# merged_steps
COUNT, LENGTH, HEAD, TAIL, BUSY, SPOT = range(6)
# rows of tallies; STUCK targets have waiting records not yet tried as a block; four more rows are those of merged_steps
TOTAL, N_BUSY, STUCK = range(3)
# whole: settings, then counters; JOINT is a setting too: sets of records may leave together
TESTS, MERGE, BY_PEARSON, KEEP_QUEUE, MIS_LENGTH, KLD_LENGTH = range(6)
ALL_RELEASED, N_RANKED, ALL_DIFFER, N_DONE, N_OUT, JOINT = range(6, 12)
# rows of work; the others are those of merging
EXTRA = 3
# how many rows the arrays have
CELL_ROWS, AIM_ROWS, MARK_ROWS, TALLY_ROWS, WORK_ROWS, GIVEN_ROWS = 4, 8, 9, 7, 5, 7
# rows of records; ORDER lists requests as they were released, WHEN the request that was being answered then
FOLLOWING, PREVIOUS, STATUS, ORDER, WHEN = range(5)


class GateBoard(NamedTuple):
    """Everything a gate is, in the order in which kernels take it."""

    given: Floats
    f: Floats
    cells: Floats
    aims: Floats
    scalars: Floats
    marks: Longs
    tallies: Longs
    whole: Longs
    work: Longs
    records: Ints


@leaf
def gate_kld_limit(given: Floats, scalars: Floats, whole: Longs, n: int) -> float:
    """Return the exposure that n records of one target must stay below."""
    if n < whole[KLD_LENGTH]:
        return float(given[KLD_LIMITS, n])
    limit = scalars[KLD_BEYOND] * (1.0 + scalars[KLD_FADING] / n)
    return float(limit - 1e-9 * max(limit, n * 0.6931471805599453))


@leaf
def board_mis_limit(given: Floats, scalars: Floats, whole: Longs, n: int) -> float:
    """Return the exposure that n records of all targets must stay below."""
    if n < whole[MIS_LENGTH]:
        return float(given[MIS_LIMITS, n])
    limit = scalars[MIS_BEYOND] * (1.0 + scalars[MIS_FADING] / n)
    return float(limit - 1e-9 * max(limit, n * 0.6931471805599453))


@leaf
def count_gate_cell(
    given: Floats, f: Floats, cells: Floats, marks: Longs, tallies: Longs, whole: Longs,
    y: int, x: int, change: int,
) -> None:  # fmt: skip
    """Add records to one cell, or take them off; ``refresh_gate_board`` the target afterwards."""
    c = marks[COUNT, y, x] + change
    marks[COUNT, y, x] = c
    tallies[TOTAL, y] += change
    whole[ALL_RELEASED] += change
    cells[OWN, y, x] = f[c] - c * given[LOG_P, x]
    cells[STEP, y, x] = f[c + 1] - f[c] - given[LOG_P, x]
    if whole[TESTS] & CST:
        merged_steps_count(given, cells, marks, tallies, y, x, change)


@leaf
def refresh_gate_board(
    given: Floats, f: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, y: int,
) -> None:  # fmt: skip
    """Derive everything of one target from its counts anew, so that nothing drifts."""
    n = tallies[TOTAL, y]
    tests = whole[TESTS]
    exposure = step = 0.0
    if tests & (KLD | COUPLED):
        total = 0.0
        for x in range(cells.shape[2]):
            total += cells[OWN, y, x]
        exposure = total - f[n]
        step = f[n + 1] - f[n]
        aims[EXPOSURE, y] = exposure
        aims[TARGET_STEP, y] = step
    if tests & KLD:
        aims[KLD_ROOM, y] = gate_kld_limit(given, scalars, whole, n + 1) - exposure + step
    if tests & MIS:
        total = 0.0
        for i in range(tallies.shape[1]):
            total += aims[EXPOSURE, i]
        scalars[ALL_EXPOSURE] = total
        scalars[MIS_ROOM] = board_mis_limit(given, scalars, whole, whole[ALL_RELEASED] + 1) - total
    if tests & WDT or whole[BY_PEARSON]:
        total = 0.0
        for x in range(cells.shape[2]):
            c = marks[COUNT, y, x]
            total += c * c * given[INVERSE, x]
        aims[SQUARE, y] = total
    if tests & CST:
        aims[MERGED_SQUARE, y] = merged_steps_refresh(given, cells, marks, tallies, whole[MERGE], work, y)
    if tests & DQT:
        _refresh_rank(aims, tallies, whole, y)


@kernel
def refresh_whole_board(
    given: Floats, f: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs, tallies: Longs,
    whole: Longs, work: Longs,
) -> None:  # fmt: skip
    """Derive everything of every target."""
    for y in range(tallies.shape[1]):
        refresh_gate_board(given, f, cells, aims, scalars, marks, tallies, whole, work, y)


@leaf
def _refresh_rank(aims: Floats, tallies: Longs, whole: Longs, y: int) -> None:
    """Move one target's distance to its place among the ranked distances."""
    n, total = whole[N_RANKED], tallies[TOTAL, y]
    old = aims[DISTANCE, y]
    if old == old:
        i = 0
        while aims[RANKED, i] < old:
            i += 1
        n -= 1
        for j in range(i, n):
            aims[RANKED, j] = aims[RANKED, j + 1]
    aims[DISTANCE, y] = np.nan
    if total > 0:
        new = aims[SQUARE, y] / total - total if whole[BY_PEARSON] else aims[EXPOSURE, y] / total
        i = n
        while i > 0 and aims[RANKED, i - 1] > new:
            aims[RANKED, i] = aims[RANKED, i - 1]
            i -= 1
        aims[RANKED, i] = new
        aims[DISTANCE, y] = new
        n += 1
    whole[N_RANKED] = n
    whole[ALL_DIFFER] = 1
    for j in range(1, n):
        if not aims[RANKED, j] - aims[RANKED, j - 1] > SAME:
            whole[ALL_DIFFER] = 0
