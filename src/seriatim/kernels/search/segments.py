"""The best way to cut an order of records into segments, by dynamic programme.

The loss of a segment is its size times the sum of its columns' widths, which never falls when a segment grows. Rows
are lanes of codes, padded with zeros to a multiple of eight columns, so that the compiler widens a range by a row with
one instruction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from seriatim.kernels.search.acceptance import accepts

LANES = 8
NONE = -1
_STRETCH = 64
PADDING, PAIRED, PLAIN, NESTED = range(4)


class Widths(NamedTuple):
    """What a range of codes costs, column by column; padding costs nothing."""

    kinds: npt.NDArray[np.int64]
    """``PADDING``, ``PAIRED``, ``PLAIN`` or ``NESTED``."""
    at: npt.NDArray[np.int64]
    """Where a column's figures begin."""
    sizes: npt.NDArray[np.int64]
    tables: npt.NDArray[np.float32]
    """PAIRED, for few values: ``tables[at + low * size + high]``. PLAIN: ``tables[at + code]`` of the scale lies below
    a code. NESTED: the cost of the range that holds a code, heights in order."""
    starts: npt.NDArray[np.int32]
    """NESTED: where that range begins; laid out like ``tables``."""


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def cut_by_size(lanes: npt.NDArray[Any], k: int, widths: Any) -> npt.NDArray[np.int64]:
    """Where the segments begin when each needs ``k`` records: least loss, segments of k to 2k - 1.

    Of equal ways to end at a record the longest last segment wins. Fewer than k records are one segment.
    """
    n = len(lanes)
    if n < 2 * k:
        return np.zeros(min(n, 1), dtype=np.int64)
    best = np.full(n + 1, np.inf)
    last = np.full(n + 1, NONE, dtype=np.int32)
    best[0] = 0.0
    wide = np.zeros(2 * k, dtype=np.float32)
    for upto in range(k, n + 1):
        longest = min(2 * k - 1, upto)
        wide[:] = 0.0
        for block in range(0, lanes.shape[1], LANES):
            _add_widths(lanes, lanes, upto, longest, k, block, widths, wide)
        for length in range(k, longest + 1):
            cost = best[upto - length] + length * wide[length]
            if cost <= best[upto]:
                best[upto], last[upto] = cost, upto - length
    return _traced(last)


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def cut_by_tests(
    lanes: npt.NDArray[Any], values: npt.NDArray[np.int32], k: int, step: int, most: int, widths: Any, tests: Any
) -> npt.NDArray[np.int64]:
    """Where the segments begin when each needs ``k`` records and must pass the tests; empty when there is no way.

    Borders lie on multiples of ``step``, a segment has at most ``most`` steps; where none of these can end, now and
    then a longer one is stretched back to the first border from which it passes. ``values`` are places in the flat
    counts of the tests, sensitive columns x records.
    """
    n = len(lanes)
    n_cells = (n + step - 1) // step
    low, high = _cells(lanes, step, n_cells)
    best = np.full(n_cells + 1, np.inf)
    last = np.full(n_cells + 1, NONE, dtype=np.int32)
    best[0] = 0.0
    wide = np.zeros(most + 1, dtype=np.float32)
    tally = np.zeros(tests.offsets[-1], dtype=np.int64)
    scratch = np.empty(2 * tests.offsets[-1] + 2, dtype=np.float64)
    for upto in range(1, n_cells + 1):
        stop, longest = min(upto * step, n), min(most, upto)
        wide[:] = 0.0
        for block in range(0, lanes.shape[1], LANES):
            _add_widths(low, high, upto, longest, max(k // step, 1), block, widths, wide)
        tally[:] = 0
        for length in range(1, longest + 1):
            start = upto - length
            for sensitive in range(values.shape[0]):
                for record in range(start * step, min((start + 1) * step, n)):
                    tally[values[sensitive, record]] += 1
            size = stop - start * step
            cost = best[start] + size * wide[length]
            if size >= k and cost < np.inf and cost <= best[upto] and accepts(tests, tally, size, scratch):
                best[upto], last[upto] = cost, start
        if last[upto] == NONE and longest < upto and (upto % most == 0 or upto == n_cells):
            back = upto if upto == n_cells else min(upto, _STRETCH * most)
            start = _stretched(values, best, tally, upto - longest, upto - back, stop, step, k, tests, scratch)
            if start != NONE:
                best[upto] = best[start] + (stop - start * step) * _range_width(low, high, start, upto, widths)
                last[upto] = start
    return _traced(last) * step


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _stretched(
    values: Any, best: Any, tally: Any, start: int, end: int, stop: int, step: int, k: int, tests: Any, scratch: Any
) -> int:
    """The first border from ``start`` back to ``end`` from which the records up to ``stop`` pass; sizes tried grow."""
    wanted = 0
    while start > end:
        start -= 1
        for sensitive in range(values.shape[0]):
            for record in range(start * step, (start + 1) * step):
                tally[values[sensitive, record]] += 1
        size = stop - start * step
        if size >= k and best[start] < np.inf and (size >= wanted or start == 0):
            if accepts(tests, tally, size, scratch):
                return start
            wanted = size + size // 8
    return NONE


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _range_width(lows: Any, highs: Any, start: int, upto: int, widths: Any) -> float:
    """What all columns cost in one long window."""
    total = np.float32(0.0)
    for column in range(lows.shape[1]):
        low, high = lows[start, column], highs[start, column]
        for row in range(start + 1, upto):
            low, high = min(low, lows[row, column]), max(high, highs[row, column])
        total += _width(widths, column, low, high)
    return float(total)


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _cells(lanes: npt.NDArray[Any], step: int, n_cells: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The ranges of runs of ``step`` rows."""
    if step == 1:
        return lanes, lanes
    low = np.empty((n_cells, lanes.shape[1]), dtype=lanes.dtype)
    high = np.empty((n_cells, lanes.shape[1]), dtype=lanes.dtype)
    for cell in range(n_cells):
        first, end = cell * step, min((cell + 1) * step, len(lanes))
        for column in range(lanes.shape[1]):
            least = most = lanes[first, column]
            for row in range(first + 1, end):
                least, most = min(least, lanes[row, column]), max(most, lanes[row, column])
            low[cell, column], high[cell, column] = least, most
    return low, high


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _add_widths(
    lows: Any, highs: Any, upto: int, longest: int, least: int, at: int, widths: Any, wide: npt.NDArray[np.float32]
) -> None:
    """Add what eight columns cost in the windows of ``least`` .. ``longest`` rows that end before ``upto``.

    Written out so that the compiler keeps the ranges in two vectors.
    """
    row = upto - 1
    l0, l1, l2, l3 = lows[row, at], lows[row, at + 1], lows[row, at + 2], lows[row, at + 3]
    l4, l5, l6, l7 = lows[row, at + 4], lows[row, at + 5], lows[row, at + 6], lows[row, at + 7]
    h0, h1, h2, h3 = highs[row, at], highs[row, at + 1], highs[row, at + 2], highs[row, at + 3]
    h4, h5, h6, h7 = highs[row, at + 4], highs[row, at + 5], highs[row, at + 6], highs[row, at + 7]
    for length in range(1, longest + 1):
        row = upto - length
        l0, h0 = min(l0, lows[row, at]), max(h0, highs[row, at])
        l1, h1 = min(l1, lows[row, at + 1]), max(h1, highs[row, at + 1])
        l2, h2 = min(l2, lows[row, at + 2]), max(h2, highs[row, at + 2])
        l3, h3 = min(l3, lows[row, at + 3]), max(h3, highs[row, at + 3])
        l4, h4 = min(l4, lows[row, at + 4]), max(h4, highs[row, at + 4])
        l5, h5 = min(l5, lows[row, at + 5]), max(h5, highs[row, at + 5])
        l6, h6 = min(l6, lows[row, at + 6]), max(h6, highs[row, at + 6])
        l7, h7 = min(l7, lows[row, at + 7]), max(h7, highs[row, at + 7])
        if length >= least:
            wide[length] += (
                (_width(widths, at, l0, h0) + _width(widths, at + 1, l1, h1))
                + (_width(widths, at + 2, l2, h2) + _width(widths, at + 3, l3, h3))
            ) + (
                (_width(widths, at + 4, l4, h4) + _width(widths, at + 5, l5, h5))
                + (_width(widths, at + 6, l6, h6) + _width(widths, at + 7, l7, h7))
            )


@njit(cache=True, nogil=True, inline="always")  # type: ignore[misc, unused-ignore]
def _width(widths: Any, column: int, low: Any, high: Any) -> Any:
    kind, at = widths.kinds[column], widths.at[column]
    if kind == PADDING or low == high:
        return np.float32(0.0)
    if kind == PAIRED:
        return widths.tables[at + np.int64(low) * widths.sizes[column] + np.int64(high)]
    if kind == PLAIN:
        return widths.tables[at + np.int64(high)] - widths.tables[at + np.int64(low)]
    while widths.starts[at + np.int64(low)] != widths.starts[at + np.int64(high)]:
        at += widths.sizes[column]
    return widths.tables[at + np.int64(low)]


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _traced(last: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    n_found, at = 0, len(last) - 1
    while at > 0 and last[at] != NONE:
        at = last[at]
        n_found += 1
    found = np.empty(n_found if at == 0 else 0, dtype=np.int64)
    at = len(last) - 1
    for place in range(len(found) - 1, -1, -1):
        at = last[at]
        found[place] = at
    return found


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def sizes_that_pass(values: npt.NDArray[np.int32], ends: npt.NDArray[np.int64], least: int, tests: Any) -> Any:
    """For each of these ends, about how many records before it pass the tests together; 0 when none do.

    Sizes grow by an eighth from trial to trial.
    """
    found = np.zeros(len(ends), dtype=np.int64)
    tally = np.zeros(tests.offsets[-1], dtype=np.int64)
    scratch = np.empty(2 * tests.offsets[-1] + 2, dtype=np.float64)
    for index in range(len(ends)):
        tally[:] = 0
        size, wanted = 0, max(least, 1)
        while wanted <= ends[index]:
            for record in range(ends[index] - wanted, ends[index] - size):
                for sensitive in range(values.shape[0]):
                    tally[values[sensitive, record]] += 1
            size = wanted
            if accepts(tests, tally, size, scratch):
                found[index] = size
                break
            wanted = size + max(size // 8, 1)
    return found
