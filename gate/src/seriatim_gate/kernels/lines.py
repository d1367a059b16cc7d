"""The queue's lists: waiting records that are alike for every test stand in one line, oldest first.

With one dependency a line is a cell. With several it is a cell of each; a line is ready when it has records and every
dependency holds one more of them safe.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, leaf
from seriatim_gate.kernels.board import COUPLED, Board, Rows, row_type
from seriatim_gate.kernels.figures import count, refresh
from seriatim_gate.kernels.verdicts import holds

WAITING, RELEASED, UNKNOWN, DENIED, GONE = 0, 1, 2, 3, 4
NOTHING, BLOCKS, SETS = range(3)
"""What is looked for where no record is safe alone: a block of one target, or a set that several dependencies hold."""

# ``alone``: there is one dependency; ``keep``: what is not safe waits, else it is denied
WHOLE = row_type("", "n_done n_out n_ready alone keep search")
# ``blocked`` counts the dependencies that hold one more record unsafe; ``ready`` of the first lines lists the ready
# ones, ``spot`` says where one stands there; ``taken`` and ``listed`` are for trying sets
LINE = row_type("", "", "head tail length blocked ready spot taken listed")
REQUEST = row_type("", "", "following previous status line")
RELEASE = row_type("", "", "record during")


class Queue(NamedTuple):
    """What became of every request, and who waits where."""

    whole: Rows
    """One record."""
    lines: Rows
    line_cells: Ints
    """(line, dependency)"""
    next_line: Ints
    """(line, dependency): the next line with the same cell there; -1 at the end. A cell knows its first line."""
    requests: Rows
    releases: Rows
    """In their order: the request, and the one that was being answered then."""


@leaf
def target_of(board: Board, queue: Queue, line: int) -> int:
    """Return the target of a line under the first dependency."""
    return int(board.cells[queue.line_cells[line, 0]].target)


@leaf
def push(board: Board, queue: Queue, record: int, line: int) -> None:
    """Put a record at the end of its line, in place."""
    own, request = queue.lines[line], queue.requests[record]
    request.status = WAITING
    request.following = -1
    request.previous = -1
    if own.length > 0:
        request.previous = own.tail
        queue.requests[own.tail].following = record
    else:
        own.head = record
        if not queue.whole[0].alone and own.blocked == 0:
            _set_ready(queue, line)
    own.tail = record
    own.length += 1
    for at in range(queue.line_cells.shape[1]):
        cell = queue.line_cells[line, at]
        board.cells[cell].waiting += 1
        if queue.whole[0].alone and board.cells[cell].waiting == 1:
            _set_busy(board, cell)
    _note_stuck(board, queue, target_of(board, queue, line))


@leaf
def take(board: Board, queue: Queue, record: int, line: int) -> None:
    """Take a waiting record out of its line, in place, wherever it stands; ``find_least`` afterwards if alone."""
    own = queue.lines[line]
    before, after = queue.requests[record].previous, queue.requests[record].following
    if before >= 0:
        queue.requests[before].following = after
    else:
        own.head = after
    if after >= 0:
        queue.requests[after].previous = before
    else:
        own.tail = before
    own.length -= 1
    if not queue.whole[0].alone and own.length == 0 and own.blocked == 0:
        _unset_ready(queue, line)
    for at in range(queue.line_cells.shape[1]):
        cell = queue.line_cells[line, at]
        board.cells[cell].waiting -= 1
        if queue.whole[0].alone and board.cells[cell].waiting == 0:
            _unset_busy(board, cell)


@leaf
def count_line(board: Board, queue: Queue, line: int, change: int) -> None:
    """Count records of a line as released under every dependency, in place, or take them off."""
    for at in range(queue.line_cells.shape[1]):
        count_cell(board, queue, queue.line_cells[line, at], change)


@leaf
def count_cell(board: Board, queue: Queue, cell: int, change: int) -> None:
    """Count records of a cell as released in place, or take them off; find again which lines are ready."""
    target = board.cells[cell].target
    count(board, cell, change)
    refresh(board, target)
    if queue.whole[0].alone:
        return
    whole = board.dependencies[board.targets[target].dependency]
    if whole.tests & COUPLED:
        for other in range(whole.first_target, whole.first_target + whole.height):
            look(board, queue, other)
    else:
        look(board, queue, target)


@leaf
def look(board: Board, queue: Queue, target: int) -> None:
    """Find again in place which cells of a target are safe, and which lines that blocks."""
    own = board.targets[target]
    for cell in range(own.first_cell, own.first_cell + board.dependencies[own.dependency].width):
        one = board.cells[cell]
        good = one.inverse > 0.0 and holds(board, cell)
        if good == one.safe:
            continue
        one.safe = good
        # every line through this cell has one dependency more, or one fewer, that holds it back
        line = one.first_line
        while line >= 0:
            queue.lines[line].blocked += -1 if good else 1
            if queue.lines[line].length > 0:
                if queue.lines[line].blocked == 0:
                    _set_ready(queue, line)
                elif queue.lines[line].blocked == 1 and not good:
                    _unset_ready(queue, line)
            line = queue.next_line[line, own.dependency]


@leaf
def note_release(board: Board, queue: Queue, record: int, line: int) -> None:
    """Write a release into ``queue``, and which targets are to be looked at again into ``board``."""
    whole = queue.whole[0]
    queue.releases[whole.n_out].record = record
    queue.releases[whole.n_out].during = whole.n_done
    queue.requests[record].status = RELEASED
    whole.n_out += 1
    target = target_of(board, queue, line)
    _note_stuck(board, queue, target)
    own = board.dependencies[board.targets[target].dependency]
    # what left here may have made room at any target, so a block may be found there now
    if whole.search == BLOCKS and own.tests & COUPLED:
        for other in range(own.height):
            board.targets[other].stuck = 1


@leaf
def find_least(board: Board, target: int) -> None:
    """Write the smallest ``step`` of a target's waiting cells into ``board``."""
    own, least = board.targets[target], np.inf
    for i in range(own.first_cell, own.first_cell + own.n_busy):
        least = min(least, board.cells[board.cells[i].busy].step)
    own.least = least


