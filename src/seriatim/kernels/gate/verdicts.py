"""May one more record of a cell leave? Every test in O(1), but for merging, and never from stale figures.

The arrays are those of :mod:`seriatim.kernels.gate.gate_board`, and travel one by one for the reason measured there.
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Longs, leaf
from seriatim.kernels.gate.gate_board import (
    ALL_DIFFER,
    BY_PEARSON,
    COUNT,
    CST,
    CST_LIMITS,
    DISTANCE,
    DIXON_LIMITS,
    DQT,
    EXPOSURE,
    INVERSE,
    KLD,
    KLD_ROOM,
    LEAST,
    MERGE,
    MERGED_SQUARE,
    MIS,
    MIS_ROOM,
    N_RANKED,
    RANKED,
    SAME,
    SQUARE,
    STEP,
    TARGET_STEP,
    TESTS,
    TOTAL,
    WDT,
    WDT_LIMIT,
)
from seriatim.kernels.gate.merged_steps import PARTS, merged_step


@leaf
def verdict_holds(
    given: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs, tallies: Longs,
    whole: Longs, work: Longs, target: int, value: int,
) -> bool:  # fmt: skip
    """Return whether all tests hold once one more record of a cell has left.

    Merged steps that had to be found are kept in place.
    """
    tests = whole[TESTS]
    good = True
    if tests & KLD:
        good = cells[STEP, target, value] < aims[KLD_ROOM, target]
    if good and tests & MIS:
        good = cells[STEP, target, value] - aims[TARGET_STEP, target] < scalars[MIS_ROOM]
    if good and tests & CST:
        step = merged_step(given, cells, marks, tallies, whole[MERGE], work, target, value)
        n_records = tallies[TOTAL, target] + 1
        good = (
            step
            < (given[CST_LIMITS, marks[PARTS, target, value]] + n_records) * n_records - aims[MERGED_SQUARE, target]
        )
    if good and tests & WDT:
        good = _pearson_with(given, aims, marks, tallies, target, value) < scalars[WDT_LIMIT]
    if good and tests & DQT:
        if whole[BY_PEARSON]:
            distance = _pearson_with(given, aims, marks, tallies, target, value)
        else:
            distance = (aims[EXPOSURE, target] + cells[STEP, target, value] - aims[TARGET_STEP, target]) / (
                tallies[TOTAL, target] + 1
            )
        good = dixon_verdict(given, aims, whole, target, distance)
    return good


@leaf
def _pearson_with(given: Floats, aims: Floats, marks: Longs, tallies: Longs, target: int, value: int) -> float:
    """Return Pearson's statistic without merging once one more record has left."""
    n_records = tallies[TOTAL, target] + 1
    return float(
        (aims[SQUARE, target] + (2 * marks[COUNT, target, value] + 1) * given[INVERSE, value]) / n_records - n_records
    )


@leaf
def dixon_verdict(given: Floats, aims: Floats, whole: Longs, target: int, new: float) -> bool:
    """Return whether Dixon's Q stays below its critical value when a target has the distance ``new``.

    More distances make the critical value smaller, so they are counted only when the answer depends on it.
    """
    n_ranked = whole[N_RANKED]
    old = aims[DISTANCE, target]
    most = n_ranked if old == old else n_ranked + 1
    if most < 3:
        return True
    top, second, bottom = _ends(aims, n_ranked, old, new)
    if second != second:
        return True
    quotient = (top - second) / (top - bottom)
    if quotient < given[DIXON_LIMITS, most]:
        return True
    if most > 4 and whole[ALL_DIFFER] and not quotient < given[DIXON_LIMITS, most - 2]:
        return False
    different = _count_different(aims, n_ranked, old, new)
    return different < 3 or quotient < given[DIXON_LIMITS, different]


@leaf
def dixon_verdict_hopeless(given: Floats, aims: Floats, tallies: Longs, whole: Longs, target: int) -> bool:
    """Return whether even a target's mildest waiting record leaves it an outlier; then they all do."""
    n_ranked = whole[N_RANKED]
    old = aims[DISTANCE, target]
    most = n_ranked if old == old else n_ranked + 1
    if most < 5 or not whole[ALL_DIFFER] or whole[BY_PEARSON]:
        return False
    mildest = (aims[EXPOSURE, target] + aims[LEAST, target] - aims[TARGET_STEP, target]) / (tallies[TOTAL, target] + 1)
    next_one = aims[RANKED, n_ranked - 2] if aims[RANKED, n_ranked - 1] == old else aims[RANKED, n_ranked - 1]
    bottom = aims[RANKED, 1] if aims[RANKED, 0] == old else aims[RANKED, 0]
    gap = mildest - next_one
    return gap > SAME and not gap < given[DIXON_LIMITS, most - 2] * (mildest - bottom)


@leaf
def _ends(aims: Floats, n_ranked: int, old: float, new: float) -> tuple[float, float, float]:
    """Return the largest, the second largest (nan if there is none) and the smallest distance, ``old`` replaced."""
    skipped = old != old
    placed = False
    top, second, last = np.nan, np.nan, np.nan
    i = n_ranked - 1
    while i >= 0 or not placed:
        if i >= 0 and not skipped and aims[RANKED, i] == old:
            skipped = True
            i -= 1
            continue
        if not placed and (i < 0 or new >= aims[RANKED, i]):
            value = new
            placed = True
        else:
            value = aims[RANKED, i]
            i -= 1
        if top != top:
            top = value
        elif last - value > SAME:
            second = value
            break
        last = value
    first = 1 if n_ranked > 0 and aims[RANKED, 0] == old else 0
    bottom = min(new, aims[RANKED, first]) if first < n_ranked else new
    return top, second, bottom


@leaf
def _count_different(aims: Floats, n_ranked: int, old: float, new: float) -> int:
    """Return how many distances differ once ``old`` is replaced by ``new``."""
    skipped = old != old
    placed = False
    different = 0
    last = -np.inf
    i = 0
    while i < n_ranked or not placed:
        if i < n_ranked and not skipped and aims[RANKED, i] == old:
            skipped = True
            i += 1
            continue
        if not placed and (i >= n_ranked or new <= aims[RANKED, i]):
            value = new
            placed = True
        else:
            value = aims[RANKED, i]
            i += 1
        if value - last > SAME:
            different += 1
        last = value
    return different
