"""The queue of several dependencies: the oldest waiting record that all of them hold safe leaves, until none is."""

from __future__ import annotations

from seriatim.kernels.arrays import Longs, kernel, leaf
from seriatim.kernels.gate.gate_board import DENIED, GONE, STATUS, UNKNOWN
from seriatim.kernels.gate.queue import HOLD, SETTLE
from seriatim.kernels.gate.together_board import (
    BLOCKED,
    HEAD,
    HEIGHT,
    KEEP_QUEUE,
    N_DONE,
    N_READY,
    READY,
    SETS,
    TogetherBoard,
    count_together_board_line,
    look_at_together_board,
    note_on_together_board,
    push_on_together_board,
    take_from_together_board,
)
from seriatim.kernels.gate.together_sets import settle_set_together

OPEN, COUNT = 3, 4
"""What is done beside ``ANSWER``, ``HOLD`` and ``SETTLE``."""


@kernel
def add_lines_together(boards: TogetherBoard, first: int, last: int) -> None:
    """Add lines ``first`` to ``last`` - 1, whose cells are written down, to ``boards``; nobody waits in them yet."""
    for line in range(first, last):
        for board in range(len(boards.layout)):
            cell = boards.line_cells[line, board]
            boards.next_line[line, board] = boards.first_line[cell]
            boards.first_line[cell] = line
            boards.lines[BLOCKED, line] += not boards.safe[cell]


@kernel
def answer_together(boards: TogetherBoard, asked: Longs, how: int) -> None:
    """Answer the next requests in place, given by their lines (-1 is unknown): each leaves, waits or is denied.

    With ``HOLD`` they wait without being judged; with ``SETTLE`` the queue settles afterwards. ``OPEN`` finds what is
    safe on every board. ``COUNT`` counts as released: board, target, value and how many; the queue stays as it is. One
    kernel does it all, because each kernel that looks at a board takes the compiler as long as the others.
    """
    if how == COUNT:
        look_at_together_board(boards, asked[0], asked[1], asked[2], asked[3])
        return
    if how == OPEN:
        for board in range(len(boards.layout)):
            for target in range(boards.layout[board, HEIGHT]):
                look_at_together_board(boards, board, target, 0, 0)
    for i in range(len(asked)):
        line, record = asked[i], boards.counters[N_DONE]
        if line < 0:
            boards.records[STATUS, record] = UNKNOWN
        elif how == HOLD:
            push_on_together_board(boards, record, line)
        elif boards.lines[BLOCKED, line] == 0:
            count_together_board_line(boards, line, 1)
            note_on_together_board(boards, record, line)
            _settle(boards)
        elif boards.counters[KEEP_QUEUE]:
            push_on_together_board(boards, record, line)
            _settle(boards)
        else:
            boards.records[STATUS, record] = DENIED
        boards.counters[N_DONE] = record + 1
    if how == SETTLE:
        _settle(boards)


@kernel
def queue_together(boards: TogetherBoard, numbers: Longs, lines: Longs) -> None:
    """Put known requests into an empty queue of ``boards``, oldest first, without judging them."""
    for i in range(len(numbers)):
        push_on_together_board(boards, numbers[i], lines[i])


@kernel
def withdraw_together(boards: TogetherBoard, record: int, line: int) -> None:
    """Take a waiting record out of ``boards`` for good; figures stay, since nothing was released."""
    take_from_together_board(boards, record, line)
    boards.records[STATUS, record] = GONE


@leaf
def _settle(boards: TogetherBoard) -> None:
    """Release from ``boards`` what waits and is safe, oldest first; a set only when no single record is safe."""
    while True:
        best, best_line = -1, -1
        for i in range(boards.counters[N_READY]):
            line = boards.lines[READY, i]
            record = boards.lines[HEAD, line]
            if best < 0 or record < best:
                best, best_line = record, line
        if best >= 0:
            take_from_together_board(boards, best, best_line)
            count_together_board_line(boards, best_line, 1)
            note_on_together_board(boards, best, best_line)
        elif not boards.counters[SETS] or not settle_set_together(boards):
            return
