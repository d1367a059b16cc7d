"""Sets of waiting records that are safe only together; a block is a set of one target under a single dependency.

The worst-direction test cannot do without blocks; other tests look for them where a joint search was asked for. For a
given size the best block is found greedily: the statistic is a sum of convex functions of the cells' counts.

A set is looked for at one target of the first dependency. Records are added one by one, each time the one that adds
least exposure under all dependencies, until everything stands or the set is as large as it may be.
"""

from __future__ import annotations

from seriatim.kernels.arrays import leaf
from seriatim_gate.kernels.board import KLD, WDT, Board
from seriatim_gate.kernels.figures import count, kld_limit, refresh
from seriatim_gate.kernels.lines import Queue, count_line, note_release, take
from seriatim_gate.kernels.verdicts import stands

LARGEST, MOST_TARGETS = 100, 8
"""How far the search for a set goes."""
PATIENCE, AGAIN = 32, 1 << 40
"""A set is looked for again once a 32nd of what waits has come or gone, and at once after one was found."""
OPENING, FURTHER = 20, 2
"""The smallest block that opens a target, and the smallest one that frees a target that is stuck."""
TIE = 1e-12
"""Prices that differ by less are equal: the same share may be written in two ways that round differently."""


@leaf
def release_set(board: Board, queue: Queue) -> bool:
    """Return whether a set left; release one in place, at the target with the oldest records that can."""
    n_targets = board.dependencies[0].height
    for target in range(n_targets):
        own = board.targets[target]
        own.oldest = -1
        # looking takes long where many wait, so it is put off until a share of them has changed
        if own.stuck > 0 and own.stuck >= _waiting(board, target) // PATIENCE:
            line = _oldest_listed(queue, _list_lines(board, queue, target), 0)
            own.oldest = queue.lines[line].head if line >= 0 else -1
    for _ in range(MOST_TARGETS):
        chosen = -1
        for target in range(n_targets):
            oldest = board.targets[target].oldest
            if oldest >= 0 and (chosen < 0 or oldest < board.targets[chosen].oldest):
                chosen = target
        if chosen < 0:
            return False
        board.targets[chosen].oldest = -1
        board.targets[chosen].stuck = 0
        if _release_set(board, queue, chosen):
            board.targets[chosen].stuck += AGAIN
            return True
    return False


@leaf
def _waiting(board: Board, target: int) -> int:
    """Return how many records wait at a target of the first dependency."""
    n_waiting, first = 0, board.targets[target].first_cell
    for cell in range(first, first + board.dependencies[0].width):
        n_waiting += board.cells[cell].waiting
    return n_waiting


@leaf
def _list_lines(board: Board, queue: Queue, target: int) -> int:
    """Return how many lines of a target have records; list them in ``queue``."""
    n_lines, first = 0, board.targets[target].first_cell
    for cell in range(first, first + board.dependencies[0].width):
        line = board.cells[cell].first_line
        while line >= 0:
            if queue.lines[line].length > 0:
                queue.lines[n_lines].listed = line
                queue.lines[line].taken = 0
                n_lines += 1
            line = queue.next_line[line, 0]
    return n_lines


@leaf
def _oldest_listed(queue: Queue, n_lines: int, least: int) -> int:
    """Return the listed line of which at least so many records are taken, with the oldest record; -1 if none."""
    chosen = -1
    for i in range(n_lines):
        line = queue.lines[i].listed
        if queue.lines[line].taken >= least and (chosen < 0 or queue.lines[line].head < queue.lines[chosen].head):
            chosen = line
    return chosen


@leaf
def _release_set(board: Board, queue: Queue, target: int) -> bool:
    """Return whether a target's records could leave together; release the smallest such set found, in place."""
    n_lines = _list_lines(board, queue, target)
    due, size, exposure, square, found = _fewest(board, queue, n_lines), 0, 0.0, 0.0, False
    while size < LARGEST and not found:
        line = _mildest_line(board, queue, n_lines)
        if line < 0:
            break
        size += 1
        exposure += next_exposure(board, queue.line_cells[line, 0])
        square += next_square(board, queue.line_cells[line, 0])
        queue.lines[line].taken += 1
        for at in range(queue.line_cells.shape[1]):
            board.cells[queue.line_cells[line, at]].extra += 1
        if size < due or not _may_stand(board, target, size, exposure, square):
            continue
        _count_taken(board, queue, n_lines, 1)
        found = _all_stand(board, queue, n_lines)
        if not found:  # counting a set takes long, so the next one that is counted is an eighth larger
            _count_taken(board, queue, n_lines, -1)
            due = size + 1 + size // 8
    for i in range(n_lines):
        for at in range(queue.line_cells.shape[1]):
            board.cells[queue.line_cells[queue.lines[i].listed, at]].extra = 0
    for _ in range(size if found else 0):
        line = _oldest_listed(queue, n_lines, 1)
        record = queue.lines[line].head
        queue.lines[line].taken -= 1
        take(board, queue, record, line)
        note_release(board, queue, record, line)
    return found


