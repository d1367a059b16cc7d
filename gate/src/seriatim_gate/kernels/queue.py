"""The queue: after every release the oldest waiting record that is safe leaves, until none is."""

from __future__ import annotations

from seriatim.kernels.arrays import Longs, kernel, leaf
from seriatim_gate.kernels.board import COUPLED, CST, DQT, KLD, MIS, Board
from seriatim_gate.kernels.figures import refresh
from seriatim_gate.kernels.lines import (
    BLOCKS,
    DENIED,
    GONE,
    NOTHING,
    UNKNOWN,
    Queue,
    count_cell,
    count_line,
    find_least,
    look,
    note_release,
    push,
    take,
    target_of,
)
from seriatim_gate.kernels.merging import merged_step
from seriatim_gate.kernels.sets import count_block, release_set
from seriatim_gate.kernels.verdicts import holds, hopeless, merged_room

ANSWER, HOLD, SETTLE, OPEN, COUNT = range(5)
"""What is done with requests."""
LATEST = 1 << 40
"""Later than any request."""


@kernel
def answer(board: Board, queue: Queue, asked: Longs, how: int) -> None:
    """Answer the next requests in place, given by their lines (-1 is unknown): each leaves, waits or is denied.

    With ``HOLD`` they wait without being judged; with ``SETTLE`` the queue settles at all targets afterwards. ``OPEN``
    finds all figures. ``COUNT`` counts as released: ``asked`` is a cell and how many; the queue stays as it is. One
    kernel does it all, because each kernel that judges takes the compiler as long as the others.
    """
    whole = queue.whole[0]
    if how == OPEN:
        for target in range(len(board.targets)):
            refresh(board, target)
        for target in range(0 if whole.alone else len(board.targets)):
            look(board, queue, target)
    elif how == COUNT:
        count_cell(board, queue, asked[0], asked[1])
    elif how == SETTLE:
        _settle(board, queue, 0, len(board.targets))
    else:
        for i in range(len(asked)):
            _answer(board, queue, asked[i], how == HOLD)
            whole.n_done += 1


@leaf
def _answer(board: Board, queue: Queue, line: int, hold: bool) -> None:
    """Answer the next request in place."""
    whole = queue.whole[0]
    record = whole.n_done
    queue.requests[record].line = line
    if line < 0:
        queue.requests[record].status = UNKNOWN
    elif hold:
        push(board, queue, record, line)
    elif holds(board, line) if whole.alone else queue.lines[line].blocked == 0:
        count_line(board, queue, line, 1)
        note_release(board, queue, record, line)
        _settle_after(board, queue, line)
    elif whole.keep:
        push(board, queue, record, line)
        if whole.search != NOTHING:
            _settle_after(board, queue, line)
    else:
        queue.requests[record].status = DENIED


@leaf
def _settle_after(board: Board, queue: Queue, line: int) -> None:
    """Release in place what waits and may be safe now that something has changed for a line."""
    first = target_of(board, queue, line)
    last = first + 1
    if board.dependencies[0].tests & COUPLED:
        first, last = 0, board.dependencies[0].height
    _settle(board, queue, first, last)


@leaf
def _settle(board: Board, queue: Queue, first: int, last: int) -> None:
    """Release in place what waits, the oldest safe record first; a set only when no single record is safe.

    A single dependency looks at the targets from ``first`` to ``last`` - 1 only.
    """
    whole = queue.whole[0]
    while True:
        line = _oldest_safe(board, queue, first, last) if whole.alone else _oldest_ready(queue)
        if line >= 0:
            record, step = queue.lines[line].head, board.cells[queue.line_cells[line, 0]].step
            take(board, queue, record, line)
            count_line(board, queue, line, 1)
            note_release(board, queue, record, line)
            target = target_of(board, queue, line)
            # only the mildest cell's leaving can have raised the least
            if whole.alone and not step > board.targets[target].least:
                find_least(board, target)
        elif whole.search == BLOCKS:
            if not _release_block(board, queue, first, last):
                return
        elif whole.search == NOTHING or not release_set(board, queue):
            return


@leaf
def _oldest_ready(queue: Queue) -> int:
    """Return the ready line with the oldest record; -1 if none is ready."""
    best, best_line = LATEST, -1
    for i in range(queue.whole[0].n_ready):
        line = queue.lines[i].ready
        if queue.lines[line].head < best:
            best, best_line = queue.lines[line].head, line
    return best_line


