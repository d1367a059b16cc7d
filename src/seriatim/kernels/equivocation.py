"""The area below the least entropy, for many distributions over one domain: the sweep of eight rows side by side.

All rows meet the same blocks in the same order, so what ``sweep`` does for one row is done here for eight at once, in
the lanes of a vector. A block is tested in all lanes, and is carried on if it improves any of them; a lane in which it
improves nothing keeps its number, so every area is the one that the row would have alone, to the last bit.

At one width alone there are the least entropy of a partition into windows, and the largest mass of one window.
``reach[v]`` is the last value that a window from value v holds; it never falls from one value to the next.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Floats, Longs, inner, kernel, leaf


@kernel
def window_entropies(matrix: Floats, reach: Longs) -> Floats:
    """Return each row's least entropy in bits, by the recurrence of the paper; a row may hold zeros."""
    n_values = matrix.shape[1]
    found, best = np.empty(len(matrix)), np.empty(n_values + 1)
    for row in range(len(matrix)):
        found[row] = _window_entropy(matrix[row], reach, best)
    return found


@kernel
def window_hit_chances(matrix: Floats, reach: Longs) -> Floats:
    """Return the largest mass that one window holds, for each row."""
    found = np.zeros(len(matrix))
    for row in range(len(matrix)):
        held, last = 0.0, -1
        for first in range(matrix.shape[1]):
            # both ends only move on: every value enters the window once and leaves it once
            while last < reach[first]:
                last += 1
                held += matrix[row, last]
            found[row] = max(found[row], held)
            held -= matrix[row, first]
        # adding and taking away may leave a little more than everything
        found[row] = min(found[row], 1.0)
    return found


@leaf
def _window_entropy(shares: Floats, reach: Longs, best: Floats) -> float:
    """Return the least entropy of one row; overwrites ``best``."""
    n_values = len(shares)
    best[0] = 0.0
    for i in range(1, n_values + 1):
        best[i] = np.inf
    for first in range(n_values):
        held = 0.0
        for last in range(first, reach[first] + 1):
            held += shares[last]
            # a block with all of the mass, or none of it, leaves nothing open
            cost = -held * math.log2(held) if 0.0 < held < 1.0 else 0.0
            best[last + 1] = min(best[last + 1], best[first] + cost)
    return best[n_values] if best[n_values] > 1e-12 else 0.0


_LANES = 8
_LEAST_GAIN = 1e-14


class SweepLanes(NamedTuple):
    """What the sweep knows at one span of up to eight rows; changed in place. The last axis is the row."""

    cost: Floats
    """``cost[j, i]`` is what the block j..i adds to the entropy."""
    best: Floats
    area: Floats
    held: Floats
    last: Longs
    """The last value that a block from each value may hold."""
    dirty: Flags
    """Whose improvement has not been carried on."""


@kernel
def areas_by_lanes(pairs: Any, matrix: Floats, areas: Floats) -> None:
    """Write each row's area into ``areas``, in steps x bits; a row may hold zeros."""
    n_values = matrix.shape[1]
    lanes = _room(n_values)
    for row in range(0, len(matrix), _LANES):
        count = min(_LANES, len(matrix) - row)
        _begin(lanes, matrix, row, count)
        reached = 0
        for group in range(len(pairs.ends)):
            for lane in range(_LANES):
                # the entropy stays the same up to the next difference: the area is a sum of rectangles
                lanes.area[lane] += lanes.best[n_values, lane] * (pairs.widths[group] - reached)
            reached = pairs.widths[group]
            _allow_group(lanes, pairs, group)
        for lane in range(count):
            areas[row + lane] = lanes.area[lane]


@inner
def _room(n_values: int) -> SweepLanes:
    """Return room for eight rows of ``n_values`` values; a lane that no row fills holds zeros."""
    cost, best = np.zeros((n_values, n_values, _LANES)), np.zeros((n_values + 1, _LANES))
    return SweepLanes(
        cost,
        best,
        np.zeros(_LANES),
        np.zeros(_LANES),
        np.empty(n_values, dtype=np.int64),
        np.zeros(n_values + 1, np.bool_),
    )


@leaf
def _begin(lanes: Any, matrix: Floats, row: int, count: int) -> None:
    """Set the lanes to the rows from ``row`` at span 0, where every value is a block of its own."""
    n_values, cost, best, held = matrix.shape[1], lanes.cost, lanes.best, lanes.held
    for j in range(n_values):
        for lane in range(_LANES):
            held[lane] = 0.0
        for i in range(j, n_values):
            for lane in range(count):
                held[lane] += matrix[row + lane, i]
                share = held[lane]
                cost[j, i, lane] = -share * math.log2(share) if 0.0 < share < 1.0 else 0.0
        for lane in range(_LANES):
            best[j + 1, lane] = best[j, lane] + cost[j, j, lane]
        lanes.last[j] = j
    for lane in range(_LANES):
        lanes.area[lane] = 0.0


@leaf
def _allow_group(lanes: Any, pairs: Any, group: int) -> None:
    """Allow all blocks of one difference in ``lanes``, and carry on what they improve through all allowed blocks."""
    n_values, last, dirty = len(lanes.last), lanes.last, lanes.dirty
    first, top = n_values, -1
    for event in range(pairs.ends[group - 1] if group else 0, pairs.ends[group]):
        j, i = pairs.low[event], pairs.high[event]
        last[j] = i
        if _improves(lanes, j, i):
            dirty[i + 1] = True
            first, top = min(first, i + 1), max(top, i + 1)
    k = first
    while k <= top and k < n_values:
        if dirty[k]:
            dirty[k] = False
            for i in range(k, last[k] + 1):
                if _improves(lanes, k, i):
                    dirty[i + 1] = True
                    top = max(top, i + 1)
        k += 1
    dirty[n_values] = False


@leaf
def _improves(lanes: Any, j: int, i: int) -> bool:
    """Return whether the block j..i lowered the entropy of the first i + 1 values in any lane of ``lanes``."""
    cost, best, fell = lanes.cost, lanes.best, 0
    for lane in range(_LANES):
        tried, known = best[j, lane] + cost[j, i, lane], best[i + 1, lane]
        # a gain within rounding would be carried on for nothing
        less = tried < known - _LEAST_GAIN
        best[i + 1, lane] = tried if less else known
        fell |= less
    return fell != 0
