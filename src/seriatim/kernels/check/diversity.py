"""How diverse one sensitive column is in every class: distinct values, entropy, recursive tail."""

from __future__ import annotations

import math

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, kernel


@kernel
def diversity_of_classes(starts: Longs, values: Ints, n_values: int) -> tuple[Floats, Floats]:
    """Return distinct values and entropy (nats) per class; ``values`` are the codes in class order."""
    n_classes = len(starts) - 1
    distinct, entropy = np.zeros(n_classes), np.zeros(n_classes)
    counts = np.zeros(n_values, dtype=np.int64)
    for each in range(n_classes):
        size = starts[each + 1] - starts[each]
        for row in range(starts[each], starts[each + 1]):
            counts[values[row]] += 1
        for row in range(starts[each], starts[each + 1]):
            count = counts[values[row]]
            if count > 0:
                share = count / size
                distinct[each] += 1
                entropy[each] -= share * math.log(share)
                counts[values[row]] = 0
    return distinct, entropy


@kernel
def recursive_diversity_slack(starts: Longs, values: Ints, n_values: int, depth: int, c: float) -> Floats:
    """Return c (r_l + ... + r_m) - r_1 per class, r_1 the count of the most frequent value; kept when positive."""
    n_classes = len(starts) - 1
    slack = np.empty(n_classes)
    counts = np.zeros(n_values, dtype=np.int64)
    for each in range(n_classes):
        for value in range(n_values):
            counts[value] = 0
        for row in range(starts[each], starts[each + 1]):
            counts[values[row]] += 1
        tail, most = starts[each + 1] - starts[each], 0
        for rank in range(min(max(depth - 1, 1), n_values)):
            largest = 0
            for value in range(n_values):
                if counts[value] > counts[largest]:
                    largest = value
            most = max(most, counts[largest])
            if rank < depth - 1:
                tail -= counts[largest]
            counts[largest] = 0
        slack[each] = c * tail - most
    return slack