@leaf
def _oldest_safe(board: Board, queue: Queue, first: int, last: int) -> int:
    """Return the line of the oldest safe record at some targets of the only dependency; -1 if none is safe."""
    whole = board.dependencies[0]
    tests, best, best_line = whole.tests, LATEST, -1
    for target in range(first, last):
        own = board.targets[target]
        # where even the mildest waiting record is too much, none has to be looked at
        if own.n_busy == 0 or (tests & KLD and not own.least < own.room):
            continue
        if tests & MIS and not own.least - own.step < whole.mis_room:
            continue
        if tests & DQT and hopeless(board, target):
            continue
        # a test asked alone has a loop of its own without branches: which cells are safe, and which of them holds the
        # oldest record, follows no pattern that a processor could learn (10 x 5, KLD: 10 instead of 4.4 M a second)
        if tests == KLD:
            line = _oldest_below(board, queue, target, best, 0.0, own.room)
        elif tests == MIS:
            line = _oldest_below(board, queue, target, best, own.step, whole.mis_room)
        elif tests == CST:
            line = _oldest_merged(board, queue, target, best)
        else:
            line = _oldest_held(board, queue, target, best)
        if line >= 0:
            best, best_line = queue.lines[line].head, line
    return best_line


@leaf
def _oldest_below(board: Board, queue: Queue, target: int, before: int, less: float, room: float) -> int:
    """Return the line of the oldest record ``before`` whose ``step - less`` stays below ``room``; -1 if none."""
    cells, first, best, best_line = board.cells, board.targets[target].first_cell, before, -1
    for i in range(first, first + board.targets[target].n_busy):
        line = cells[i].busy
        record = queue.lines[line].head
        better = (cells[line].step - less < room) & (record < best)
        best = record if better else best
        best_line = line if better else best_line
    return best_line


@leaf
def _oldest_merged(board: Board, queue: Queue, target: int, before: int) -> int:
    """Return the line of the oldest record ``before`` with which merged squares stay below their limit; -1 if none.

    Steps that had to be found are kept in place.
    """
    cells, first, best, best_line = board.cells, board.targets[target].first_cell, before, -1
    for i in range(first, first + board.targets[target].n_busy):
        line = cells[i].busy
        record, step = queue.lines[line].head, cells[line].merged_step
        if step != step:
            if record > best:  # finding the step is expensive, and this record is too young anyway
                continue
            step = merged_step(board, target, line)
        better = (step < merged_room(board, target, line)) & (record < best)
        best = record if better else best
        best_line = line if better else best_line
    return best_line


@leaf
def _oldest_held(board: Board, queue: Queue, target: int, before: int) -> int:
    """Return the line of the oldest record ``before`` that all tests hold safe; -1 if none.

    Merged steps that had to be found are kept in place.
    """
    cells, first, best, best_line = board.cells, board.targets[target].first_cell, before, -1
    for i in range(first, first + board.targets[target].n_busy):
        line = cells[i].busy
        if queue.lines[line].head < best and holds(board, line):
            best, best_line = queue.lines[line].head, line
    return best_line


@leaf
def _release_block(board: Board, queue: Queue, first: int, last: int) -> bool:
    """Return whether a block left; release in place that of the first target that has one, oldest record first."""
    for target in range(first, last):
        own = board.targets[target]
        if not own.stuck:
            continue
        own.stuck = 0
        size = count_block(board, target)
        for _ in range(size):
            oldest, line = LATEST, -1
            for cell in range(own.first_cell, own.first_cell + board.dependencies[0].width):
                if board.cells[cell].extra > 0 and queue.lines[cell].head < oldest:
                    oldest, line = queue.lines[cell].head, cell
            board.cells[line].extra -= 1
            take(board, queue, oldest, line)
            note_release(board, queue, oldest, line)
        if size > 0:
            find_least(board, target)
            return True
    return False


@kernel
def withdraw(board: Board, queue: Queue, record: int) -> None:
    """Take a waiting record out of the queue for good, in place; figures stay, since nothing was released."""
    line = queue.requests[record].line
    take(board, queue, record, line)
    if queue.whole[0].alone:
        find_least(board, target_of(board, queue, line))
    queue.requests[record].status = GONE


@kernel
def wait_again(board: Board, queue: Queue, numbers: Longs) -> None:
    """Put known requests into an empty queue, in place, oldest first, without judging them."""
    for i in range(len(numbers)):
        push(board, queue, numbers[i], queue.requests[numbers[i]].line)


@kernel
def add_lines(board: Board, queue: Queue, first: int, last: int) -> None:
    """Add lines ``first`` to ``last`` - 1, whose cells are written down, in place; nobody waits in them yet."""
    for line in range(first, last):
        for at in range(queue.line_cells.shape[1]):
            cell = board.cells[queue.line_cells[line, at]]
            queue.next_line[line, at] = cell.first_line
            cell.first_line = line
            queue.lines[line].blocked += not cell.safe
