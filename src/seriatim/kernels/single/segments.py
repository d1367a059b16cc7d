"""The best way to cut an order of records into segments, by dynamic programme.

The loss of a segment is its size times the sum of its columns' widths, which never falls when a segment grows.

What the records of a window cost, all columns together, is found without looking a range up. There are two kinds of
columns, and for both a window that grows by a record is measured by one comparison:

* a column whose ranges are spans of its scale: every record has its place on the scale as a float, and a window is as
  wide as its last place less its first;
* a column with a hierarchy: the smallest node that holds several records is the largest of those that hold two
  neighbours, so each record has the width of the node that holds it and the one after it, and a window is as wide as
  the largest of these but its last record's.

So columns lie one after the other, and many windows of one length are widened with one instruction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Floats, Ints, Longs, Singles, Words, copy_array, inner, kernel, leaf
from seriatim.kernels.single.acceptance import passes_tests


class WindowWidths(NamedTuple):
    """What ranges of codes cost, column by column."""

    nested: Flags
    at: Longs
    """Where a column's figures begin."""
    sizes: Longs
    tables: Singles
    """``tables[at + code]``: the share of the scale below a code; nested: how wide the range is that holds it, heights
    in order."""
    starts: Ints
    """Nested: where that range begins; laid out like ``tables``."""


class WindowLanes(NamedTuple):
    """Runs of records in an order, column by column: their least and largest place, or, nested, their own width and
    that of the run with the first record after it."""

    low: Singles
    high: Singles
    nested: Flags


@kernel
def window_cost_lanes(words: Words, layout: Any, widths: Any) -> Any:
    """Return the lanes of packed rows in their order, each a run of its own."""
    n_rows = words.shape[1]
    high = np.zeros((len(layout.words), n_rows), dtype=np.float32)
    # of a single record the least place is the largest: one array serves both, unless hierarchies need zeros in one
    low = high
    for column in range(len(widths.nested)):
        if widths.nested[column]:
            low = np.zeros((len(layout.words), n_rows), dtype=np.float32)
            break
    for column in range(len(layout.words)):
        shift, mask, at = layout.shifts[column], layout.masks[column], np.uint64(widths.at[column])
        word, lane = words[layout.words[column]], high[column]
        if widths.nested[column]:
            for row in range(n_rows - 1):
                here, there = at + ((word[row] >> shift) & mask), at + ((word[row + 1] >> shift) & mask)
                lane[row] = _joint(widths.starts, widths.tables, here, there, np.uint64(widths.sizes[column]))
            continue
        for row in range(n_rows):
            lane[row] = widths.tables[at + ((word[row] >> shift) & mask)]
        copy_array(low[column], lane)
    return WindowLanes(low, high, widths.nested)


@inner
def _joint(starts: Ints, tables: Singles, here: Any, there: Any, size: Any) -> Any:
    """Return the width of the smallest range that holds both codes."""
    # heights lie one after the other: `size` further on is the same code one height up
    while starts[here] != starts[there]:
        here += size
        there += size
    return tables[here]


@kernel
def window_cost_runs(lanes: Any, step: int) -> Any:
    """Return the lanes of runs of ``step`` of these runs."""
    if step == 1:
        return lanes
    n_columns, n_finer = lanes.low.shape
    n_runs = (n_finer + step - 1) // step
    low, high = np.empty((n_columns, n_runs), dtype=np.float32), np.empty((n_columns, n_runs), dtype=np.float32)
    for column in range(n_columns):
        for run in range(n_runs):
            first, end = run * step, min((run + 1) * step, n_finer)
            low[column, run], high[column, run] = _run(lanes, column, first, end)
    return WindowLanes(low, high, lanes.nested)


@inner
def _run(lanes: Any, column: int, first: int, end: int) -> tuple[Any, Any]:
    """Return the lowest and the highest code of a column in a window of runs."""
    # the last run counts without its step to the next one, which lies outside the window
    low, high = lanes.low[column, end - 1], lanes.high[column, end - 1]
    for run in range(first, end - 1):
        if lanes.nested[column]:
            low = max(low, lanes.high[column, run])
        else:
            low, high = min(low, lanes.low[column, run]), max(high, lanes.high[column, run])
    return low, max(low, high)


