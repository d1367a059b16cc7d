"""Recursive median cuts: Mondrian (LeFevre, DeWitt, Ramakrishnan 2006) on columns of codes.

Rows are moved, not pointed at, so that every pass reads memory in order. A row is a few words of eight bytes: its
small codes lie side by side in lanes of one byte, so that the compiler measures eight of them with one instruction.
Each quasi column is a tree of nested ranges (see ``model.scale``): a cut falls between two children of the lowest node
that holds the whole range, at the boundary nearest the median. For a plain number the children are its single values,
so that is the textbook cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Bytes, Floats, Ints, Longs, Words, inner, kernel, leaf
from seriatim.kernels.single.acceptance import passes_tests
from seriatim.kernels.single.middle import FEW, median_code

LANES = 8


# the columns of ``ColumnScales.meta``
AT, SIZE, POSITION = 0, 1, 2
# the rows of the working numbers of the columns
LOW, HIGH = 0, 1


class RowWords(NamedTuple):
    """Rows that are about to be moved, with room for them to move to: side x rows x what a row holds.

    The rows lie on side 0; side 1 is the room. The three arrays are the same memory. A row is: the quasi columns of at
    most 256 values, a byte each, padded to ``LANES``; the other quasi columns, then the sensitive codes in order, then
    the row's number, four bytes each.
    """

    lanes: Bytes
    ints: Ints
    words: Words
    first_int: int
    """Where the wide quasi columns begin in ``ints``."""
    n_wide: int
    """How many they are; they come after those in lanes."""


class ColumnScales(NamedTuple):
    """The scales of the quasi columns, flat, one after the other."""

    starts: Ints
    ends: Ints
    """Ranges by column, height and code; see ``model.scale``."""
    meta: Longs
    """columns x (where its starts and ends begin, its number of values, where its positions begin)"""
    positions: Floats
    spans: Floats
    """The whole width of a column; 0 when its width is counted in values of the tree's node."""


class CutRules(NamedTuple):
    """When a piece may be cut: both sides have k people or more."""

    k: int
    relaxed: bool
    stop: int
    """Pieces of at most this size are handed back uncut, for other workers; 0 cuts to the end."""


class CutPiece(NamedTuple):
    """Rows ``first`` to ``last`` - 1 of one side, about to be cut."""

    side: int
    first: int
    last: int


class CodeSpan(NamedTuple):
    """The codes of a column in a piece: range and median, and how many are below the median or equal it."""

    column: int
    low: int
    high: int
    middle: int
    below: int
    equal: int


class ColumnCut(NamedTuple):
    """Where a piece is cut: ``n_left`` of its codes are below the edge, or on it as far as ``ties`` go."""

    codes: Ints
    edge: int
    n_left: int
    ties: int


class ValueCounts(NamedTuple):
    """How often each sensitive value is in the left part and in the whole piece."""

    left: Longs
    whole: Longs


