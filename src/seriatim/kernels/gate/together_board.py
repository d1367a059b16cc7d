"""Several dependencies decided together: a record leaves only if every one of them holds.

Every dependency has the board of a single gate; here all boards lie in flat arrays, one after another, so that one
kernel serves any number of them. A cell is counted over all boards. Waiting records that have the same cell on every
board are interchangeable: they form a line, oldest first. What one more record of a cell would do is kept for every
cell (``safe``), and found again for the targets that a release has changed.
"""

from __future__ import annotations

from typing import NamedTuple

from seriatim.kernels.arrays import Bytes, Floats, Ints, Longs, leaf
from seriatim.kernels.gate.gate_board import (
    AIM_ROWS,
    CELL_ROWS,
    COUPLED,
    FOLLOWING,
    GIVEN_ROWS,
    INVERSE,
    MARK_ROWS,
    ORDER,
    PREVIOUS,
    RELEASED,
    STATUS,
    STEP,
    TALLY_ROWS,
    TESTS,
    WAITING,
    WHEN,
    WORK_ROWS,
    count_gate_cell,
    refresh_gate_board,
)
from seriatim.kernels.gate.verdicts import verdict_holds

# columns of layout: the size of a board, its first cell, how long a row of ``given`` is, and where each array begins
WIDTH, HEIGHT, FIRST, GIVEN_WIDTH, GIVEN, CELLS, AIMS, MARKS, TALLIES, WORK = range(10)
# rows of lines; BLOCKED counts the boards on which one more record would not be safe; READY lists the lines that have
# records and are not blocked, SPOT says where one stands there; TAKEN and LISTED are scratch space
HEAD, TAIL, LENGTH, BLOCKED, READY, SPOT, TAKEN, LISTED = range(8)
# counters; the last two are settings
N_DONE, N_OUT, N_READY, KEEP_QUEUE, SETS = range(5)
# rows of stuck, by targets of the first board: requests and releases since a set was looked for; scratch space
STUCK, OLDEST = range(2)


class TogetherBoard(NamedTuple):
    """Everything that gates which decide together are."""

    layout: Longs
    """(board, column)"""
    given: Floats
    f: Floats
    cells: Floats
    aims: Floats
    scalars: Floats
    """(board, figure)"""
    marks: Longs
    tallies: Longs
    whole: Longs
    """(board, setting)"""
    work: Longs
    safe: Bytes
    """Whether one more record of a cell keeps its board's tests."""
    price: Floats
    """What one more record of a cell adds to its target's exposure, but for what all cells share."""
    waiting: Longs
    """Records that wait, by cell."""
    extra: Longs
    """Records of a set that is being tried, by cell."""
    first_line: Longs
    """By cell; -1 where there is no line."""
    next_line: Longs
    """(line, board): the next line that has the same cell there; -1 at the end."""
    lines: Longs
    """(row, line)"""
    line_cells: Longs
    """(line, board)"""
    stuck: Longs
    """(row, target of the first board)"""
    counters: Longs
    records: Ints
    """(row, request), as those of a single gate."""


@leaf
def look_at_together_board(t: TogetherBoard, d: int, y: int, x: int, change: int) -> None:
    """Count records of a cell of board d, unless ``change`` is 0, and find again what is safe there."""
    width, height, wide = t.layout[d, WIDTH], t.layout[d, HEIGHT], t.layout[d, GIVEN_WIDTH]
    area = width * height
    at = t.layout[d]
    given = t.given[at[GIVEN] : at[GIVEN] + GIVEN_ROWS * wide].reshape((GIVEN_ROWS, wide))
    cells = t.cells[at[CELLS] : at[CELLS] + CELL_ROWS * area].reshape((CELL_ROWS, height, width))
    aims = t.aims[at[AIMS] : at[AIMS] + AIM_ROWS * (height + 1)].reshape((AIM_ROWS, height + 1))
    marks = t.marks[at[MARKS] : at[MARKS] + MARK_ROWS * area].reshape((MARK_ROWS, height, width))
    tallies = t.tallies[at[TALLIES] : at[TALLIES] + TALLY_ROWS * height].reshape((TALLY_ROWS, height))
    work = t.work[at[WORK] : at[WORK] + WORK_ROWS * width].reshape((WORK_ROWS, width))
    scalars, whole = t.scalars[d], t.whole[d]
    if change != 0:
        count_gate_cell(given, t.f, cells, marks, tallies, whole, y, x, change)
        refresh_gate_board(given, t.f, cells, aims, scalars, marks, tallies, whole, work, y)
    first, last = y, y + 1
    if whole[TESTS] & COUPLED:
        first, last = 0, height
    for other in range(first, last):
        for i in range(width):
            cell = at[FIRST] + other * width + i
            t.price[cell] = cells[STEP, other, i]
            good = given[INVERSE, i] > 0.0 and verdict_holds(
                given, cells, aims, scalars, marks, tallies, whole, work, other, i
            )
            if good != t.safe[cell]:
                t.safe[cell] = good
                _turn(t, d, cell, -1 if good else 1)


