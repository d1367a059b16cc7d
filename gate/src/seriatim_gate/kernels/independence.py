"""Simulate releases under independence: one path yields the exposure after every number of records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Floats, Longs, kernel


@kernel
def alias_tables(cut: Floats, other: Longs) -> None:
    """Turn the weights ``cut`` (mean 1) in place into Walker's tables: draw a cell, above its cut take ``other``."""
    n_cells = len(cut)
    small, large = np.empty(n_cells, np.int64), np.empty(n_cells, np.int64)
    n_small = n_large = 0
    for i in range(n_cells):
        if cut[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small and n_large:
        n_small -= 1
        i, j = small[n_small], large[n_large - 1]
        other[i] = j
        cut[j] -= 1.0 - cut[i]
        if cut[j] < 1.0:
            n_large -= 1
            small[n_small] = j
            n_small += 1
    while n_small:
        n_small -= 1
        cut[small[n_small]] = 1.0
    while n_large:
        n_large -= 1
        cut[large[n_large]] = 1.0


class IndependentPairs(NamedTuple):
    """What pairs of a value of X and a target are drawn from, and what one more of them adds to the exposure."""

    cut: Floats
    other: Longs
    """Walker's tables over all cells, target by target."""
    log_p: Floats
    """The logarithm of every value's share."""
    step: Floats
    """By n: f(n + 1) - f(n), f(n) = n ln n."""


@kernel
def simulate(pairs: IndependentPairs, stops: Longs, seed: int, out: Floats) -> None:
    """Write into ``out`` the whole exposure, in nats, of every path (columns) at every stop (rows).

    Values and targets are independent. Random numbers are splitmix64's: the same on every machine.
    """
    cut, other, log_p, step = pairs.cut, pairs.other, pairs.log_p, pairs.step
    width, most = len(log_p), stops[-1]
    counts, totals = np.zeros(len(cut), np.int64), np.zeros(len(cut) // width, np.int64)
    for path in range(out.shape[1]):
        state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(path) * np.uint64(0xD1342543DE82EF95)
        for i in range(len(counts)):
            counts[i] = 0
        for i in range(len(totals)):
            totals[i] = 0
        exposure = 0.0
        stop = 0
        for i in range(1, most + 1):
            state += np.uint64(0x9E3779B97F4A7C15)
            mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            place = np.float64((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)) * (len(cut) / 9007199254740992.0)
            cell = int(place)
            if place - cell >= cut[cell]:
                cell = other[cell]
            target = cell // width
            exposure += step[counts[cell]] - step[totals[target]] - log_p[cell - target * width]
            counts[cell] += 1
            totals[target] += 1
            if i == stops[stop]:
                out[stop, path] = exposure
                stop += 1