@kernel
def cut_rows(rows: Any, bounds: tuple[int, int], trees: Any, rules: Any, tests: Any) -> Any:
    """Return where the pieces begin, ascending; cut the rows between ``bounds`` in place.

    The rows of a piece lie side by side.
    """
    begin, end = bounds
    lanes, ints, words, first_int, n_wide = rows.lanes, rows.ints, rows.words, rows.first_int, rows.n_wide
    n_quasi, k, relaxed = len(trees.spans), max(rules.k, 1), rules.relaxed
    work = np.zeros((2, n_quasi + LANES), dtype=np.int64)
    width = np.zeros(n_quasi)
    codes = np.empty(end - begin, dtype=np.int32)
    # one table serves every column, so it is as long as the longest
    histogram = np.zeros(_largest(trees.meta) + 1, dtype=np.int32)
    few = np.empty(FEW, dtype=np.int64)
    judged = len(tests.kinds) > 0
    n_counts = tests.offsets[-1]
    counts = ValueCounts(np.zeros(n_counts, dtype=np.int64), np.zeros(n_counts, dtype=np.int64))
    scratch = np.empty(2 * n_counts + 2)
    # every piece but the whole has k rows, so there are never more pieces than this
    found = np.empty(max((end - begin) // k, 1) + 1, dtype=np.int64)
    n_found = 0
    # depth first, the left part next: pieces are found in ascending order, and the stack stays as short as the cuts are
    # deep
    stack = [(begin, end, 0)]
    while len(stack) > 0:
        first, last, side = stack.pop()
        n_rows, n_left = last - first, 0
        if n_rows >= 2 * k and n_rows > rules.stop:
            piece = CutPiece(side, first, last)
            _measure(rows, piece, trees, work, width)
            if judged:
                _count(rows, piece, tests.offsets, counts.whole)
            # the widest column first; one that cannot be cut is struck off, until a cut is found or no column has any
            # width
            while n_left == 0:
                column = _widest(width)
                if column < 0:
                    break
                width[column] = 0.0
                if column < n_quasi - n_wide:
                    _read_lane(lanes, side, first, last, column, codes)
                else:
                    _read_int(ints, side, first, last, first_int + column - (n_quasi - n_wide), codes)
                low, high = work[LOW, column], work[HIGH, column]
                middle, below, equal = median_code(codes, n_rows, low, high, histogram, few)
                # a second edge is tried beside the median, where the first leaves one side too few rows or breaks a
                # test
                for attempt in range(2):
                    # relaxed cuts exactly in half, the first rows that equal the median going left
                    edge, n_left, ties = middle, n_rows // 2, n_rows // 2 - below
                    if not relaxed:
                        span = CodeSpan(column, low, high, middle, below, equal)
                        edge, n_left = _edge(codes, n_rows, span, attempt, trees)
                        ties = 0
                    allowed = n_left >= k and n_rows - n_left >= k and not (relaxed and attempt > 0)
                    cut = ColumnCut(codes, edge, n_left, ties)
                    if allowed and judged:
                        allowed = _accepted(rows, piece, cut, tests, counts, scratch)
                    if allowed:
                        if relaxed:
                            _move_ties(words, piece, cut)
                        else:
                            _move(words, piece, cut)
                        break
                    n_left = 0
        if n_left > 0:
            # a cut copies its rows to the other side, so the parts lie there
            stack.append((first + n_left, last, 1 - side))
            stack.append((first, first + n_left, 1 - side))
        else:
            if side == 1:
                _bring_back(words, first, last)
            found[n_found] = first
            n_found += 1
    return found[:n_found].copy()


@leaf
def _bring_back(words: Words, first: int, last: int) -> None:
    """Copy rows of ``words`` from side 1 to side 0, where all end."""
    for row in range(first, last):
        for word in range(words.shape[2]):
            words[0, row, word] = words[1, row, word]


@leaf
def _largest(meta: Longs) -> int:
    """Return the largest number of values of a column."""
    largest = 1
    for column in range(meta.shape[0]):
        largest = max(largest, meta[column, SIZE])
    return largest


@leaf
def _measure(rows: RowWords, piece: CutPiece, trees: ColumnScales, work: Longs, width: Floats) -> None:
    """Write the range of every column in this piece into ``work``, and how wide it is into ``width``."""
    lanes, ints, first_int, n_wide = rows.lanes, rows.ints, rows.first_int, rows.n_wide
    side, first, last = piece.side, piece.first, piece.last
    starts, ends, meta, positions, spans = trees.starts, trees.ends, trees.meta, trees.positions, trees.spans
    n_quasi = len(spans)
    # four one-byte codes fit where one wide code would; wide ones are measured one by one below
    for block in range(0, 4 * first_int, LANES):
        _ranges(lanes, side, first, last, block, work)
    for column in range(n_wide):
        at = first_int + column
        least = most = ints[side, first, at]
        for row in range(first + 1, last):
            least = min(least, ints[side, row, at])
            most = max(most, ints[side, row, at])
        work[LOW, n_quasi - n_wide + column], work[HIGH, n_quasi - n_wide + column] = least, most
    for column in range(n_quasi):
        low, high = work[LOW, column], work[HIGH, column]
        if low == high:
            width[column] = 0.0
        # a column with a span is measured along its scale, any other by the lowest node of its tree
        elif spans[column] > 0.0:
            at = meta[column, POSITION]
            width[column] = min((positions[at + high] - positions[at + low]) / spans[column], 1.0)
        else:
            node = _node(column, low, high, starts, meta)
            width[column] = (ends[node] - starts[node]) / meta[column, SIZE]


@leaf
def _widest(width: Floats) -> int:
    """Return the widest column, the first of equals; -1 when none has any width."""
    widest, found = 0.0, -1
    for column in range(len(width)):
        if width[column] > widest:
            widest, found = width[column], column
    return found


@leaf
def _node(column: int, low: int, high: int, starts: Ints, meta: Longs) -> int:
    """Return where the lowest node that holds both codes stands in ``starts`` and ``ends``, seen from the low one."""
    size, at = meta[column, SIZE], meta[column, AT]
    while starts[at + low] != starts[at + high]:
        at += size
    return int(at + low)


@leaf
def _ranges(lanes: Bytes, side: int, first: int, last: int, at: int, work: Longs) -> None:
    """Write the least and greatest of eight columns into ``work``; spelled out, for the compiler to see one vector."""
    l0 = h0 = lanes[side, first, at]
    l1 = h1 = lanes[side, first, at + 1]
    l2 = h2 = lanes[side, first, at + 2]
    l3 = h3 = lanes[side, first, at + 3]
    l4 = h4 = lanes[side, first, at + 4]
    l5 = h5 = lanes[side, first, at + 5]
    l6 = h6 = lanes[side, first, at + 6]
    l7 = h7 = lanes[side, first, at + 7]
    for row in range(first + 1, last):
        l0, h0 = min(l0, lanes[side, row, at]), max(h0, lanes[side, row, at])
        l1, h1 = min(l1, lanes[side, row, at + 1]), max(h1, lanes[side, row, at + 1])
        l2, h2 = min(l2, lanes[side, row, at + 2]), max(h2, lanes[side, row, at + 2])
        l3, h3 = min(l3, lanes[side, row, at + 3]), max(h3, lanes[side, row, at + 3])
        l4, h4 = min(l4, lanes[side, row, at + 4]), max(h4, lanes[side, row, at + 4])
        l5, h5 = min(l5, lanes[side, row, at + 5]), max(h5, lanes[side, row, at + 5])
        l6, h6 = min(l6, lanes[side, row, at + 6]), max(h6, lanes[side, row, at + 6])
        l7, h7 = min(l7, lanes[side, row, at + 7]), max(h7, lanes[side, row, at + 7])
    work[LOW, at], work[LOW, at + 1], work[LOW, at + 2], work[LOW, at + 3] = l0, l1, l2, l3
    work[LOW, at + 4], work[LOW, at + 5], work[LOW, at + 6], work[LOW, at + 7] = l4, l5, l6, l7
    work[HIGH, at], work[HIGH, at + 1], work[HIGH, at + 2], work[HIGH, at + 3] = h0, h1, h2, h3
    work[HIGH, at + 4], work[HIGH, at + 5], work[HIGH, at + 6], work[HIGH, at + 7] = h4, h5, h6, h7


@leaf
def _count_below(codes: Ints, n_rows: int, start: int, stop: int) -> tuple[int, int]:
    """Return how many codes lie below ``start`` and how many below ``stop``."""
    below, upto = 0, 0
    for row in range(n_rows):
        below += codes[row] < start
        upto += codes[row] < stop
    return below, upto


@leaf
def _read_lane(lanes: Bytes, side: int, first: int, last: int, at: int, codes: Ints) -> None:
    """Write the codes of a column in lanes into ``codes``."""
    for row in range(first, last):
        codes[row - first] = lanes[side, row, at]


@leaf
def _read_int(ints: Ints, side: int, first: int, last: int, at: int, codes: Ints) -> None:
    """Write the codes of a wide column into ``codes``."""
    for row in range(first, last):
        codes[row - first] = ints[side, row, at]


@leaf
def _edge(codes: Ints, n_rows: int, span: CodeSpan, attempt: int, trees: ColumnScales) -> tuple[int, int]:
    """Return the boundary of the median's child nearer to half (attempt 0) or the other, and how many lie below."""
    column, low, high, middle, below, equal = span.column, span.low, span.high, span.middle, span.below, span.equal
    starts, ends, meta = trees.starts, trees.ends, trees.meta
    # one height below the lowest common node: its children are what a cut may divide
    child = _node(column, low, high, starts, meta) - low - meta[column, SIZE] + middle
    start, stop = starts[child], ends[child]
    upto = below + equal
    # a child of one value is the median itself, which is counted already
    if stop - start > 1:
        below, upto = _count_below(codes, n_rows, start, stop)
    at_start = (abs(2 * below - n_rows) <= abs(2 * upto - n_rows)) == (attempt == 0)
    return (int(start), below) if at_start else (int(stop), upto)


@leaf
def _count(rows: RowWords, piece: CutPiece, offsets: Longs, counts: Longs) -> None:
    """Write into ``counts`` how often each sensitive value stands in a piece."""
    ints, at, side, first, last = rows.ints, rows.first_int + rows.n_wide, piece.side, piece.first, piece.last
    for value in range(len(counts)):
        counts[value] = 0
    for column in range(len(offsets) - 1):
        for row in range(first, last):
            counts[offsets[column] + ints[side, row, at + column]] += 1


@inner
def _accepted(
    rows: RowWords, piece: CutPiece, cut: ColumnCut, tests: Any, counts: ValueCounts, scratch: Floats
) -> bool:
    """Return whether both parts pass all tests; the right counts are the whole less the left."""
    ints, at, side, first, n_rows = (
        rows.ints,
        rows.first_int + rows.n_wide,
        piece.side,
        piece.first,
        piece.last - piece.first,
    )
    codes, edge, ties, left, whole = cut.codes, cut.edge, cut.ties, counts.left, counts.whole
    for value in range(len(left)):
        left[value] = 0
    n_left = 0
    for row in range(n_rows):
        is_left = codes[row] < edge or (codes[row] == edge and ties > 0)
        if is_left:
            ties -= codes[row] == edge
            n_left += 1
            for column in range(len(tests.offsets) - 1):
                left[tests.offsets[column] + ints[side, first + row, at + column]] += 1
    if not passes_tests(tests, left, n_left, scratch):
        return False
    for value in range(len(left)):
        # the table of the left part is not needed again
        left[value] = whole[value] - left[value]
    return bool(passes_tests(tests, left, n_rows - n_left, scratch))


@leaf
def _move(words: Words, piece: CutPiece, cut: ColumnCut) -> None:
    """Copy rows of ``words`` to the other side: those below the edge to the left part, the others to the right one."""
    side, first, codes, edge = piece.side, piece.first, cut.codes, cut.edge
    go_left, go_right, other = first, first + cut.n_left, 1 - side
    for row in range(piece.last - first):
        is_left = codes[row] < edge
        # no branch on where a row goes: half of them would be guessed wrong
        to = go_left if is_left else go_right
        for word in range(words.shape[2]):
            words[other, to, word] = words[side, first + row, word]
        go_left += is_left
        go_right += not is_left


@leaf
def _move_ties(words: Words, piece: CutPiece, cut: ColumnCut) -> None:
    """Copy rows of ``words`` as :func:`_move` does, with the first ``ties`` rows on the edge going left."""
    codes, edge, ties = cut.codes, cut.edge, cut.ties
    for row in range(piece.last - piece.first):
        if codes[row] == edge and ties > 0:
            # moved below the edge, so that moving needs no second rule
            codes[row] = edge - 1
            ties -= 1
    _move(words, piece, cut)
