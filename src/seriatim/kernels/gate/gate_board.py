"""The state of a gate as arrays: what was released, what the tests need of it, and the queue of waiting records.

A record is a cell: a value of X and a target, which is a value of Y. Waiting records of one cell are interchangeable
for every test, so the queue is one list per cell, oldest first. f(n) = n ln n throughout; the exposure of a target with
N records, c of them in the cell of a value of share p, is sum f(c) - f(N) - sum c ln p, half the G statistic.

The arrays are few, and their first axis has names, because passing many arrays costs more than the test itself. They
travel one by one: bundled in tuples the gate was five times slower (0.46 instead of 2.46 million requests per second).

    given    what does not change, by row: the baseline and the critical values
    n_log_n  f(n)
    cells    figures of every cell        (row, target, value)
    aims     figures of every target      (row, target)
    scalars  figures of the whole
    marks    counts and lists of cells    (row, target, value)
    tallies  counts of targets            (row, target)
    whole    settings and counters
    work     scratch space                (row, value)
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
    n_log_n: Floats
    cells: Floats
    aims: Floats
    scalars: Floats
    marks: Longs
    tallies: Longs
    whole: Longs
    work: Longs
    records: Ints


@leaf
def gate_board_kld_limit(given: Floats, scalars: Floats, whole: Longs, n_records: int) -> float:
    """Return the exposure that so many records of one target must stay below."""
    if n_records < whole[KLD_LENGTH]:
        return float(given[KLD_LIMITS, n_records])
    limit = scalars[KLD_BEYOND] * (1.0 + scalars[KLD_FADING] / n_records)
    return float(limit - 1e-9 * max(limit, n_records * 0.6931471805599453))


@leaf
def board_mis_limit(given: Floats, scalars: Floats, whole: Longs, n_records: int) -> float:
    """Return the exposure that so many records of all targets must stay below."""
    if n_records < whole[MIS_LENGTH]:
        return float(given[MIS_LIMITS, n_records])
    limit = scalars[MIS_BEYOND] * (1.0 + scalars[MIS_FADING] / n_records)
    return float(limit - 1e-9 * max(limit, n_records * 0.6931471805599453))


@leaf
def count_gate_cell(
    given: Floats, n_log_n: Floats, cells: Floats, marks: Longs, tallies: Longs, whole: Longs,
    target: int, value: int, change: int,
) -> None:  # fmt: skip
    """Add records to one cell in place, or take them off; ``refresh_gate_board`` the target afterwards."""
    count = marks[COUNT, target, value] + change
    marks[COUNT, target, value] = count
    tallies[TOTAL, target] += change
    whole[ALL_RELEASED] += change
    cells[OWN, target, value] = n_log_n[count] - count * given[LOG_P, value]
    cells[STEP, target, value] = n_log_n[count + 1] - n_log_n[count] - given[LOG_P, value]
    if whole[TESTS] & CST:
        merged_steps_count(given, cells, marks, tallies, target, value, change)


@leaf
def refresh_gate_board(
    given: Floats, n_log_n: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, target: int,
) -> None:  # fmt: skip
    """Update all figures of one target in place, derived from its counts anew so that nothing drifts."""
    n_records = tallies[TOTAL, target]
    tests = whole[TESTS]
    exposure = step = 0.0
    if tests & (KLD | COUPLED):
        total = 0.0
        for value in range(cells.shape[2]):
            total += cells[OWN, target, value]
        exposure = total - n_log_n[n_records]
        step = n_log_n[n_records + 1] - n_log_n[n_records]
        aims[EXPOSURE, target] = exposure
        aims[TARGET_STEP, target] = step
    if tests & KLD:
        aims[KLD_ROOM, target] = gate_board_kld_limit(given, scalars, whole, n_records + 1) - exposure + step
    if tests & MIS:
        total = 0.0
        for i in range(tallies.shape[1]):
            total += aims[EXPOSURE, i]
        scalars[ALL_EXPOSURE] = total
        scalars[MIS_ROOM] = board_mis_limit(given, scalars, whole, whole[ALL_RELEASED] + 1) - total
    if tests & WDT or whole[BY_PEARSON]:
        total = 0.0
        for value in range(cells.shape[2]):
            count = marks[COUNT, target, value]
            total += count * count * given[INVERSE, value]
        aims[SQUARE, target] = total
    if tests & CST:
        aims[MERGED_SQUARE, target] = merged_steps_refresh(given, cells, marks, tallies, whole[MERGE], work, target)
    if tests & DQT:
        _refresh_rank(aims, tallies, whole, target)


@kernel
def refresh_whole_board(
    given: Floats, n_log_n: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs, tallies: Longs,
    whole: Longs, work: Longs,
) -> None:  # fmt: skip
    """Update all figures of every target in place."""
    for target in range(tallies.shape[1]):
        refresh_gate_board(given, n_log_n, cells, aims, scalars, marks, tallies, whole, work, target)


@leaf
def _refresh_rank(aims: Floats, tallies: Longs, whole: Longs, target: int) -> None:
    """Move one target's distance to its rank in ``aims``; update how many are ranked in ``whole``."""
    n_ranked, total = whole[N_RANKED], tallies[TOTAL, target]
    old = aims[DISTANCE, target]
    if old == old:
        i = 0
        while aims[RANKED, i] < old:
            i += 1
        n_ranked -= 1
        for j in range(i, n_ranked):
            aims[RANKED, j] = aims[RANKED, j + 1]
    aims[DISTANCE, target] = np.nan
    if total > 0:
        new = aims[SQUARE, target] / total - total if whole[BY_PEARSON] else aims[EXPOSURE, target] / total
        i = n_ranked
        while i > 0 and aims[RANKED, i - 1] > new:
            aims[RANKED, i] = aims[RANKED, i - 1]
            i -= 1
        aims[RANKED, i] = new
        aims[DISTANCE, target] = new
        n_ranked += 1
    whole[N_RANKED] = n_ranked
    whole[ALL_DIFFER] = 1
    for j in range(1, n_ranked):
        if not aims[RANKED, j] - aims[RANKED, j - 1] > SAME:
            whole[ALL_DIFFER] = 0