@leaf
def _fewest(board: Board, queue: Queue, n_lines: int) -> int:
    """Return how many records a set must have: more where its oldest record opens a target that WDT guards."""
    line = _oldest_listed(queue, n_lines, 0)
    for at in range(queue.line_cells.shape[1] if line >= 0 else 0):
        own = board.targets[board.cells[queue.line_cells[line, at]].target]
        if board.dependencies[at].tests & WDT and own.total == 0:
            return OPENING
    return FURTHER


@leaf
def _mildest_line(board: Board, queue: Queue, n_lines: int) -> int:
    """Return the listed line whose next record adds least exposure, the oldest on a tie; -1 if none is left."""
    best, best_price, best_head = -1, 0.0, -1
    for i in range(n_lines):
        line = queue.lines[i].listed
        own, price = queue.lines[line], 0.0
        if own.taken >= own.length:
            continue
        for at in range(queue.line_cells.shape[1]):
            price += next_exposure(board, queue.line_cells[line, at])
        margin = TIE * abs(best_price)
        if best < 0 or price < best_price - margin or (price <= best_price + margin and own.head < best_head):
            best, best_price, best_head = line, price, own.head
    return best


@leaf
def _may_stand(board: Board, target: int, size: int, exposure: float, square: float) -> bool:
    """Return whether the first dependency's target may stand with the set; counting the set would take far longer."""
    own, whole = board.targets[target], board.dependencies[0]
    n_records = own.total + size
    if whole.tests & KLD:
        found = own.exposure + exposure - board.n_log_n[n_records] + board.n_log_n[own.total]
        if found > kld_limit(board, 0, n_records) + 1e-6:
            return False
    if whole.tests & WDT:
        return bool((own.square + square) / n_records - n_records <= whole.wdt_limit + 1e-6)
    return True


@leaf
def _count_taken(board: Board, queue: Queue, n_lines: int, sign: int) -> None:
    """Count the records of the set as released, or take them off (``sign`` -1), in place."""
    for i in range(n_lines):
        line = queue.lines[i].listed
        if queue.lines[line].taken > 0:
            count_line(board, queue, line, sign * queue.lines[line].taken)


@leaf
def _all_stand(board: Board, queue: Queue, n_lines: int) -> bool:
    """Return whether every target that the set touches keeps its tests, under every dependency."""
    for i in range(n_lines):
        line = queue.lines[i].listed
        for at in range(queue.line_cells.shape[1] if queue.lines[line].taken > 0 else 0):
            if not stands(board, board.cells[queue.line_cells[line, at]].target, True):
                return False
    return True


@leaf
def count_block(board: Board, target: int) -> int:
    """Return the size of a target's smallest safe block; count it as released in place, its records in ``extra``.

    0 means that there is none up to the largest size; then nothing has changed.
    """
    own = board.targets[target]
    whole = board.dependencies[own.dependency]
    wdt, before, square = whole.tests & WDT, own.total, own.square
    least = OPENING if wdt and before == 0 else FURTHER
    first, last = own.first_cell, own.first_cell + whole.width
    for cell in range(first, last):
        board.cells[cell].extra = 0
    for size in range(1, max(LARGEST, 4 * whole.width) + 1):
        cell, price = _mildest_cell(board, first, last, wdt)
        if cell < 0:
            return 0
        board.cells[cell].extra += 1
        square += price
        n_records = before + size
        if size < least or (wdt and not square / n_records - n_records < whole.wdt_limit):
            continue
        for sign in (1, -1):  # count the block; if it does not stand, take it off again
            for cell in range(first, last):
                if board.cells[cell].extra > 0:
                    count(board, cell, sign * board.cells[cell].extra)
            refresh(board, target)
            if sign == 1 and stands(board, target, False):
                return size
    return 0


@leaf
def _mildest_cell(board: Board, first: int, last: int, by_square: int) -> tuple[int, float]:
    """Return the cell whose next waiting record adds least to squares or exposure, the first on a tie; -1 if none."""
    best, best_price = -1, 0.0
    for cell in range(first, last):
        one = board.cells[cell]
        if one.extra >= one.waiting:
            continue
        price = next_square(board, cell) if by_square else next_exposure(board, cell)
        if best < 0 or price < best_price - TIE * abs(best_price):
            best, best_price = cell, price
    return best, best_price


@leaf
def next_square(board: Board, cell: int) -> float:
    """Return what one more record than those that are tried adds to the squares of a cell's target."""
    one = board.cells[cell]
    return float((2 * (one.count + one.extra) + 1) * one.inverse)


@leaf
def next_exposure(board: Board, cell: int) -> float:
    """Return what one more record than those that are tried adds to its exposure, but for what all cells share."""
    one = board.cells[cell]
    held = one.count + one.extra
    return float(board.n_log_n[held + 1] - board.n_log_n[held] - one.log_p)