@leaf
def _note_stuck(board: Board, queue: Queue, target: int) -> None:
    """Mark in ``board`` that a set may be found at a target now; sets are looked for once enough has changed."""
    own = board.targets[target]
    own.stuck = own.stuck + 1 if queue.whole[0].search == SETS else 1


@leaf
def _set_busy(board: Board, cell: int) -> None:
    """Add a cell to its target's waiting ones, in place."""
    one = board.cells[cell]
    own = board.targets[one.target]
    one.spot = own.first_cell + own.n_busy
    board.cells[one.spot].busy = cell
    own.n_busy += 1
    own.least = min(own.least, one.step)


@leaf
def _unset_busy(board: Board, cell: int) -> None:
    """Take a cell out of its target's waiting ones, in place; the last one takes its spot."""
    one = board.cells[cell]
    own = board.targets[one.target]
    own.n_busy -= 1
    last = board.cells[own.first_cell + own.n_busy].busy
    board.cells[one.spot].busy = last
    board.cells[last].spot = one.spot


@leaf
def _set_ready(queue: Queue, line: int) -> None:
    """Add a line to the ready ones, in place."""
    whole = queue.whole[0]
    queue.lines[whole.n_ready].ready = line
    queue.lines[line].spot = whole.n_ready
    whole.n_ready += 1


@leaf
def _unset_ready(queue: Queue, line: int) -> None:
    """Take a line out of the ready ones, in place; the last one takes its spot."""
    whole = queue.whole[0]
    whole.n_ready -= 1
    last, spot = queue.lines[whole.n_ready].ready, queue.lines[line].spot
    queue.lines[spot].ready = last
    queue.lines[last].spot = spot
