"""Counts records inside boxes: in truth, and by uniform spread over published ranges; boxes of a wanted count."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, kernel

STEPS = 8192
"""A box grows from one cell to the whole domain in so many steps, by the same share of every column."""


@kernel
def count_inside(codes: Ints, asked: Ints, low: Ints, high: Ints) -> int:
    """Return how many records (columns x records) have codes in low .. high, ends included, in the asked columns."""
    # column by column without a branch: random records would be guessed wrong half of the time
    inside = np.ones(codes.shape[1], dtype=np.uint8)
    for column in asked:
        first, last = low[column], high[column]
        for record in range(codes.shape[1]):
            inside[record] &= (codes[column, record] >= first) & (codes[column, record] <= last)
    found = 0
    for record in range(len(inside)):
        found += inside[record]
    return found


@kernel
def expected_inside(lows: Ints, highs: Ints, weights: Floats, asked: Ints, low: Ints, high: Ints) -> float:
    """Return the expected count when each group's records are spread evenly over its box (columns x groups)."""
    expected = weights.copy()
    for column in asked:
        first, last = low[column], high[column]
        for group in range(lows.shape[1]):
            begin, end = lows[column, group], highs[column, group]
            # the share of the box's codes that are asked about, if its people are spread evenly
            common = max(min(end, last) - max(begin, first) + 1, 0)
            expected[group] *= common / (end - begin + 1)
    total = 0.0
    for group in range(len(expected)):
        total += expected[group]
    return total


@kernel
def fit_box(codes: Ints, sizes: Longs, asked: Ints, centre: Ints, split: Floats, wanted: float) -> Ints:
    """Return first and last code, for each asked column, of a box that holds as near to ``wanted`` records as can be.

    It grows around ``centre``; ``split`` is the part of each range before that. ``codes`` is columns x records.
    """
    entered = np.zeros(codes.shape[1], dtype=np.int64)
    for at in range(len(asked)):
        column, size = asked[at], sizes[asked[at]]
        reached = np.full(size, -1, dtype=np.int64)
        for width in range(1, size + 1):
            first = min(max(centre[at] - int(split[at] * width), 0), size - width)
            step = (width - 1) * STEPS // max(size - 1, 1)
            # a range of one more code contains the one before: an end that is new was reached with this width
            if reached[first] < 0:
                reached[first] = step
            if reached[first + width - 1] < 0:
                reached[first + width - 1] = step
        for record in range(codes.shape[1]):
            # a record is inside once every column has reached it
            entered[record] = max(entered[record], reached[codes[column, record]])
    counts = np.zeros(STEPS + 1, dtype=np.int64)
    for record in range(len(entered)):
        counts[entered[record]] += 1
    inside, best, nearest = 0, 0, 0
    for step in range(STEPS + 1):
        inside += counts[step]
        # every step holds all records of the one before: counting on is enough
        if step == 0 or abs(inside - wanted) < abs(nearest - wanted):
            best, nearest = step, inside
    ends = np.empty((2, len(asked)), dtype=np.int32)
    for at in range(len(asked)):
        size = sizes[asked[at]]
        width = min(((best + 1) * max(size - 1, 1) - 1) // STEPS + 1, size)  # the widest that this step reaches
        ends[0, at] = min(max(centre[at] - int(split[at] * width), 0), size - width)
        ends[1, at] = ends[0, at] + width - 1
    return ends


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
                # one column without anything in common is enough
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
