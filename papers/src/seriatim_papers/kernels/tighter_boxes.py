"""Tightening: tuples of equal value swap between near groups where both boxes together become smaller.

Boxes are measured by the squares of their sides. By the sides alone it pays to collect everyone far out in one huge
box, and a reader who spreads its people evenly is misled more by that one than by many that are a little wider.
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, Singles, kernel, leaf
from seriatim_papers.kernels.halves import HalvesArrays

REACH = 5
"""So many of the next groups, in the order of the cuts, are tried for a swap."""
ROUNDS = 2
LEAST = 1e-6
"""Gains below this are rounding."""


@leaf
def _frame(spots: Singles, real: Flags, first: int, size: int, edges: Singles) -> None:
    """Write into ``edges`` per dimension the lowest, second lowest, second highest and highest place of a group."""
    for dim in range(spots.shape[1]):
        low, low2, high2, high = np.float32(np.inf), np.float32(np.inf), np.float32(-np.inf), np.float32(-np.inf)
        for i in range(first, first + size):
            if real[i]:
                spot = spots[i, dim]
                low2 = min(low2, max(low, spot))
                low = min(low, spot)
                high2 = max(high2, min(high, spot))
                high = max(high, spot)
        edges[dim, 0], edges[dim, 1], edges[dim, 2], edges[dim, 3] = low, low2, high2, high


@leaf
def _gain(spots: Singles, here: Singles, there: Singles, own: int, other: int) -> float:
    """Return by how much the squared sides of both boxes shrink when ``own`` of here and ``other`` of there swap."""
    gain = np.float32(0.0)
    for dim in range(spots.shape[1]):
        own_spot, other_spot = spots[own, dim], spots[other, dim]
        low = here[dim, 1] if own_spot == here[dim, 0] else here[dim, 0]
        high = here[dim, 2] if own_spot == here[dim, 3] else here[dim, 3]
        gain += (here[dim, 3] - here[dim, 0]) ** 2 - (max(high, other_spot) - min(low, other_spot)) ** 2
        low = there[dim, 1] if other_spot == there[dim, 0] else there[dim, 0]
        high = there[dim, 2] if other_spot == there[dim, 3] else there[dim, 3]
        gain += (there[dim, 3] - there[dim, 0]) ** 2 - (max(high, own_spot) - min(low, own_spot)) ** 2
    return float(gain)


@leaf
def _swap_all(ids: Ints, spots: Singles, real: Flags, edges: Singles, size: int) -> int:
    """Return how many swaps one round over all groups made; ``ids``, ``spots`` and ``edges`` change in place."""
    n_groups, swaps = len(edges), 0
    for at in range(n_groups - 1):
        for other in range(at + 1, min(at + 1 + REACH, n_groups)):
            for j in range(size):
                first, second = at * size + j, other * size + j
                if not (real[first] and real[second]) or _gain(spots, edges[at], edges[other], first, second) <= LEAST:
                    continue
                ids[first], ids[second] = ids[second], ids[first]
                for dim in range(spots.shape[1]):
                    spots[first, dim], spots[second, dim] = spots[second, dim], spots[first, dim]
                _frame(spots, real, at * size, size, edges[at])
                _frame(spots, real, other * size, size, edges[other])
                swaps += 1
    return swaps


@kernel
def tighter_bucket(ids: Ints, base: int, size: int, step: int, place: Singles, n_real: int) -> int:
    """Return how many swaps were made inside one bucket of ``ids``, in place.

    It is laid out as by ``halve_bucket``: its i-th group is the i-th tuple of each value. A counterfeit (a number from
    ``n_real`` on) stays where it is. Every swap shrinks the boxes, so nothing goes in circles.
    """
    own, real = np.empty(size * step, dtype=np.int32), np.empty(size * step, dtype=np.bool_)
    spots = np.empty((size * step, place.shape[1]), dtype=np.float32)
    edges = np.empty((step, place.shape[1], 4), dtype=np.float32)
    for at in range(step):
        for j in range(size):
            k, i = at * size + j, ids[base + j * step + at]
            own[k], real[k] = i, 0 <= i < n_real
            for dim in range(place.shape[1]):
                spots[k, dim] = place[i, dim]
        _frame(spots, real, at * size, size, edges[at])
    swaps = 0
    for _ in range(ROUNDS):
        moved = _swap_all(own, spots, real, edges, size)
        swaps += moved
        if moved == 0:
            break
    for at in range(step):
        for j in range(size):
            ids[base + j * step + at] = own[at * size + j]
    return swaps


@kernel
def tighter_boxes_of_buckets(which: Longs, ids: Ints, buckets: HalvesArrays, place: Singles, n_real: int) -> int:
    """Return how many swaps were made; tighten these buckets of ``ids`` in place.

    Others may do other buckets meanwhile.
    """
    swaps = 0
    for each in which:
        if buckets.steps[each] > 1:
            base, size, step = buckets.bases[each], buckets.sizes[each], buckets.steps[each]
            swaps += tighter_bucket(ids, base, size, step, place, n_real)
    return swaps
