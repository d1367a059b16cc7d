"""Sets of waiting records that several dependencies hold safe only together.

A set is looked for at one target of the first board. Records are added one by one, each time the one that adds least
exposure over all boards, until everything stands or the set is as large as it may be.
"""

from __future__ import annotations

from seriatim.kernels.arrays import leaf
from seriatim.kernels.gate.blocks import FURTHER, OPENING, block_holds
from seriatim.kernels.gate.gate_board import (
    AIM_ROWS,
    EXPOSURE,
    GIVEN_ROWS,
    INVERSE,
    KLD,
    LOG_P,
    SQUARE,
    TALLY_ROWS,
    TESTS,
    TOTAL,
    WDT,
    WDT_LIMIT,
    gate_board_kld_limit,
)
from seriatim.kernels.gate.together_board import (
    AIMS,
    FIRST,
    GIVEN,
    GIVEN_WIDTH,
    HEAD,
    HEIGHT,
    LENGTH,
    LISTED,
    MARKS,
    OLDEST,
    STUCK,
    TAKEN,
    TALLIES,
    WIDTH,
    TogetherBoard,
    count_together_board_line,
    note_on_together_board,
    take_from_together_board,
    together_board_line_target,
)

LARGEST_SET, MOST_TARGETS = 100, 8
"""How far the search for a set goes."""
PATIENCE, AGAIN = 32, 1 << 40
"""A set is looked for again once a 32nd of what waits has come or gone, and at once after one was found."""
TIE = 1e-12


@leaf
def settle_set_together(boards: TogetherBoard) -> bool:
    """Return whether a set left; release one in place, at the first board's target with the oldest records that can."""
    for target in range(boards.layout[0, HEIGHT]):
        boards.stuck[OLDEST, target] = -1
        if boards.stuck[STUCK, target] > 0 and boards.stuck[STUCK, target] >= _waiting(boards, target) // PATIENCE:
            for i in range(_list_lines(boards, target)):
                head = boards.lines[HEAD, boards.lines[LISTED, i]]
                if boards.stuck[OLDEST, target] < 0 or head < boards.stuck[OLDEST, target]:
                    boards.stuck[OLDEST, target] = head
    for _ in range(MOST_TARGETS):
        chosen = -1
        for target in range(boards.layout[0, HEIGHT]):
            if boards.stuck[OLDEST, target] >= 0 and (
                chosen < 0 or boards.stuck[OLDEST, target] < boards.stuck[OLDEST, chosen]
            ):
                chosen = target
        if chosen < 0:
            return False
        boards.stuck[OLDEST, chosen] = -1
        boards.stuck[STUCK, chosen] = 0
        if _release_set(boards, chosen):
            boards.stuck[STUCK, chosen] += AGAIN
            return True
    return False


@leaf
def _waiting(boards: TogetherBoard, target: int) -> int:
    """Return how many records wait at a target of the first board."""
    n_waiting = 0
    for cell in range(target * boards.layout[0, WIDTH], (target + 1) * boards.layout[0, WIDTH]):
        n_waiting += boards.waiting[cell]
    return n_waiting


@leaf
def _list_lines(boards: TogetherBoard, target: int) -> int:
    """Return how many lines of a target have records; list them in ``boards``."""
    n_lines, width = 0, boards.layout[0, WIDTH]
    for cell in range(target * width, (target + 1) * width):
        line = boards.first_line[cell]
        while line >= 0:
            if boards.lines[LENGTH, line] > 0:
                boards.lines[LISTED, n_lines] = line
                boards.lines[TAKEN, line] = 0
                n_lines += 1
            line = boards.next_line[line, 0]
    return n_lines


@leaf
def _release_set(boards: TogetherBoard, target: int) -> bool:
    """Return whether a target's records could leave together; release the smallest such set found, in place.

    Counting a set takes long: after one that does not stand, the next is an eighth larger.
    """
    n_lines = _list_lines(boards, target)
    due, size = _fewest(boards, n_lines), 0
    exposure = square = 0.0
    while size < LARGEST_SET:
        line = _mildest(boards, n_lines)
        if line < 0:
            break
        size += 1
        exposure += boards.price[boards.line_cells[line, 0]]
        square += _square_step(boards, line)
        boards.lines[TAKEN, line] += 1
        _try_line(boards, line, 1)
        if size < due or not _may_stand(boards, target, size, exposure, square):
            continue
        _count_taken(boards, n_lines, 1)
        if _all_stand(boards, n_lines):
            _untry(boards, n_lines)
            for _ in range(size):
                _release_oldest(boards, n_lines)
            return True
        _count_taken(boards, n_lines, -1)
        due = size + 1 + size // 8
        for i in range(n_lines):
            if boards.lines[TAKEN, boards.lines[LISTED, i]] > 0:
                _try_line(boards, boards.lines[LISTED, i], 0)
    _untry(boards, n_lines)
    for i in range(n_lines):
        if boards.lines[TAKEN, boards.lines[LISTED, i]] > 0:
            _try_line(boards, boards.lines[LISTED, i], 0)
    return False


@leaf
def _fewest(boards: TogetherBoard, n_lines: int) -> int:
    """Return how many records a set must have: more where its oldest record opens a target of a board with WDT."""
    oldest, chosen = -1, -1
    for i in range(n_lines):
        line = boards.lines[LISTED, i]
        if oldest < 0 or boards.lines[HEAD, line] < oldest:
            oldest, chosen = boards.lines[HEAD, line], line
    for board in range(len(boards.layout) if chosen >= 0 else 0):
        total = boards.tallies[
            boards.layout[board, TALLIES]
            + TOTAL * boards.layout[board, HEIGHT]
            + together_board_line_target(boards, chosen, board)
        ]
        if boards.whole[board, TESTS] & WDT and total == 0:
            return OPENING
    return FURTHER