@kernel
def window_cost_width(lanes: Any, first: int, end: int) -> float:
    """Return what all columns cost in one window."""
    total = np.float32(0.0)
    for column in range(len(lanes.nested)):
        low, high = _run(lanes, column, first, end)
        total += low if lanes.nested[column] else high - low
    return float(total)


@kernel
def window_cost_widths(
    lanes: Any, windows: tuple[int, int], least: int, low: Singles, high: Singles, wide: Singles
) -> None:
    """Write into ``wide`` what all columns cost in the windows that end before run ``ends``, ``ends + 1``, ...

    ``windows`` is ``ends`` and how many they are. ``wide`` has a row for each length from ``least`` up, with room for
    as many windows or more; what would begin before the first run there means nothing. ``low`` and ``high`` are
    scratch.
    """
    ends, n_windows = windows
    for row in range(len(wide)):
        for window in range(n_windows):
            wide[row, window] = 0.0
    most = least + len(wide) - 1
    for column in range(len(lanes.nested)):
        nested = lanes.nested[column]
        lows, highs = lanes.low[column], lanes.high[column]
        # every lane starts with the window of one run; longer windows add a run in front
        copy_array(high, lows[ends - 1 : ends - 1 + n_windows] if nested else highs[ends - 1 : ends - 1 + n_windows])
        if nested:
            for window in range(n_windows):
                low[window] = 0.0
        else:
            copy_array(low, lows[ends - 1 : ends - 1 + n_windows])
        for length in range(1, most + 1):
            # windows that would begin before the first run stay as they are: nobody reads them
            skip = max(length - ends, 0)
            if skip >= n_windows:
                break
            upto = ends + n_windows - length
            if length > 1:
                _raise(high[skip:n_windows], highs[ends + skip - length : upto])
                if not nested:
                    _lower(low[skip:n_windows], lows[ends + skip - length : upto])
            if length >= least:
                _add_difference(wide[length - least, skip:n_windows], high[skip:n_windows], low[skip:n_windows])


@leaf
def _raise(into: Singles, by: Singles) -> None:
    """Raise ``into`` to ``by`` where that is more."""
    for place in range(len(into)):
        # a choice and no branch: many are done with one instruction
        into[place] = by[place] if by[place] > into[place] else into[place]


@leaf
def _lower(into: Singles, by: Singles) -> None:
    """Lower ``into`` to ``by`` where that is less."""
    for place in range(len(into)):
        into[place] = by[place] if by[place] < into[place] else into[place]


@leaf
def _add_difference(into: Singles, high: Singles, low: Singles) -> None:
    """Add ``high - low`` to ``into``."""
    for place in range(len(into)):
        into[place] += high[place] - low[place]


NONE = -1
_STRETCH = 64
_TOGETHER = 1024


@kernel
def cut_by_size(lanes: Any, k: int) -> Longs:
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
            # 2k records could be cut in two at no loss, so no segment is longer
            for length in range(k, min(2 * k - 1, upto) + 1):
                cost = best[upto - length] + length * widths[length - k, place]
                # costs go up and down at random: a branch would be guessed wrong half of the time
                better = cost <= least
                least, start = cost if better else least, upto - length if better else start
            best[upto], last[upto] = least, start
    return _traced(last)


@kernel
def cut_by_tests(records: Any, values: Ints, k: int, step: int, most: int, tests: Any) -> Longs:
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
            # the tests cost most by far: only what would win is tested
            if size >= k and cost < np.inf and cost <= best[upto] and passes_tests(tests, tally, size, scratch):
                best[upto], last[upto] = cost, start
        # not at every border: a stretch looks at many records, and one way to go on is enough
        if last[upto] == NONE and longest < upto and (upto % most == 0 or upto == n_runs):
            # the end must be reached, however far back its segment begins
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
        # a test costs as much as counting a segment anew: the size tried grows by an eighth each time
        if size >= steps.k and work.best[start] < np.inf and (size >= wanted or start == 0):
            if passes_tests(tests, tally, size, work.scratch):
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
    # a trace that does not come to the start is no cut
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
            if passes_tests(tests, tally, size, scratch):
                found[index] = size
                break
            wanted = size + max(size // 8, 1)
    return found