@leaf
def _turn(t: TogetherBoard, d: int, cell: int, change: int) -> None:
    """Tell every line of a cell of board d that it has become safe (-1) or unsafe (1)."""
    line = t.first_line[cell]
    while line >= 0:
        blocked = t.lines[BLOCKED, line] + change
        t.lines[BLOCKED, line] = blocked
        if t.lines[LENGTH, line] > 0:
            if blocked == 0:
                _set_ready(t, line)
            elif blocked == 1 and change == 1:
                _unset_ready(t, line)
        line = t.next_line[line, d]


@leaf
def _set_ready(t: TogetherBoard, line: int) -> None:
    n = t.counters[N_READY]
    t.lines[READY, n] = line
    t.lines[SPOT, line] = n
    t.counters[N_READY] = n + 1


@leaf
def _unset_ready(t: TogetherBoard, line: int) -> None:
    n = t.counters[N_READY] - 1
    last, spot = t.lines[READY, n], t.lines[SPOT, line]
    t.lines[READY, spot] = last
    t.lines[SPOT, last] = spot
    t.counters[N_READY] = n


@leaf
def count_line_together(t: TogetherBoard, line: int, change: int) -> None:
    """Count records of a line on every board."""
    for d in range(len(t.layout)):
        place = t.line_cells[line, d] - t.layout[d, FIRST]
        look_at_together_board(t, d, place // t.layout[d, WIDTH], place % t.layout[d, WIDTH], change)


@leaf
def line_target_together(t: TogetherBoard, line: int, d: int) -> int:
    return int((t.line_cells[line, d] - t.layout[d, FIRST]) // t.layout[d, WIDTH])


@leaf
def note_together(t: TogetherBoard, record: int, line: int) -> None:
    """Write down a release."""
    out = t.counters[N_OUT]
    t.records[ORDER, out] = record
    t.records[WHEN, out] = t.counters[N_DONE]
    t.records[STATUS, record] = RELEASED
    t.counters[N_OUT] = out + 1
    t.stuck[STUCK, line_target_together(t, line, 0)] += 1


@leaf
def push_together(t: TogetherBoard, record: int, line: int) -> None:
    """Put a record at the end of its line."""
    t.records[STATUS, record] = WAITING
    t.records[FOLLOWING, record] = -1
    if t.lines[LENGTH, line] > 0:
        last = t.lines[TAIL, line]
        t.records[PREVIOUS, record] = last
        t.records[FOLLOWING, last] = record
    else:
        t.records[PREVIOUS, record] = -1
        t.lines[HEAD, line] = record
        if t.lines[BLOCKED, line] == 0:
            _set_ready(t, line)
    t.lines[TAIL, line] = record
    t.lines[LENGTH, line] += 1
    for d in range(len(t.layout)):
        t.waiting[t.line_cells[line, d]] += 1
    t.stuck[STUCK, line_target_together(t, line, 0)] += 1


@leaf
def take_together(t: TogetherBoard, record: int, line: int) -> None:
    """Take a waiting record out of its line, wherever it stands."""
    before, after = t.records[PREVIOUS, record], t.records[FOLLOWING, record]
    if before >= 0:
        t.records[FOLLOWING, before] = after
    else:
        t.lines[HEAD, line] = after
    if after >= 0:
        t.records[PREVIOUS, after] = before
    else:
        t.lines[TAIL, line] = before
    t.lines[LENGTH, line] -= 1
    if t.lines[LENGTH, line] == 0 and t.lines[BLOCKED, line] == 0:
        _unset_ready(t, line)
    for d in range(len(t.layout)):
        t.waiting[t.line_cells[line, d]] -= 1
