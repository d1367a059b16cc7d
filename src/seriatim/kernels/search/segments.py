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


class Widths(NamedTuple):
    """What a range of codes costs: columns with few values by a table of pairs, others on their scale."""

    paired: npt.NDArray[np.int64]
    """The columns with a table; ``tables[offsets[i] + low * sizes[i] + high]`` for the i-th of them."""
    offsets: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    tables: npt.NDArray[np.float32]
    plain: npt.NDArray[np.int64]
    """The columns without a hierarchy; ``shares[plain_at[i] + code]`` of the scale lies below a code."""
    plain_at: npt.NDArray[np.int64]
    shares: npt.NDArray[np.float32]
    nested: npt.NDArray[np.int64]
    """The columns with one: the ranges that hold each code, heights in order, and what they cost."""
    nested_at: npt.NDArray[np.int64]
    nested_sizes: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int32]
    penalties: npt.NDArray[np.float32]


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def cut_by_size(lanes: npt.NDArray[Any], k: int, widths: Any) -> npt.NDArray[np.int64]:
    """Where the segments begin when each needs ``k`` records: least loss, segments of k to 2k - 1.

    Of equal ways to end at a record the longest last segment wins. Fewer than k records are one segment.
    """
    n, padded = lanes.shape
    best = np.full(n + 1, np.inf)
    last = np.full(n + 1, NONE, dtype=np.int32)
    best[0] = 0.0
    if n < 2 * k:
        return np.zeros(min(n, 1), dtype=np.int64)
    low, high = np.empty(padded, dtype=lanes.dtype), np.empty(padded, dtype=lanes.dtype)
    for upto in range(k, n + 1):
        for column in range(padded):
            low[column] = high[column] = lanes[upto - 1, column]
        for start in range(upto - 1, max(upto - 2 * k, -1), -1):
            _widen(lanes, lanes, start, low, high)
            if upto - start < k or best[start] == np.inf:
                continue
            cost = best[start] + (upto - start) * _cost(low, high, widths)
            if cost <= best[upto]:
                best[upto], last[upto] = cost, start
    return _traced(last)


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def cut_by_tests(
    lanes: npt.NDArray[Any], values: npt.NDArray[np.int32], k: int, step: int, most: int, widths: Any, tests: Any
) -> npt.NDArray[np.int64]:
    """Where the segments begin when each needs ``k`` records and must pass the tests; empty when there is no way.

    Borders lie on multiples of ``step``, a segment has at most ``most`` steps. ``values`` are places in the flat
    counts of the tests, sensitive columns x records.
    """
    n, padded = lanes.shape
    n_cells = (n + step - 1) // step
    cell_low, cell_high = _cells(lanes, step, n_cells)
    best = np.full(n_cells + 1, np.inf)
    last = np.full(n_cells + 1, NONE, dtype=np.int32)
    best[0] = 0.0
    low, high = np.empty(padded, dtype=lanes.dtype), np.empty(padded, dtype=lanes.dtype)
    tally = np.zeros(tests.offsets[-1], dtype=np.int64)
    scratch = np.empty(2 * tests.offsets[-1] + 2, dtype=np.float64)
    for upto in range(1, n_cells + 1):
        stop = min(upto * step, n)
        for column in range(padded):
            low[column], high[column] = cell_low[upto - 1, column], cell_high[upto - 1, column]
        tally[:] = 0
        for start in range(upto - 1, max(upto - most, 0) - 1, -1):
            _widen(cell_low, cell_high, start, low, high)
            for sensitive in range(values.shape[0]):
                for record in range(start * step, min((start + 1) * step, n)):
                    tally[values[sensitive, record]] += 1
            size = stop - start * step
            if size < k or best[start] >= best[upto]:
                continue
            cost = best[start] + size * _cost(low, high, widths)
            if cost <= best[upto] and accepts(tests, tally, size, scratch):
                best[upto], last[upto] = cost, start
    return _traced(last) * step


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _cells(lanes: npt.NDArray[Any], step: int, n_cells: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The ranges of runs of ``step`` rows."""
    if step == 1:
        return lanes, lanes
    low = np.empty((n_cells, lanes.shape[1]), dtype=lanes.dtype)
    high = np.empty((n_cells, lanes.shape[1]), dtype=lanes.dtype)
    for cell in range(n_cells):
        for column in range(lanes.shape[1]):
            low[cell, column] = high[cell, column] = lanes[cell * step, column]
        for row in range(cell * step + 1, min((cell + 1) * step, len(lanes))):
            _widen(lanes, lanes, row, low[cell], high[cell])
    return low, high


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _widen(lows: Any, highs: Any, row: int, low: npt.NDArray[Any], high: npt.NDArray[Any]) -> None:
    for block in range(0, len(low), LANES):
        for lane in range(LANES):
            low[block + lane] = min(low[block + lane], lows[row, block + lane])
            high[block + lane] = max(high[block + lane], highs[row, block + lane])


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _cost(low: npt.NDArray[Any], high: npt.NDArray[Any], widths: Any) -> float:
    """The sum of the columns' widths."""
    total = np.float32(0.0)
    for index in range(len(widths.paired)):
        column = widths.paired[index]
        total += widths.tables[widths.offsets[index] + np.int64(low[column]) * widths.sizes[index] + high[column]]
    for index in range(len(widths.plain)):
        column, at = widths.plain[index], widths.plain_at[index]
        total += widths.shares[at + high[column]] - widths.shares[at + low[column]]
    for index in range(len(widths.nested)):
        column, at = widths.nested[index], widths.nested_at[index]
        while widths.starts[at + low[column]] != widths.starts[at + high[column]]:
            at += widths.nested_sizes[index]
        total += widths.penalties[at + low[column]]
    return float(total)


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
