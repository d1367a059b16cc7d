"""Boxes of a few people, cut along hierarchies: a cut falls between two children of the lowest common node.

A box that crosses such a boundary would be published under the parent's label, however near its people are. Columns
without a hierarchy are cut exactly in half, people with the median's value on either side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, inner, kernel, sort_array_part


class BoxTrees(NamedTuple):
    """The scales of the quasi columns, flat, one after the other; see ``model.scale``."""

    starts: Ints
    ends: Ints
    meta: Longs
    """columns x (where its starts and ends begin, its number of values, where its positions begin)"""
    positions: Floats
    spans: Floats
    """The whole width of a column; 0 if its width is counted in values of the tree's node."""


class Spread(NamedTuple):
    """The codes of one column that occur in a box: from ``low`` to ``high``."""

    column: int
    low: int
    high: int


@inner
def _common_node(column: int, low: int, high: int, trees: BoxTrees) -> int:
    """Return where the lowest node with both codes begins in ``starts`` and ``ends``, less the code."""
    at = trees.meta[column, 0]
    while trees.starts[at + low] != trees.starts[at + high]:
        at += trees.meta[column, 1]
    return int(at)


@inner
def _width(column: int, low: int, high: int, trees: BoxTrees) -> float:
    """Return how wide a range of codes is, as a share of its column."""
    if low == high:
        return 0.0
    if trees.spans[column] > 0.0:
        at = trees.meta[column, 2]
        return float(min((trees.positions[at + high] - trees.positions[at + low]) / trees.spans[column], 1.0))
    node = _common_node(column, low, high, trees) + low
    return float((trees.ends[node] - trees.starts[node]) / trees.meta[column, 1])


@inner
def _median_code(codes: Ints, n: int, low: int, high: int, counts: Longs) -> int:
    """Return the middle one of ``codes[:n]``; sorts them if they are fewer than the values between low and high."""
    if n <= high - low:
        sort_array_part(codes, 0, n)
        return int(codes[n // 2])
    for code in range(low, high + 1):
        counts[code] = 0
    for i in range(n):
        counts[codes[i]] += 1
    seen = 0
    for code in range(low, high + 1):
        seen += counts[code]
        if seen > n // 2:
            return code
    return high


@inner
def _tree_edge(codes: Ints, n: int, spread: Spread, middle: int, trees: BoxTrees, least: int) -> int:
    """Return the boundary of the median's child nearest to half that leaves both sides ``least``; -1 for none."""
    child = _common_node(spread.column, spread.low, spread.high, trees) - trees.meta[spread.column, 1] + middle
    start, stop = trees.starts[child], trees.ends[child]
    below, upto = 0, 0
    for i in range(n):
        below += codes[i] < start
        upto += codes[i] < stop
    best, off = -1, n
    if least <= below <= n - least:
        best, off = start, abs(2 * below - n)
    if least <= upto <= n - least and abs(2 * upto - n) < off:
        best = stop
    return int(best)


@kernel
def cut_tree_boxes(ids: Ints, runs: Longs, codes: Ints, trees: BoxTrees, least: int) -> Longs:
    """Return the number of the box of every position; reorder the ids inside each run in place.

    ``codes`` has a row per id and a column per quasi-identifier. Each run is cut while both sides keep ``least``.
    """
    n_columns = codes.shape[1]
    box, room = np.empty(len(ids), dtype=np.int64), np.empty(len(ids), dtype=np.int32)
    own = np.empty(len(ids), dtype=np.int32)
    low, high = np.empty(n_columns, dtype=np.int64), np.empty(n_columns, dtype=np.int64)
    width, largest = np.empty(n_columns), 1
    for column in range(n_columns):
        largest = max(largest, trees.meta[column, 1])
    counts = np.empty(largest + 1, dtype=np.int64)
    stack = np.empty((len(ids) + 2, 2), dtype=np.int64)
    n_boxes = 0
    for run in range(len(runs) - 1):
        stack[0, 0], stack[0, 1] = runs[run], runs[run + 1]
        depth = 1 if runs[run] < runs[run + 1] else 0
        while depth:
            depth -= 1
            lo, hi = stack[depth, 0], stack[depth, 1]
            n, n_left = hi - lo, 0
            if n >= 2 * least:
                for column in range(n_columns):
                    low[column] = high[column] = codes[ids[lo], column]
                    for i in range(lo + 1, hi):
                        low[column] = min(low[column], codes[ids[i], column])
                        high[column] = max(high[column], codes[ids[i], column])
                    width[column] = _width(column, low[column], high[column], trees)
            while n_left == 0 and n >= 2 * least:
                column, most = -1, 0.0
                for other in range(n_columns):
                    if width[other] > most:
                        column, most = other, width[other]
                if column < 0:
                    break
                width[column] = 0.0
                for i in range(n):
                    own[i] = codes[ids[lo + i], column]
                middle = _median_code(own, n, low[column], high[column], counts)
                top = _common_node(column, low[column], high[column], trees)
                plain = trees.spans[column] > 0.0 and top == trees.meta[column, 0] + trees.meta[column, 1]
                edge, ties = middle, 0
                if plain:
                    below = 0
                    for i in range(n):
                        below += own[i] < middle
                    ties = n // 2 - below
                else:
                    spread = Spread(column, low[column], high[column])
                    edge = _tree_edge(own, n, spread, middle, trees, least)
                    if edge < 0:
                        continue
                n_right = 0
                for i in range(lo, hi):
                    code = codes[ids[i], column]
                    if code < edge or (code == edge and ties > 0):
                        ties -= code == edge
                        ids[lo + n_left] = ids[i]
                        n_left += 1
                    else:
                        room[n_right] = ids[i]
                        n_right += 1
                for i in range(n_right):
                    ids[lo + n_left + i] = room[i]
            if n_left == 0:
                for i in range(lo, hi):
                    box[i] = n_boxes
                n_boxes += 1
            else:
                stack[depth, 0], stack[depth, 1] = lo, lo + n_left
                stack[depth + 1, 0], stack[depth + 1, 1] = lo + n_left, hi
                depth += 2
    return box
