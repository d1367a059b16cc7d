"""How close one sensitive column of every class is to the margin on a tree of values: earth mover's distance."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, kernel


@kernel
def tree_distances(starts: Longs, value: Ints, count: Ints, margin: Floats, nodes: Ints) -> Floats:
    """Return earth mover's distance on a value tree; ``nodes[h, v]`` names the node at height h above value v.

    Classes are sparse runs, see ``value_counts``; nan for an empty one. Mass that cannot stay under a node of height h
    must pass above it: the distance is the sum over heights of what crosses, each step up and down costing
    1 / (2 top). That is the same number as matching surplus to lack node by node, reached another way.
    """
    n_classes, n_values, top = len(starts) - 1, len(margin), nodes.shape[0] - 1
    distance = np.full(n_classes, np.nan)
    surplus, lack = np.zeros(n_values), np.zeros((top, n_values))
    for height in range(top):
        for code in range(n_values):
            lack[height, nodes[height, code]] += margin[code]
    for each in range(n_classes):
        size = 0
        for i in range(starts[each], starts[each + 1]):
            size += count[i]
        if size == 0:
            continue
        crossing = 0.0
        for height in range(top):
            for node in range(n_values):
                surplus[node] = -lack[height, node]
            for i in range(starts[each], starts[each + 1]):
                surplus[nodes[height, value[i]]] += count[i] / size
            for node in range(n_values):
                crossing += abs(surplus[node])
        # what leaves one node arrives at another: each crossing was counted at both ends
        distance[each] = crossing / (2.0 * top)
    return distance
