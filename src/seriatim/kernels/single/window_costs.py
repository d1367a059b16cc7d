"""What the records of a window of an order cost, all columns together, without looking a range up.

Two kinds of columns, and for both a window that grows by a record is measured by one comparison:

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

from seriatim.kernels.arrays import Flags, Ints, Longs, Singles, Words, copy_array, inner, kernel, leaf


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
        copy_array(high, lows[ends - 1 : ends - 1 + n_windows] if nested else highs[ends - 1 : ends - 1 + n_windows])
        if nested:
            for window in range(n_windows):
                low[window] = 0.0
        else:
            copy_array(low, lows[ends - 1 : ends - 1 + n_windows])
        for length in range(1, most + 1):
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
