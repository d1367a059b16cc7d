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
    count_line_together,
    look_at_together_board,
    note_together,
    push_together,
    take_together,
)
from seriatim.kernels.gate.together_sets import settle_set_together

OPEN, COUNT = 3, 4
"""What is done beside ``ANSWER``, ``HOLD`` and ``SETTLE``."""


@kernel
def add_lines_together(t: TogetherBoard, first: int, last: int) -> None:
    """Take lines ``first`` to ``last`` - 1 in, whose cells are written down; nobody waits in them yet."""
    for line in range(first, last):
        for d in range(len(t.layout)):
            cell = t.line_cells[line, d]
            t.next_line[line, d] = t.first_line[cell]
            t.first_line[cell] = line
            t.lines[BLOCKED, line] += not t.safe[cell]


@kernel
def answer_together(t: TogetherBoard, asked: Longs, how: int) -> None:
    """Answer the next requests, given by their lines (-1 is unknown): each leaves, waits or is turned away.

    With ``HOLD`` they wait without being judged; with ``SETTLE`` the queue settles afterwards. ``OPEN`` finds what is
    safe on every board. ``COUNT`` counts as released: board, target, value and how many; the queue stays as it is. One
    kernel does it all, because each kernel that looks at a board takes the compiler as long as the others.
    """
    if how == COUNT:
        look_at_together_board(t, asked[0], asked[1], asked[2], asked[3])
        return
    if how == OPEN:
        for d in range(len(t.layout)):
            for y in range(t.layout[d, HEIGHT]):
                look_at_together_board(t, d, y, 0, 0)
    for i in range(len(asked)):
        line, record = asked[i], t.counters[N_DONE]
        if line < 0:
            t.records[STATUS, record] = UNKNOWN
        elif how == HOLD:
            push_together(t, record, line)
        elif t.lines[BLOCKED, line] == 0:
            count_line_together(t, line, 1)
            note_together(t, record, line)
            _settle(t)
        elif t.counters[KEEP_QUEUE]:
            push_together(t, record, line)
            _settle(t)
        else:
            t.records[STATUS, record] = DENIED
        t.counters[N_DONE] = record + 1
    if how == SETTLE:
        _settle(t)


@kernel
def queue_together(t: TogetherBoard, numbers: Longs, lines: Longs) -> None:
    """Put known requests into an empty queue, oldest first, without judging them."""
    for i in range(len(numbers)):
        push_together(t, numbers[i], lines[i])


@kernel
def withdraw_together(t: TogetherBoard, record: int, line: int) -> None:
    """Take a waiting record back for good; nothing else changes, since nothing was released."""
    take_together(t, record, line)
    t.records[STATUS, record] = GONE


@leaf
def _settle(t: TogetherBoard) -> None:
    """Release what waits and is safe, oldest first; a set only when no single record is safe."""
    while True:
        best, best_line = -1, -1
        for i in range(t.counters[N_READY]):
            line = t.lines[READY, i]
            record = t.lines[HEAD, line]
            if best < 0 or record < best:
                best, best_line = record, line
        if best >= 0:
            take_together(t, best, best_line)
            count_line_together(t, best_line, 1)
            note_together(t, best, best_line)
        elif not t.counters[SETS] or not settle_set_together(t):
            return
