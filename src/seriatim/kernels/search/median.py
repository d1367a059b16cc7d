"""Recursive median cuts: Mondrian (LeFevre, DeWitt, Ramakrishnan 2006) on columns of codes.

Rows are moved, not pointed at, so that every pass reads memory in order, and a row's codes lie side by side in lanes of
eight, so that the compiler moves and measures a row with one instruction each. Each quasi column is a tree of nested
ranges (see ``model.scale``): a cut falls between two children of the lowest node that holds the whole range, at the
boundary nearest the median. For a plain number the children are its single values, so that is the textbook cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from seriatim.kernels.search.acceptance import accepts

LANES = 8
FEW = 256


class Rows(NamedTuple):
    """Codes of rows that are about to be moved."""

    lanes: npt.NDArray[np.uint16]
    """rows x columns: the quasi columns of few values, padded with zeros to a multiple of ``LANES``."""
    wide: npt.NDArray[np.int32]
    """columns x rows: the quasi columns whose values are too many for 16 bits; they come after those in lanes."""
    also: npt.NDArray[np.int32]
    """further columns x rows that move along: the sensitive codes in order, then the row numbers."""


class Trees(NamedTuple):
    """The scales of the quasi columns, flat, one after the other."""

    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    """Where a column's ``starts`` and ``ends`` begin: height 0 of code 0."""
    sizes: npt.NDArray[np.int64]
    tops: npt.NDArray[np.int64]
    positions: npt.NDArray[np.float64]
    position_offsets: npt.NDArray[np.int64]
    spans: npt.NDArray[np.float64]
    """The whole width of a column; 0 when its width is counted in values of the tree's node."""


class Rules(NamedTuple):
    """When a piece may be cut."""

    k: int
    relaxed: bool
    stop: int
    """Pieces of at most this size are handed back uncut, for other workers; 0 cuts to the end."""


