"""At one width: the least entropy of a partition into windows, and the largest mass of one window.

``reach[v]`` is the last value that a window from value v holds; it never falls from one value to the next.
"""

from __future__ import annotations

import math

import numpy as np

from seriatim.kernels.arrays import Floats, Longs, kernel, leaf


@kernel
def window_entropies(matrix: Floats, reach: Longs) -> Floats:
    """Return each row's least entropy in bits, by the recurrence of the paper; a row may hold zeros."""
    n_values = matrix.shape[1]
    found, best = np.empty(len(matrix)), np.empty(n_values + 1)
    for row in range(len(matrix)):
        found[row] = _entropy(matrix[row], reach, best)
    return found


@kernel
def window_hit_chances(matrix: Floats, reach: Longs) -> Floats:
    """Return the largest mass that one window holds, for each row."""
    found = np.zeros(len(matrix))
    for row in range(len(matrix)):
        held, last = 0.0, -1
        for first in range(matrix.shape[1]):
            while last < reach[first]:
                last += 1
                held += matrix[row, last]
            found[row] = max(found[row], held)
            held -= matrix[row, first]
        found[row] = min(found[row], 1.0)
    return found


@leaf
def _entropy(shares: Floats, reach: Longs, best: Floats) -> float:
    """Return the least entropy of one row; overwrites ``best``."""
    n_values = len(shares)
    best[0] = 0.0
    for i in range(1, n_values + 1):
        best[i] = np.inf
    for first in range(n_values):
        held = 0.0
        for last in range(first, reach[first] + 1):
            held += shares[last]
            cost = -held * math.log2(held) if 0.0 < held < 1.0 else 0.0
            best[last + 1] = min(best[last + 1], best[first] + cost)
    return best[n_values] if best[n_values] > 1e-12 else 0.0
