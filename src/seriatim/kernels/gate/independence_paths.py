"""Simulate releases under independence: one path yields the exposure after every number of records."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Longs, kernel


@kernel
def simulation_alias(cut: Floats, other: Longs) -> None:
    """Turn weights with mean 1 into Walker's tables: draw a place, keep it below its cut, else take the other."""
    n = len(cut)
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


@kernel
def gate_simulation_of_exposure(
    cut: Floats, other: Longs, log_p: Floats, step: Floats, counts: Longs, totals: Longs, stops: Longs, seed: int,
    out: Floats,
) -> None:  # fmt: skip
    """Write the whole exposure, in nats, of every path (columns) at every stop (rows); x and y are independent.

    ``step[n]`` is f(n + 1) - f(n). Random numbers are splitmix64's: the same on every machine.
    """
    width, most = len(log_p), stops[-1]
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
