"""The best way to cut an order of records into segments, by dynamic programme.

The loss of a segment is its size times the sum of its columns' widths, which never falls when a segment grows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, inner, kernel
from seriatim.kernels.single.acceptance import class_acceptance
from seriatim.kernels.single.window_costs import window_cost_runs, window_cost_width, window_cost_widths

NONE = -1
_STRETCH = 64
_TOGETHER = 1024


@kernel
def segments_by_size(lanes: Any, k: int) -> Longs:
    """Return where the segments begin when each needs ``k`` records: least loss, segments of k to 2k - 1.

    Of equal ways to end at a record the longest last segment wins. Fewer than k records are one segment.
    """
    n_records = lanes.low.shape[1]
    if n_records < 2 * k:
        return np.zeros(min(n_records, 1), dtype=np.int64)
    best = np.full(n_records + 1, np.inf)
    last = np.full(n_records + 1, NONE, dtype=np.int32)
    best[0] = 0.0
    low, high = np.empty(_TOGETHER, dtype=np.float32), np.empty(_TOGETHER, dtype=np.float32)
    widths = np.empty((k, _TOGETHER), dtype=np.float32)
    for ends in range(k, n_records + 1, _TOGETHER):
        n_windows = min(_TOGETHER, n_records + 1 - ends)
        window_cost_widths(lanes, (ends, n_windows), k, low, high, widths)
        for place in range(n_windows):
            upto = ends + place
            least, start = np.inf, NONE
            for length in range(k, min(2 * k - 1, upto) + 1):
                cost = best[upto - length] + length * widths[length - k, place]
                better = cost <= least
                least, start = cost if better else least, upto - length if better else start
            best[upto], last[upto] = least, start
    return _traced(last)


@kernel
def segments_by_tests(records: Any, values: Ints, k: int, step: int, most: int, tests: Any) -> Longs:
    """Return where the segments begin when each needs ``k`` records and must pass the tests; empty when there is none.

    Borders lie on multiples of ``step``, a segment has at most ``most`` steps; where none of these can end, now and
    then a longer one is stretched back to the first border from which it passes. ``values`` are places in the flat
    counts of the tests, sensitive columns x records.
    """
    n_records = values.shape[1]
    n_runs = (n_records + step - 1) // step
    lanes = window_cost_runs(records, step)
    best = np.full(n_runs + 1, np.inf)
    last = np.full(n_runs + 1, NONE, dtype=np.int32)
    best[0] = 0.0
    low, high = np.empty(_TOGETHER, dtype=np.float32), np.empty(_TOGETHER, dtype=np.float32)
    widths = np.empty((most, _TOGETHER), dtype=np.float32)
    tally = np.zeros(tests.offsets[-1], dtype=np.int64)
    scratch = np.empty(2 * tests.offsets[-1] + 2, dtype=np.float64)
    for upto in range(1, n_runs + 1):
        place = (upto - 1) % _TOGETHER
        if place == 0:
            window_cost_widths(lanes, (upto, min(_TOGETHER, n_runs + 1 - upto)), 1, low, high, widths)
        stop, longest = min(upto * step, n_records), min(most, upto)
        for value in range(len(tally)):
            tally[value] = 0
        for length in range(1, longest + 1):
            start = upto - length
            for sensitive in range(values.shape[0]):
                for record in range(start * step, min((start + 1) * step, n_records)):
                    tally[values[sensitive, record]] += 1
            size = stop - start * step
            cost = best[start] + size * widths[length - 1, place]
            if size >= k and cost < np.inf and cost <= best[upto] and class_acceptance(tests, tally, size, scratch):
                best[upto], last[upto] = cost, start
        if last[upto] == NONE and longest < upto and (upto % most == 0 or upto == n_runs):
            back = upto if upto == n_runs else min(upto, _STRETCH * most)
            stretch = SegmentStretch(upto - longest, upto - back, stop)
            start = _stretched(values, SegmentScratch(best, tally, scratch), stretch, SegmentSteps(step, k), tests)
            if start != NONE:
                best[upto] = best[start] + (stop - start * step) * window_cost_width(lanes, start, upto)
                last[upto] = start
    return _traced(last) * step


class SegmentSteps(NamedTuple):
    """How long a step is, and how many records a segment needs (k)."""

    step: int
    k: int


class SegmentStretch(NamedTuple):
    """From which border back to which one, and the record at which the segment stops."""

    start: int
    end: int
    stop: int


class SegmentScratch(NamedTuple):
    """The least cost up to each border; scratch for the counts of a segment and for its tests."""

    best: Floats
    tally: Longs
    scratch: Floats


@inner
def _stretched(values: Ints, work: SegmentScratch, stretch: SegmentStretch, steps: SegmentSteps, tests: Any) -> int:
    """Return the first border back from which records up to ``stop`` pass; sizes tried grow. Adds to ``work.tally``."""
    tally, step, start = work.tally, steps.step, stretch.start
    wanted = 0
    while start > stretch.end:
        start -= 1
        for sensitive in range(values.shape[0]):
            for record in range(start * step, (start + 1) * step):
                tally[values[sensitive, record]] += 1
        size = stretch.stop - start * step
        if size >= steps.k and work.best[start] < np.inf and (size >= wanted or start == 0):
            if class_acceptance(tests, tally, size, work.scratch):
                return start
            wanted = size + size // 8
    return NONE


@inner
def _traced(last: Ints) -> Longs:
    """Return where the segments begin, traced back from the end."""
    n_found, at = 0, len(last) - 1
    while at > 0 and last[at] != NONE:
        at = last[at]
        n_found += 1
    found = np.empty(n_found if at == 0 else 0, dtype=np.int64)
    at = len(last) - 1
    for place in range(len(found) - 1, -1, -1):
        at = last[at]
        found[place] = at
    return found


@kernel
def segment_sizes_that_pass(values: Ints, ends: Longs, least: int, tests: Any) -> Any:
    """Return for each of these ends about how many records before it pass the tests together; 0 when none do.

    Sizes grow by an eighth from trial to trial.
    """
    found = np.zeros(len(ends), dtype=np.int64)
    tally = np.zeros(tests.offsets[-1], dtype=np.int64)
    scratch = np.empty(2 * tests.offsets[-1] + 2, dtype=np.float64)
    for index in range(len(ends)):
        for value in range(len(tally)):
            tally[value] = 0
        size, wanted = 0, max(least, 1)
        while wanted <= ends[index]:
            for record in range(ends[index] - wanted, ends[index] - size):
                for sensitive in range(values.shape[0]):
                    tally[values[sensitive, record]] += 1
            size = wanted
            if class_acceptance(tests, tally, size, scratch):
                found[index] = size
                break
            wanted = size + max(size // 8, 1)
    return found
