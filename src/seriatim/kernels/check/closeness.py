"""How close one sensitive column of every class is to the margin: total variation, earth mover's distances."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, kernel


@kernel
def closeness_total_variation(starts: Longs, values: Ints, margin: Floats) -> Floats:
    """Return half the L1 distance between each class and the margin."""
    n_classes = len(starts) - 1
    distance = np.empty(n_classes)
    counts = np.zeros(len(margin), dtype=np.int64)
    for each in range(n_classes):
        size = starts[each + 1] - starts[each]
        for row in range(starts[each], starts[each + 1]):
            counts[values[row]] += 1
        # absent values lack their whole share; correct that for those present
        apart = 1.0
        for row in range(starts[each], starts[each + 1]):
            value = values[row]
            if counts[value] > 0:
                apart += abs(counts[value] / size - margin[value]) - margin[value]
                counts[value] = 0
        distance[each] = apart / 2.0
    return distance


@kernel
def closeness_ordered_distance(starts: Longs, values: Ints, margin: Floats) -> Floats:
    """Return earth mover's distance on ranks, neighbours 1 / (m - 1) apart."""
    n_classes, n_values = len(starts) - 1, len(margin)
    distance = np.zeros(n_classes)
    counts = np.zeros(n_values, dtype=np.int64)
    for each in range(n_classes):
        size = starts[each + 1] - starts[each]
        for value in range(n_values):
            counts[value] = 0
        for row in range(starts[each], starts[each + 1]):
            counts[values[row]] += 1
        ahead = 0.0
        for value in range(n_values - 1):
            ahead += counts[value] / size - margin[value]
            distance[each] += abs(ahead)
        if n_values > 1:
            distance[each] /= n_values - 1
    return distance


@kernel
def closeness_tree_distance(starts: Longs, values: Ints, margin: Floats, nodes: Ints) -> Floats:
    """Return earth mover's distance on a value tree; ``nodes[h, v]`` names the node at height h above value v.

    Mass that cannot stay under a node of height h must pass above it: the distance is the sum over heights of what
    crosses, each step up and down costing 1 / (2 top). That is the same number as matching surplus to lack node by
    node, reached another way.
    """
    n_classes, n_values, top = len(starts) - 1, len(margin), nodes.shape[0] - 1
    distance = np.zeros(n_classes)
    surplus = np.zeros(n_values)
    for each in range(n_classes):
        size = starts[each + 1] - starts[each]
        for height in range(top):
            for value in range(n_values):
                surplus[value] = 0.0
            for value in range(n_values):
                surplus[nodes[height, value]] -= margin[value]
            for row in range(starts[each], starts[each + 1]):
                surplus[nodes[height, values[row]]] += 1.0 / size
            for value in range(n_values):
                distance[each] += abs(surplus[value]) / (2.0 * top)
    return distance
