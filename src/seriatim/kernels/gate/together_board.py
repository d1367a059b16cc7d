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
    n_log_n: Floats
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
def look_at_together_board(boards: TogetherBoard, board: int, target: int, value: int, change: int) -> None:
    """Count ``change`` records of a cell of one board in place, if any, and find again what is safe there."""
    width, height, wide = boards.layout[board, WIDTH], boards.layout[board, HEIGHT], boards.layout[board, GIVEN_WIDTH]
    area = width * height
    at = boards.layout[board]
    given = boards.given[at[GIVEN] : at[GIVEN] + GIVEN_ROWS * wide].reshape((GIVEN_ROWS, wide))
    cells = boards.cells[at[CELLS] : at[CELLS] + CELL_ROWS * area].reshape((CELL_ROWS, height, width))
    aims = boards.aims[at[AIMS] : at[AIMS] + AIM_ROWS * (height + 1)].reshape((AIM_ROWS, height + 1))
    marks = boards.marks[at[MARKS] : at[MARKS] + MARK_ROWS * area].reshape((MARK_ROWS, height, width))
    tallies = boards.tallies[at[TALLIES] : at[TALLIES] + TALLY_ROWS * height].reshape((TALLY_ROWS, height))
    work = boards.work[at[WORK] : at[WORK] + WORK_ROWS * width].reshape((WORK_ROWS, width))
    scalars, whole = boards.scalars[board], boards.whole[board]
    if change != 0:
        count_gate_cell(given, boards.n_log_n, cells, marks, tallies, whole, target, value, change)
        refresh_gate_board(given, boards.n_log_n, cells, aims, scalars, marks, tallies, whole, work, target)
    first, last = target, target + 1
    if whole[TESTS] & COUPLED:
        first, last = 0, height
    for other in range(first, last):
        for i in range(width):
            cell = at[FIRST] + other * width + i
            boards.price[cell] = cells[STEP, other, i]
            good = given[INVERSE, i] > 0.0 and verdict_holds(
                given, cells, aims, scalars, marks, tallies, whole, work, other, i
            )
            if good != boards.safe[cell]:
                boards.safe[cell] = good
                _turn(boards, board, cell, -1 if good else 1)


@leaf
def _turn(boards: TogetherBoard, board: int, cell: int, change: int) -> None:
    """Update in place every line of a cell of one board that has become safe (-1) or unsafe (1)."""
    line = boards.first_line[cell]
    while line >= 0:
        blocked = boards.lines[BLOCKED, line] + change
        boards.lines[BLOCKED, line] = blocked
        if boards.lines[LENGTH, line] > 0:
            if blocked == 0:
                _set_ready(boards, line)
            elif blocked == 1 and change == 1:
                _unset_ready(boards, line)
        line = boards.next_line[line, board]


@leaf
def _set_ready(boards: TogetherBoard, line: int) -> None:
    """Add a line to the ready ones, in place."""
    n_ready = boards.counters[N_READY]
    boards.lines[READY, n_ready] = line
    boards.lines[SPOT, line] = n_ready
    boards.counters[N_READY] = n_ready + 1


@leaf
def _unset_ready(boards: TogetherBoard, line: int) -> None:
    """Take a line out of the ready ones, in place; the last one takes its spot."""
    n_ready = boards.counters[N_READY] - 1
    last, spot = boards.lines[READY, n_ready], boards.lines[SPOT, line]
    boards.lines[READY, spot] = last
    boards.lines[SPOT, last] = spot
    boards.counters[N_READY] = n_ready


@leaf
def count_together_board_line(boards: TogetherBoard, line: int, change: int) -> None:
    """Count ``change`` records of a line as released on every board, in place."""
    for board in range(len(boards.layout)):
        place = boards.line_cells[line, board] - boards.layout[board, FIRST]
        look_at_together_board(
            boards, board, place // boards.layout[board, WIDTH], place % boards.layout[board, WIDTH], change
        )


@leaf
def together_board_line_target(boards: TogetherBoard, line: int, board: int) -> int:
    """Return the target of a line on one board."""
    return int((boards.line_cells[line, board] - boards.layout[board, FIRST]) // boards.layout[board, WIDTH])


@leaf
def note_on_together_board(boards: TogetherBoard, record: int, line: int) -> None:
    """Write a release into ``boards``."""
    out = boards.counters[N_OUT]
    boards.records[ORDER, out] = record
    boards.records[WHEN, out] = boards.counters[N_DONE]
    boards.records[STATUS, record] = RELEASED
    boards.counters[N_OUT] = out + 1
    boards.stuck[STUCK, together_board_line_target(boards, line, 0)] += 1


@leaf
def push_on_together_board(boards: TogetherBoard, record: int, line: int) -> None:
    """Put a record at the end of its line, in place."""
    boards.records[STATUS, record] = WAITING
    boards.records[FOLLOWING, record] = -1
    if boards.lines[LENGTH, line] > 0:
        last = boards.lines[TAIL, line]
        boards.records[PREVIOUS, record] = last
        boards.records[FOLLOWING, last] = record
    else:
        boards.records[PREVIOUS, record] = -1
        boards.lines[HEAD, line] = record
        if boards.lines[BLOCKED, line] == 0:
            _set_ready(boards, line)
    boards.lines[TAIL, line] = record
    boards.lines[LENGTH, line] += 1
    for board in range(len(boards.layout)):
        boards.waiting[boards.line_cells[line, board]] += 1
    boards.stuck[STUCK, together_board_line_target(boards, line, 0)] += 1


@leaf
def take_from_together_board(boards: TogetherBoard, record: int, line: int) -> None:
    """Take a waiting record out of its line, in place, wherever it stands."""
    before, after = boards.records[PREVIOUS, record], boards.records[FOLLOWING, record]
    if before >= 0:
        boards.records[FOLLOWING, before] = after
    else:
        boards.lines[HEAD, line] = after
    if after >= 0:
        boards.records[PREVIOUS, after] = before
    else:
        boards.lines[TAIL, line] = before
    boards.lines[LENGTH, line] -= 1
    if boards.lines[LENGTH, line] == 0 and boards.lines[BLOCKED, line] == 0:
        _unset_ready(boards, line)
    for board in range(len(boards.layout)):
        boards.waiting[boards.line_cells[line, board]] -= 1