@leaf
def _mildest(boards: TogetherBoard, n_lines: int) -> int:
    """Return the listed line whose next record adds least exposure, the oldest on a tie; -1 if none is left."""
    best, best_price, best_head = -1, 0.0, -1
    for i in range(n_lines):
        line = boards.lines[LISTED, i]
        if boards.lines[TAKEN, line] >= boards.lines[LENGTH, line]:
            continue
        price = 0.0
        for board in range(len(boards.layout)):
            price += boards.price[boards.line_cells[line, board]]
        head, margin = boards.lines[HEAD, line], TIE * abs(best_price)
        if best < 0 or price < best_price - margin or (price <= best_price + margin and head < best_head):
            best, best_price, best_head = line, price, head
    return best


@leaf
def _try_line(boards: TogetherBoard, line: int, change: int) -> None:
    """Add ``change`` records of a line to the set that is tried, in place, and find its cells' prices again."""
    for board in range(len(boards.layout)):
        cell = boards.line_cells[line, board]
        boards.extra[cell] += change
        place = cell - boards.layout[board, FIRST]
        count = boards.marks[boards.layout[board, MARKS] + place] + boards.extra[cell]
        log_p = boards.given[
            boards.layout[board, GIVEN]
            + LOG_P * boards.layout[board, GIVEN_WIDTH]
            + place % boards.layout[board, WIDTH]
        ]
        boards.price[cell] = boards.n_log_n[count + 1] - boards.n_log_n[count] - log_p


@leaf
def _untry(boards: TogetherBoard, n_lines: int) -> None:
    """Take all listed lines out of the set that is tried, in place."""
    for i in range(n_lines):
        for board in range(len(boards.layout)):
            boards.extra[boards.line_cells[boards.lines[LISTED, i], board]] = 0


@leaf
def _square_step(boards: TogetherBoard, line: int) -> float:
    """Return what one more record of a line adds to the squares of its target on the first board."""
    cell, at = boards.line_cells[line, 0], boards.layout[0]
    inverse = boards.given[at[GIVEN] + INVERSE * at[GIVEN_WIDTH] + cell % at[WIDTH]]
    return float((2 * (boards.marks[at[MARKS] + cell] + boards.extra[cell]) + 1) * inverse)


@leaf
def _may_stand(boards: TogetherBoard, target: int, size: int, exposure: float, square: float) -> bool:
    """Return whether the first board's target may stand with the set; counting the set would take far longer."""
    height, wide, at = boards.layout[0, HEIGHT], boards.layout[0, GIVEN_WIDTH], boards.layout[0]
    given = boards.given[at[GIVEN] : at[GIVEN] + GIVEN_ROWS * wide].reshape((GIVEN_ROWS, wide))
    before = boards.tallies[at[TALLIES] + TOTAL * height + target]
    n_records = before + size
    if boards.whole[0, TESTS] & KLD:
        found = (
            boards.aims[at[AIMS] + EXPOSURE * (height + 1) + target]
            + exposure
            - boards.n_log_n[n_records]
            + boards.n_log_n[before]
        )
        if found > gate_board_kld_limit(given, boards.scalars[0], boards.whole[0], n_records) + 1e-6:
            return False
    if boards.whole[0, TESTS] & WDT:
        found = (boards.aims[at[AIMS] + SQUARE * (height + 1) + target] + square) / n_records - n_records
        if found > boards.scalars[0, WDT_LIMIT] + 1e-6:
            return False
    return True


@leaf
def _count_taken(boards: TogetherBoard, n_lines: int, sign: int) -> None:
    """Count the records of the set as released, or take them off (``sign`` -1), in place."""
    for i in range(n_lines):
        line = boards.lines[LISTED, i]
        if boards.lines[TAKEN, line] > 0:
            count_together_board_line(boards, line, sign * boards.lines[TAKEN, line])


@leaf
def _all_stand(boards: TogetherBoard, n_lines: int) -> bool:
    """Return whether every target that the set touches keeps its tests, on every board."""
    for i in range(n_lines):
        line = boards.lines[LISTED, i]
        if boards.lines[TAKEN, line] == 0:
            continue
        for board in range(len(boards.layout)):
            if not _stands(boards, board, together_board_line_target(boards, line, board)):
                return False
    return True


@leaf
def _stands(boards: TogetherBoard, board: int, target: int) -> bool:
    """Return whether what is counted as released at a target of one board keeps its tests."""
    height, wide, at = boards.layout[board, HEIGHT], boards.layout[board, GIVEN_WIDTH], boards.layout[board]
    given = boards.given[at[GIVEN] : at[GIVEN] + GIVEN_ROWS * wide].reshape((GIVEN_ROWS, wide))
    aims = boards.aims[at[AIMS] : at[AIMS] + AIM_ROWS * (height + 1)].reshape((AIM_ROWS, height + 1))
    tallies = boards.tallies[at[TALLIES] : at[TALLIES] + TALLY_ROWS * height].reshape((TALLY_ROWS, height))
    return block_holds(given, aims, boards.scalars[board], tallies, boards.whole[board], target)


@leaf
def _release_oldest(boards: TogetherBoard, n_lines: int) -> None:
    """Release the oldest record of a set, which is counted already, in place."""
    oldest, chosen = -1, -1
    for i in range(n_lines):
        line = boards.lines[LISTED, i]
        if boards.lines[TAKEN, line] > 0 and (oldest < 0 or boards.lines[HEAD, line] < oldest):
            oldest, chosen = boards.lines[HEAD, line], line
    boards.lines[TAKEN, chosen] -= 1
    take_from_together_board(boards, oldest, chosen)
    note_on_together_board(boards, oldest, chosen)
