"""Blocks: several waiting records of one target that a single dependency holds safe only together.

The worst-direction test cannot do without them; other tests look for them where a joint search was asked for. For a
given size the best block is found greedily: the statistic is a sum of convex functions of the cells' counts.
"""

from __future__ import annotations

from seriatim.kernels.arrays import leaf
from seriatim.kernels.gate.board import WDT, Board
from seriatim.kernels.gate.figures import count, refresh
from seriatim.kernels.gate.verdicts import stands

OPENING, FURTHER = 20, 2
"""The smallest block that opens a target, and the smallest one that frees a target that is stuck."""
LARGEST = 100
TIE = 1e-12
"""Prices that differ by less are equal: the same share may be written in two ways that round differently."""


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
        cell, price = _mildest(board, first, last, wdt)
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
def _mildest(board: Board, first: int, last: int, by_square: int) -> tuple[int, float]:
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
