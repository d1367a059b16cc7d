"""What classes drawn by lot would leak."""

from __future__ import annotations

import math

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, kernel


@kernel
def leakage_of_random_classes(pool: Ints, prior: Floats, uniforms: Floats) -> Floats:
    """Return distribution leakages: row k - 1, column d is that of the first k records of draw d. Shuffles ``pool``.

    ``pool`` holds the value of every record and is shuffled in place: whatever order a draw leaves it in, the
    next partial shuffle of it is uniform again. ``uniforms`` has one number in [0, 1) per draw and record.
    """
    draws, largest = uniforms.shape
    leaks = np.empty((largest, draws))
    counts = np.zeros(len(prior), dtype=np.int64)
    squares = 0.0
    for share in prior:
        squares += share * share
    for draw in range(draws):
        same, along = 0, 0.0
        for i in range(largest):
            j = i + int(uniforms[draw, i] * (len(pool) - i))
            pool[i], pool[j] = pool[j], pool[i]
            value = pool[i]
            same += 2 * counts[value] + 1
            counts[value] += 1
            along += prior[value]
            k = i + 1
            leaks[i, draw] = math.sqrt(max(same / (k * k) - 2.0 * along / k + squares, 0.0))
        for i in range(largest):
            counts[pool[i]] = 0
    return leaks
