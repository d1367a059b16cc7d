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
    """Codes of rows that are about to be moved. ``lanes`` may hold any unsigned or signed integer type."""

    lanes: npt.NDArray[Any]
    """rows x columns of quasi codes; the columns padded with zeros to a multiple of ``LANES``."""
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
    desk = _desk(trees, tests)
    n_quasi = len(trees.sizes)
    found = np.empty(max((end - begin) // max(rules.k, 1), 1) + 1, dtype=np.int64)
    n_found = 0
    stack = [(begin, end, False)]
    while len(stack) > 0:
        first, last, in_spare = stack.pop()
        here, there = (spare, rows) if in_spare else (rows, spare)
        cut = first
        if last - first >= 2 * max(rules.k, 1) and last - first > rules.stop:
            _measure(here.lanes, first, last, trees, desk)
            if len(tests.kinds) > 0:
                _count(here.also, first, last, tests, desk.whole)
            for rank in range(n_quasi):
                column = desk.turn[rank]
                if desk.width[column] <= 0.0:
                    break
                cut = _try_cut(here, there, first, last, column, trees, rules, tests, desk)
                if cut > first:
                    break
        if cut > first:
            stack.append((cut, last, not in_spare))
            stack.append((first, cut, not in_spare))
        else:
            if in_spare:
                rows.lanes[first:last] = spare.lanes[first:last]
                rows.also[:, first:last] = spare.also[:, first:last]
            found[n_found] = first
            n_found += 1
    return found[:n_found].copy()


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _desk(trees: Any, tests: Any) -> Any:
    n_quasi = len(trees.sizes)
    largest = 1
    for column in range(n_quasi):
        largest = max(largest, trees.sizes[column])
    padded = (max(n_quasi, 1) + LANES - 1) // LANES * LANES  # the rows have a block of lanes even without a column
    n_values = tests.offsets[-1]
    return Desk(
        np.zeros(largest + 1, dtype=np.int32),
        np.empty(FEW, dtype=np.int64),
        np.zeros(n_values, dtype=np.int64),
        np.zeros(n_values, dtype=np.int64),
        np.empty(2 * n_values + 2, dtype=np.float64),
        np.empty(padded, dtype=np.int64),
        np.empty(padded, dtype=np.int64),
        np.empty(n_quasi, dtype=np.float64),
        np.empty(n_quasi, dtype=np.int64),
    )


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _measure(lanes: npt.NDArray[Any], first: int, last: int, trees: Any, desk: Any) -> None:
    """The range of every column in this piece, and the columns widest first."""
    for block in range(0, lanes.shape[1], LANES):
        _ranges(lanes, first, last, block, desk.low, desk.high)
    for column in range(len(trees.sizes)):
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
def _try_cut(
    here: Any, there: Any, first: int, last: int, column: int, trees: Any, rules: Any, tests: Any, desk: Any
) -> int:
    """Where to cut along one column, the rows moved ``there``, left part first; ``first`` when no cut is allowed."""
    n, least, most = last - first, desk.low[column], desk.high[column]
    middle, below, equal = _median(here.lanes, first, last, column, least, most, desk)
    k = max(rules.k, 1)
    if rules.relaxed:
        # the first rows that equal the median go left until the left holds half
        if n // 2 < k or not _accepted(here, first, last, column, middle, n // 2 - below, tests, desk):
            return first
        _move(here, there, first, last, first + n // 2, column, middle, n // 2 - below)
        return first + n // 2
    height = _height(column, least, most, trees)
    child = trees.offsets[column] + (height - 1) * trees.sizes[column] + middle
    start, stop = trees.starts[child], trees.ends[child]
    upto = below + equal
    if stop - start > 1:
        below, upto = _count_below(here.lanes, first, last, column, start, stop)
    nearer = 0 if abs(2 * below - n) <= abs(2 * upto - n) else 1
    for attempt in range(2):
        at_start = (nearer == 0) == (attempt == 0)
        edge, n_left = (start, below) if at_start else (stop, upto)
        if n_left >= k and n - n_left >= k and _accepted(here, first, last, column, edge, 0, tests, desk):
            _move(here, there, first, last, first + n_left, column, edge, 0)
            return first + n_left
    return first


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _median(
    lanes: npt.NDArray[Any], first: int, last: int, column: int, least: int, most: int, desk: Any
) -> tuple[int, int, int]:
    """The median code, how many codes lie below it and how many equal it. The histogram comes and goes all zero.

    A wide range is counted in coarse steps first; only the codes in the step that holds the median are sorted.
    """
    histogram, half = desk.histogram, (last - first) // 2
    shift = 0
    while (most - least) >> shift > 4 * (last - first):
        shift += 1
    for row in range(first, last):
        histogram[(int(lanes[row, column]) - least) >> shift] += 1
    below, step = 0, 0
    while below + histogram[step] <= half:
        below += histogram[step]
        step += 1
    equal = int(histogram[step])
    for clear in range(((most - least) >> shift) + 1):
        histogram[clear] = 0
    if shift == 0:
        return least + step, below, equal
    found = 0
    for row in range(first, last):
        code = int(lanes[row, column])
        if (code - least) >> shift == step:
            place = found
            while place > 0 and desk.few[place - 1] > code:
                desk.few[place] = desk.few[place - 1]
                place -= 1
            desk.few[place] = code
            found += 1
            if found == len(desk.few):
                break
    if found < equal:
        return _median_sorted(lanes, first, last, column)
    middle = desk.few[half - below]
    at, equal = half - below, 1
    while at > 0 and desk.few[at - 1] == middle:
        at -= 1
    while at + equal < found and desk.few[at + equal] == middle:
        equal += 1
    return int(middle), below + at, equal


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _median_sorted(lanes: npt.NDArray[Any], first: int, last: int, column: int) -> tuple[int, int, int]:
    """For codes crowded into one step of a wide range."""
    ordered = np.sort(lanes[first:last, column])
    middle = ordered[(last - first) // 2]
    below = np.searchsorted(ordered, middle)
    return int(middle), int(below), int(np.searchsorted(ordered, middle, side="right") - below)


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _count_below(lanes: Any, first: int, last: int, column: int, start: int, stop: int) -> tuple[int, int]:
    below, upto = 0, 0
    for row in range(first, last):
        below += lanes[row, column] < start
        upto += lanes[row, column] < stop
    return below, upto


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _count(also: npt.NDArray[np.int32], first: int, last: int, tests: Any, counts: npt.NDArray[np.int64]) -> None:
    counts[:] = 0
    for column in range(len(tests.offsets) - 1):
        at = tests.offsets[column]
        for row in range(first, last):
            counts[at + also[column, row]] += 1


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _accepted(here: Any, first: int, last: int, column: int, edge: int, ties: int, tests: Any, desk: Any) -> bool:
    """Whether both parts pass all tests; the right counts are the whole less the left."""
    if len(tests.kinds) == 0:
        return True
    desk.left[:] = 0
    n_left = 0
    for row in range(first, last):
        code = here.lanes[row, column]
        is_left = code < edge or (code == edge and ties > 0)
        if is_left:
            ties -= code == edge
            n_left += 1
            for sensitive in range(len(tests.offsets) - 1):
                desk.left[tests.offsets[sensitive] + here.also[sensitive, row]] += 1
    if not accepts(tests, desk.left, n_left, desk.scratch):
        return False
    desk.left[:] = desk.whole - desk.left
    return bool(accepts(tests, desk.left, last - first - n_left, desk.scratch))


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _move(here: Any, there: Any, first: int, last: int, cut: int, column: int, edge: int, ties: int) -> None:
    """Rows below the edge, and the first ``ties`` rows on it, go to the left of ``cut``; the others to its right."""
    go_left, go_right = first, cut
    for row in range(first, last):
        code = here.lanes[row, column]
        tie = code == edge and ties > 0
        is_left = code < edge or tie
        ties -= tie
        to = go_left if is_left else go_right
        for block in range(0, here.lanes.shape[1], LANES):
            for lane in range(LANES):
                there.lanes[to, block + lane] = here.lanes[row, block + lane]
        for also in range(here.also.shape[0]):
            there.also[also, to] = here.also[also, row]
        go_left += is_left
        go_right += not is_left
