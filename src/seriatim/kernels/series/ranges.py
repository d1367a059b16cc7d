"""Range counts: how many people a query over intervals finds, exactly and as boxes let one estimate it."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, kernel


@kernel
def expected_in_ranges(low: Ints, high: Ints, people: Floats, from_: Ints, to: Ints) -> Floats:
    """Return for each query the people expected in it when every box's people are spread evenly over its cells."""
    out = np.zeros(len(from_))
    for query in range(len(from_)):
        total = 0.0
        for box in range(len(low)):
            share = people[box]
            for column in range(low.shape[1]):
                inside = min(high[box, column], to[query, column]) - max(low[box, column], from_[query, column]) + 1
                if inside <= 0:
                    share = 0.0
                    break
                share *= inside / (high[box, column] - low[box, column] + 1)
            total += share
        out[query] = total
    return out


@kernel
def range_boxes(codes: Ints, box: Ints, n_boxes: int) -> tuple[Ints, Ints, Floats]:
    """Return the smallest box over the members of each number, and how many they are. Negative numbers stay out."""
    low = np.full((n_boxes, codes.shape[1]), np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full((n_boxes, codes.shape[1]), -1, dtype=np.int32)
    people = np.zeros(n_boxes)
    for i in range(len(box)):
        number = box[i]
        if number < 0:
            continue
        people[number] += 1
        for column in range(codes.shape[1]):
            low[number, column] = min(low[number, column], codes[i, column])
            high[number, column] = max(high[number, column], codes[i, column])
    return low, high, people