class Desk(NamedTuple):
    """Room to work in, allocated once per worker."""

    codes: npt.NDArray[np.int32]
    """The codes of the column that is being tried, side by side."""
    histogram: npt.NDArray[np.int32]
    few: npt.NDArray[np.int64]
    """The codes near a median, sorted."""
    left: npt.NDArray[np.int64]
    whole: npt.NDArray[np.int64]
    scratch: npt.NDArray[np.float64]
    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    width: npt.NDArray[np.float64]
    turn: npt.NDArray[np.int64]


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def cut_by_median(rows: Any, spare: Any, bounds: tuple[int, int], trees: Any, rules: Any, tests: Any) -> Any:
    """Cut the rows between ``bounds`` in place; ``spare`` is room of the same shape.

    Returns where the pieces begin, ascending; the rows of a piece lie side by side.
    """
    begin, end = bounds
    desk = _desk(end - begin, trees, tests)
    k = max(rules.k, 1)
    found = np.empty(max((end - begin) // k, 1) + 1, dtype=np.int64)
    n_found = 0
    stack = [(begin, end, False)]
    while len(stack) > 0:
        first, last, in_spare = stack.pop()
        cut = first
        if last - first >= 2 * k and last - first > rules.stop:
            if in_spare:
                cut = _cut(spare, rows, first, last, trees, rules, tests, desk)
            else:
                cut = _cut(rows, spare, first, last, trees, rules, tests, desk)
        if cut > first:
            stack.append((cut, last, not in_spare))
            stack.append((first, cut, not in_spare))
        else:
            if in_spare:
                rows.lanes[first:last] = spare.lanes[first:last]
                rows.wide[:, first:last] = spare.wide[:, first:last]
                rows.also[:, first:last] = spare.also[:, first:last]
            found[n_found] = first
            n_found += 1
    return found[:n_found].copy()


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _desk(n: int, trees: Any, tests: Any) -> Any:
    n_quasi = len(trees.sizes)
    largest = 1
    for column in range(n_quasi):
        largest = max(largest, trees.sizes[column])
    n_values = tests.offsets[-1]
    return Desk(
        np.empty(n, dtype=np.int32),
        np.zeros(largest + 1, dtype=np.int32),
        np.empty(FEW, dtype=np.int64),
        np.zeros(n_values, dtype=np.int64),
        np.zeros(n_values, dtype=np.int64),
        np.empty(2 * n_values + 2, dtype=np.float64),
        np.empty(n_quasi + LANES, dtype=np.int64),
        np.empty(n_quasi + LANES, dtype=np.int64),
        np.empty(n_quasi, dtype=np.float64),
        np.empty(n_quasi, dtype=np.int64),
    )


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _cut(here: Any, there: Any, first: int, last: int, trees: Any, rules: Any, tests: Any, desk: Any) -> int:
    """Try the columns, widest first, until one can be cut; the rows are moved ``there``. ``first`` when none can."""
    _measure(here, first, last, trees, desk)
    if len(tests.kinds) > 0:
        _count(here.also, first, last, tests, desk.whole)
    for rank in range(len(trees.sizes)):
        column = desk.turn[rank]
        if desk.width[column] <= 0.0:
            break
        _read(here, first, last, column, len(trees.sizes), desk.codes)
        cut = _try_cut(here, there, first, last, column, trees, rules, tests, desk)
        if cut > first:
            return cut
    return first


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _measure(here: Any, first: int, last: int, trees: Any, desk: Any) -> None:
    """The range of every column in this piece, and the columns widest first."""
    n_quasi, n_wide = len(trees.sizes), here.wide.shape[0]
    for block in range(0, here.lanes.shape[1], LANES):
        _ranges(here.lanes, first, last, block, desk.low, desk.high)
    for column in range(n_wide):
        least = most = here.wide[column, first]
        for row in range(first + 1, last):
            least = min(least, here.wide[column, row])
            most = max(most, here.wide[column, row])
        desk.low[n_quasi - n_wide + column], desk.high[n_quasi - n_wide + column] = least, most
    for column in range(n_quasi):
        desk.width[column] = _width(column, desk.low[column], desk.high[column], trees)
        rank = column
        while rank > 0 and desk.width[desk.turn[rank - 1]] < desk.width[column]:
            desk.turn[rank] = desk.turn[rank - 1]
            rank -= 1
        desk.turn[rank] = column


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _ranges(lanes: Any, first: int, last: int, at: int, low: npt.NDArray[Any], high: npt.NDArray[Any]) -> None:
    """Least and greatest of eight columns at once; written out so that the compiler sees one vector."""
    l0 = h0 = lanes[first, at]
    l1 = h1 = lanes[first, at + 1]
    l2 = h2 = lanes[first, at + 2]
    l3 = h3 = lanes[first, at + 3]
    l4 = h4 = lanes[first, at + 4]
    l5 = h5 = lanes[first, at + 5]
    l6 = h6 = lanes[first, at + 6]
    l7 = h7 = lanes[first, at + 7]
    for row in range(first + 1, last):
        l0, h0 = min(l0, lanes[row, at]), max(h0, lanes[row, at])
        l1, h1 = min(l1, lanes[row, at + 1]), max(h1, lanes[row, at + 1])
        l2, h2 = min(l2, lanes[row, at + 2]), max(h2, lanes[row, at + 2])
        l3, h3 = min(l3, lanes[row, at + 3]), max(h3, lanes[row, at + 3])
        l4, h4 = min(l4, lanes[row, at + 4]), max(h4, lanes[row, at + 4])
        l5, h5 = min(l5, lanes[row, at + 5]), max(h5, lanes[row, at + 5])
        l6, h6 = min(l6, lanes[row, at + 6]), max(h6, lanes[row, at + 6])
        l7, h7 = min(l7, lanes[row, at + 7]), max(h7, lanes[row, at + 7])
    low[at], low[at + 1], low[at + 2], low[at + 3] = l0, l1, l2, l3
    low[at + 4], low[at + 5], low[at + 6], low[at + 7] = l4, l5, l6, l7
    high[at], high[at + 1], high[at + 2], high[at + 3] = h0, h1, h2, h3
    high[at + 4], high[at + 5], high[at + 6], high[at + 7] = h4, h5, h6, h7


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _width(column: int, least: int, most: int, trees: Any) -> float:
    if least == most:
        return 0.0
    if trees.spans[column] > 0.0:
        at = trees.position_offsets[column]
        return float(min((trees.positions[at + most] - trees.positions[at + least]) / trees.spans[column], 1.0))
    node = trees.offsets[column] + _height(column, least, most, trees) * trees.sizes[column] + least
    return float((trees.ends[node] - trees.starts[node]) / trees.sizes[column])


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _height(column: int, least: int, most: int, trees: Any) -> int:
    """The lowest height whose range holds both codes."""
    size, at = trees.sizes[column], trees.offsets[column]
    height = 0
    while trees.starts[at + height * size + least] != trees.starts[at + height * size + most]:
        height += 1
    return height


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _read(here: Any, first: int, last: int, column: int, n_quasi: int, codes: npt.NDArray[np.int32]) -> None:
    in_wide = column - (n_quasi - here.wide.shape[0])
    if in_wide >= 0:
        for row in range(first, last):
            codes[row - first] = here.wide[in_wide, row]
    else:
        for row in range(first, last):
            codes[row - first] = here.lanes[row, column]


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _try_cut(
    here: Any, there: Any, first: int, last: int, column: int, trees: Any, rules: Any, tests: Any, desk: Any
) -> int:
    """Where to cut along the column just read, the rows moved ``there``; ``first`` when no cut is allowed."""
    n, least, most = last - first, desk.low[column], desk.high[column]
    codes, k = desk.codes, max(rules.k, 1)
    middle, below, equal = _median(codes, n, least, most, desk.histogram, desk.few)
    if rules.relaxed:
        # the first rows that equal the median go left until the left holds half
        if n // 2 < k or not _accepted(here.also, codes, first, n, middle, n // 2 - below, tests, desk):
            return first
        _move(here, there, codes, first, n, n // 2, middle, n // 2 - below)
        return first + n // 2
    height = _height(column, least, most, trees)
    child = trees.offsets[column] + (height - 1) * trees.sizes[column] + middle
    start, stop = trees.starts[child], trees.ends[child]
    upto = below + equal
    if stop - start > 1:
        below, upto = _count_below(codes, n, start, stop)
    nearer = 0 if abs(2 * below - n) <= abs(2 * upto - n) else 1
    for attempt in range(2):
        at_start = (nearer == 0) == (attempt == 0)
        edge, n_left = (start, below) if at_start else (stop, upto)
        if n_left >= k and n - n_left >= k and _accepted(here.also, codes, first, n, edge, 0, tests, desk):
            _move(here, there, codes, first, n, n_left, edge, 0)
            return first + n_left
    return first


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _median(
    codes: npt.NDArray[np.int32],
    n: int,
    least: int,
    most: int,
    histogram: npt.NDArray[np.int32],
    few: npt.NDArray[np.int64],
) -> tuple[int, int, int]:
    """The median code, how many codes lie below it and how many equal it. The histogram comes and goes all zero.

    A wide range is counted in coarse steps first; only the codes in the step that holds the median are sorted.
    """
    half, shift = n // 2, 0
    while (most - least) >> shift > 4 * n:
        shift += 1
    for row in range(n):
        histogram[(codes[row] - least) >> shift] += 1
    below, step = 0, 0
    while below + histogram[step] <= half:
        below += histogram[step]
        step += 1
    equal = int(histogram[step])
    for clear in range(((most - least) >> shift) + 1):
        histogram[clear] = 0
    if shift == 0:
        return least + step, below, equal
    if equal > len(few):
        return _median_sorted(codes[:n])
    found = 0
    for row in range(n):
        if (codes[row] - least) >> shift == step:
            place = found
            while place > 0 and few[place - 1] > codes[row]:
                few[place] = few[place - 1]
                place -= 1
            few[place] = codes[row]
            found += 1
    middle = few[half - below]
    at, equal = half - below, 1
    while at > 0 and few[at - 1] == middle:
        at -= 1
    while at + equal < found and few[at + equal] == middle:
        equal += 1
    return int(middle), below + at, equal


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _median_sorted(codes: npt.NDArray[np.int32]) -> tuple[int, int, int]:
    """For codes crowded into one step of a wide range."""
    ordered = np.sort(codes)
    middle = ordered[len(codes) // 2]
    below = np.searchsorted(ordered, middle)
    return int(middle), int(below), int(np.searchsorted(ordered, middle, side="right") - below)


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _count_below(codes: npt.NDArray[np.int32], n: int, start: int, stop: int) -> tuple[int, int]:
    below, upto = 0, 0
    for row in range(n):
        below += codes[row] < start
        upto += codes[row] < stop
    return below, upto


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _count(also: npt.NDArray[np.int32], first: int, last: int, tests: Any, counts: npt.NDArray[np.int64]) -> None:
    counts[:] = 0
    for column in range(len(tests.offsets) - 1):
        at = tests.offsets[column]
        for row in range(first, last):
            counts[at + also[column, row]] += 1


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _accepted(
    also: npt.NDArray[np.int32],
    codes: npt.NDArray[np.int32],
    first: int,
    n: int,
    edge: int,
    ties: int,
    tests: Any,
    desk: Any,
) -> bool:
    """Whether both parts pass all tests; the right counts are the whole less the left."""
    if len(tests.kinds) == 0:
        return True
    desk.left[:] = 0
    n_left = 0
    for row in range(n):
        is_left = codes[row] < edge or (codes[row] == edge and ties > 0)
        if is_left:
            ties -= codes[row] == edge
            n_left += 1
            for sensitive in range(len(tests.offsets) - 1):
                desk.left[tests.offsets[sensitive] + also[sensitive, first + row]] += 1
    if not accepts(tests, desk.left, n_left, desk.scratch):
        return False
    desk.left[:] = desk.whole - desk.left
    return bool(accepts(tests, desk.left, n - n_left, desk.scratch))


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _move(
    here: Any, there: Any, codes: npt.NDArray[np.int32], first: int, n: int, n_left: int, edge: int, ties: int
) -> None:
    """Rows below the edge, and the first ``ties`` rows on it, go to the left part; the others to the right."""
    go_left, go_right = first, first + n_left
    for row in range(n):
        tie = codes[row] == edge and ties > 0
        is_left = codes[row] < edge or tie
        ties -= tie
        to = go_left if is_left else go_right
        for block in range(0, here.lanes.shape[1], LANES):
            for lane in range(LANES):
                there.lanes[to, block + lane] = here.lanes[first + row, block + lane]
        for column in range(here.wide.shape[0]):
            there.wide[column, to] = here.wide[column, first + row]
        for column in range(here.also.shape[0]):
            there.also[column, to] = here.also[column, first + row]
        go_left += is_left
        go_right += not is_left
