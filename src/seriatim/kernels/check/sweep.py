"""The least entropy of all partitions into blocks of a bounded span, for every span at once.

``best[i]`` is the least entropy of the first i values under the span reached so far. As the span grows, one block after
another becomes allowed: block j..i at the span ``steps[i] - steps[j]``. It is tested against ``best[i + 1]``, and only
improvements are carried on, through the blocks that are allowed already. A block's cost is inverse Monge, so the usual
shortcuts for such recurrences do not apply.

``steps`` are whole numbers in rising order, each once; ``shares`` are positive and sum to 1. Entropies are in bits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Floats, Ints, Longs, inner, kernel, leaf

_LEAST_GAIN = 1e-14
_NOTHING = 1e-12


class ValuePairs(NamedTuple):
    """All pairs of values by rising difference; those of one difference are a group."""

    low: Ints
    high: Ints
    ends: Longs
    """Where each group ends."""
    widths: Longs
    """The difference of each group, in steps."""


class SpanState(NamedTuple):
    """What the sweep knows at one span; changed in place."""

    cost: Floats
    """``cost[j, i]`` is what the block j..i adds to the entropy."""
    best: Floats
    last: Ints
    """The last value that a block from each value may hold."""
    dirty: Flags
    """Whose improvement has not been carried on."""


@kernel
def least_entropies(pairs: Any, shares: Floats) -> Floats:
    """Return the least entropy at 0 and after each group of pairs."""
    n_values = len(shares)
    state = _room(n_values)
    _begin(state, shares)
    found = np.empty(len(pairs.ends) + 1)
    found[0] = _clean(state.best[n_values])
    for group in range(len(pairs.ends)):
        _allow_group(state, pairs, group)
        found[group + 1] = _clean(state.best[n_values])
    return found


@kernel
def entropy_areas(starts: Longs, value: Ints, weight: Floats, steps: Longs, areas: Floats) -> None:
    """Write into ``areas`` the area of each class, from sparse counts; a value whose step is negative is left out."""
    most = 0
    for each in range(len(starts) - 1):
        most = max(most, starts[each + 1] - starts[each])
    held, shares, state = np.empty(most, dtype=np.int64), np.empty(most), _room(most)
    for each in range(len(starts) - 1):
        n_held, size = 0, 0.0
        for i in range(starts[each], starts[each + 1]):
            if steps[value[i]] >= 0:
                held[n_held], shares[n_held] = steps[value[i]], weight[i]
                size += weight[i]
                n_held += 1
        for i in range(n_held):
            shares[i] /= size
        areas[each] = _area(held[:n_held], shares[:n_held], state) if n_held else np.nan


@leaf
def _area(steps: Longs, shares: Floats, state: Any) -> float:
    """Return the area below the least entropy, in steps x bits; overwrites ``state``.

    The next span is found by looking at every value.
    """
    n_values = len(steps)
    _begin(state, shares)
    last = state.last
    area, reached, left = 0.0, 0, state.best[n_values]
    # where nothing is left to find out, wider spans add no area
    while left > _NOTHING:
        span = -1
        for j in range(n_values):
            after = last[j] + 1
            if after < n_values and (span < 0 or steps[after] - steps[j] < span):
                span = steps[after] - steps[j]
        if span < 0:
            break
        area += left * (span - reached)
        reached, first, top = span, n_values, -1
        for j in range(n_values):
            after = last[j] + 1
            if after < n_values and steps[after] - steps[j] == span and _allow(state, j, after):
                first, top = min(first, after + 1), max(top, after + 1)
        _carry_on(state, first, top, n_values)
        left = state.best[n_values]
    return area


@inner
def _room(n_values: int) -> SpanState:
    """Return room for the state of up to ``n_values`` values."""
    return SpanState(
        np.empty((n_values, n_values)),
        np.zeros(n_values + 1),
        np.empty(n_values, dtype=np.int32),
        np.zeros(n_values + 1, dtype=np.bool_),
    )


@leaf
def _begin(state: Any, shares: Floats) -> None:
    """Set the state to span 0, where every value is a block of its own."""
    for j in range(len(shares)):
        held, cost = 0.0, state.cost[j]
        for i in range(j, len(shares)):
            held += shares[i]
            cost[i] = -held * math.log2(held) if 0.0 < held < 1.0 else 0.0
        state.best[j + 1] = state.best[j] + cost[j]
        state.last[j] = j


@leaf
def _allow_group(state: Any, pairs: Any, group: int) -> None:
    """Allow all blocks of one difference in ``state``, and carry on what they improve."""
    n_values = len(state.last)
    first, top = n_values, -1
    for event in range(pairs.ends[group - 1] if group else 0, pairs.ends[group]):
        i = pairs.high[event]
        if _allow(state, pairs.low[event], i):
            first, top = min(first, i + 1), max(top, i + 1)
    _carry_on(state, first, top, n_values)


@leaf
def _allow(state: Any, j: int, i: int) -> bool:
    """Return whether allowing the block j..i in ``state`` lowered the entropy of the first i + 1 values."""
    state.last[j] = i
    tried = state.best[j] + state.cost[j, i]
    if tried < state.best[i + 1] - _LEAST_GAIN:
        state.best[i + 1] = tried
        state.dirty[i + 1] = True
        return True
    return False


@leaf
def _carry_on(state: Any, first: int, top: int, n_values: int) -> None:
    """Carry improvements on through all allowed blocks of ``state``; ``first`` to ``top`` have them."""
    best, dirty, k = state.best, state.dirty, first
    while k <= top and k < n_values:
        if dirty[k]:
            dirty[k] = False
            cost, base = state.cost[k], best[k]
            for i in range(k, state.last[k] + 1):
                tried = base + cost[i]
                if tried < best[i + 1] - _LEAST_GAIN:
                    best[i + 1] = tried
                    dirty[i + 1] = True
                    top = max(top, i + 1)
        k += 1
    # no block begins behind the last value
    dirty[n_values] = False


@leaf
def _clean(entropy: float) -> float:
    """Return an entropy, 0 where only rounding is left of it."""
    return entropy if entropy > _NOTHING else 0.0
