"""Simulate releases under independence: one path yields the exposure after every number of records."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@njit(cache=True, nogil=True)
def alias_table(weights: FloatArray) -> tuple[FloatArray, LongArray]:
    """Return Walker's tables: draw a place evenly, keep it below its cut, else take the other."""
    n = len(weights)
    cut = weights * n / weights.sum()
    other = np.arange(n)
    small, large = np.empty(n, np.int64), np.empty(n, np.int64)
    n_small = n_large = 0
    for i in range(n):
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
    return cut, other


@njit(cache=True, nogil=True)
def simulate_exposures(p: FloatArray, weights: FloatArray, stops: LongArray, n_paths: int, seed: int) -> FloatArray:
    """Return the whole exposure, in nats, of every path (columns) at every stop (rows); records are x, y independent.

    Random numbers are splitmix64's: the same on every machine.
    """
    width = len(p)
    cut, other = alias_table(np.outer(weights, p).ravel())
    log_p = np.log(np.where(p > 0.0, p, 1.0))
    most = stops[-1]
    n = np.arange(most + 2).astype(np.float64)
    f = n * np.log(np.maximum(n, 1.0))
    step = f[1:] - f[:-1]
    counts, totals = np.zeros(len(cut), np.int64), np.zeros(len(weights), np.int64)
    out = np.empty((len(stops), n_paths))
    for path in range(n_paths):
        state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(path) * np.uint64(0xD1342543DE82EF95)
        counts[:] = 0
        totals[:] = 0
        exposure = 0.0
        stop = 0
        for i in range(1, most + 1):
            state += np.uint64(0x9E3779B97F4A7C15)
            z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            place = np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * (len(cut) / 9007199254740992.0)
            cell = int(place)
            if place - cell >= cut[cell]:
                cell = other[cell]
            y = cell // width
            exposure += step[counts[cell]] - step[totals[y]] - log_p[cell - y * width]
            counts[cell] += 1
            totals[y] += 1
            if i == stops[stop]:
                out[stop, path] = exposure
                stop += 1
    return out
