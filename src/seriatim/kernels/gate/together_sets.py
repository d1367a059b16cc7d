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
    gate_kld_limit,
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
    count_line_together,
    line_target_together,
    note_together,
    take_together,
)

LARGEST_SET, MOST_TARGETS = 100, 8
"""How far the search for a set goes."""
PATIENCE, AGAIN = 32, 1 << 40
"""A set is looked for again once a 32nd of what waits has come or gone, and at once after one was found."""
TIE = 1e-12


@leaf
def settle_set_together(t: TogetherBoard) -> bool:
    """Release a set at the first target of the first board that has one; targets with older records come first."""
    for y in range(t.layout[0, HEIGHT]):
        t.stuck[OLDEST, y] = -1
        if t.stuck[STUCK, y] > 0 and t.stuck[STUCK, y] >= _waiting(t, y) // PATIENCE:
            for i in range(_list_lines(t, y)):
                head = t.lines[HEAD, t.lines[LISTED, i]]
                if t.stuck[OLDEST, y] < 0 or head < t.stuck[OLDEST, y]:
                    t.stuck[OLDEST, y] = head
    for _ in range(MOST_TARGETS):
        chosen = -1
        for y in range(t.layout[0, HEIGHT]):
            if t.stuck[OLDEST, y] >= 0 and (chosen < 0 or t.stuck[OLDEST, y] < t.stuck[OLDEST, chosen]):
                chosen = y
        if chosen < 0:
            return False
        t.stuck[OLDEST, chosen] = -1
        t.stuck[STUCK, chosen] = 0
        if _release_set(t, chosen):
            t.stuck[STUCK, chosen] += AGAIN
            return True
    return False


@leaf
def _waiting(t: TogetherBoard, y: int) -> int:
    """Return how many records wait at a target of the first board."""
    n = 0
    for cell in range(y * t.layout[0, WIDTH], (y + 1) * t.layout[0, WIDTH]):
        n += t.waiting[cell]
    return n


@leaf
def _list_lines(t: TogetherBoard, y: int) -> int:
    """List the lines of target y that have records; return how many there are."""
    n, width = 0, t.layout[0, WIDTH]
    for cell in range(y * width, (y + 1) * width):
        line = t.first_line[cell]
        while line >= 0:
            if t.lines[LENGTH, line] > 0:
                t.lines[LISTED, n] = line
                t.lines[TAKEN, line] = 0
                n += 1
            line = t.next_line[line, 0]
    return n


@leaf
def _release_set(t: TogetherBoard, y: int) -> bool:
    """Release the smallest set of target y that is safe together; False, and nothing changed, if none is found.

    Counting a set takes long: after one that does not stand, the next is an eighth larger.
    """
    n = _list_lines(t, y)
    due, size = _fewest(t, n), 0
    exposure = square = 0.0
    while size < LARGEST_SET:
        line = _mildest(t, n)
        if line < 0:
            break
        size += 1
        exposure += t.price[t.line_cells[line, 0]]
        square += _square_step(t, line)
        t.lines[TAKEN, line] += 1
        _try_line(t, line, 1)
        if size < due or not _may_stand(t, y, size, exposure, square):
            continue
        _count_taken(t, n, 1)
        if _all_stand(t, n):
            _untry(t, n)
            for _ in range(size):
                _release_oldest(t, n)
            return True
        _count_taken(t, n, -1)
        due = size + 1 + size // 8
        for i in range(n):
            if t.lines[TAKEN, t.lines[LISTED, i]] > 0:
                _try_line(t, t.lines[LISTED, i], 0)
    _untry(t, n)
    for i in range(n):
        if t.lines[TAKEN, t.lines[LISTED, i]] > 0:
            _try_line(t, t.lines[LISTED, i], 0)
    return False


@leaf
def _fewest(t: TogetherBoard, n: int) -> int:
    """Return how many records a set must have: more where its oldest record opens a target of a board with WDT."""
    oldest, chosen = -1, -1
    for i in range(n):
        line = t.lines[LISTED, i]
        if oldest < 0 or t.lines[HEAD, line] < oldest:
            oldest, chosen = t.lines[HEAD, line], line
    for d in range(len(t.layout) if chosen >= 0 else 0):
        total = t.tallies[t.layout[d, TALLIES] + TOTAL * t.layout[d, HEIGHT] + line_target_together(t, chosen, d)]
        if t.whole[d, TESTS] & WDT and total == 0:
            return OPENING
    return FURTHER


@leaf
def _mildest(t: TogetherBoard, n: int) -> int:
    """Return the listed line whose next record adds least exposure, the oldest on a tie; -1 if none is left."""
    best, best_price, best_head = -1, 0.0, -1
    for i in range(n):
        line = t.lines[LISTED, i]
        if t.lines[TAKEN, line] >= t.lines[LENGTH, line]:
            continue
        price = 0.0
        for d in range(len(t.layout)):
            price += t.price[t.line_cells[line, d]]
        head, margin = t.lines[HEAD, line], TIE * abs(best_price)
        if best < 0 or price < best_price - margin or (price <= best_price + margin and head < best_head):
            best, best_price, best_head = line, price, head
    return best


@leaf
def _try_line(t: TogetherBoard, line: int, change: int) -> None:
    """Add a line's record to the set that is tried, or none, and find its cells' prices again."""
    for d in range(len(t.layout)):
        cell = t.line_cells[line, d]
        t.extra[cell] += change
        place = cell - t.layout[d, FIRST]
        c = t.marks[t.layout[d, MARKS] + place] + t.extra[cell]
        log_p = t.given[t.layout[d, GIVEN] + LOG_P * t.layout[d, GIVEN_WIDTH] + place % t.layout[d, WIDTH]]
        t.price[cell] = t.f[c + 1] - t.f[c] - log_p


@leaf
def _untry(t: TogetherBoard, n: int) -> None:
    for i in range(n):
        for d in range(len(t.layout)):
            t.extra[t.line_cells[t.lines[LISTED, i], d]] = 0


@leaf
def _square_step(t: TogetherBoard, line: int) -> float:
    """Return what one more record of a line adds to the squares of its target on the first board."""
    cell, at = t.line_cells[line, 0], t.layout[0]
    inverse = t.given[at[GIVEN] + INVERSE * at[GIVEN_WIDTH] + cell % at[WIDTH]]
    return float((2 * (t.marks[at[MARKS] + cell] + t.extra[cell]) + 1) * inverse)


@leaf
def _may_stand(t: TogetherBoard, y: int, size: int, exposure: float, square: float) -> bool:
    """Return False where the first board's target y cannot stand with the set; counting it would take far longer."""
    height, wide, at = t.layout[0, HEIGHT], t.layout[0, GIVEN_WIDTH], t.layout[0]
    given = t.given[at[GIVEN] : at[GIVEN] + GIVEN_ROWS * wide].reshape((GIVEN_ROWS, wide))
    before = t.tallies[at[TALLIES] + TOTAL * height + y]
    n = before + size
    if t.whole[0, TESTS] & KLD:
        found = t.aims[at[AIMS] + EXPOSURE * (height + 1) + y] + exposure - t.f[n] + t.f[before]
        if found > gate_kld_limit(given, t.scalars[0], t.whole[0], n) + 1e-6:
            return False
    if t.whole[0, TESTS] & WDT:
        found = (t.aims[at[AIMS] + SQUARE * (height + 1) + y] + square) / n - n
        if found > t.scalars[0, WDT_LIMIT] + 1e-6:
            return False
    return True


@leaf
def _count_taken(t: TogetherBoard, n: int, sign: int) -> None:
    for i in range(n):
        line = t.lines[LISTED, i]
        if t.lines[TAKEN, line] > 0:
            count_line_together(t, line, sign * t.lines[TAKEN, line])


@leaf
def _all_stand(t: TogetherBoard, n: int) -> bool:
    """Return whether every target that the set touches keeps its tests, on every board."""
    for i in range(n):
        line = t.lines[LISTED, i]
        if t.lines[TAKEN, line] == 0:
            continue
        for d in range(len(t.layout)):
            if not _stands(t, d, line_target_together(t, line, d)):
                return False
    return True


@leaf
def _stands(t: TogetherBoard, d: int, y: int) -> bool:
    """Return whether what is counted as released at target y of board d keeps its tests."""
    height, wide, at = t.layout[d, HEIGHT], t.layout[d, GIVEN_WIDTH], t.layout[d]
    given = t.given[at[GIVEN] : at[GIVEN] + GIVEN_ROWS * wide].reshape((GIVEN_ROWS, wide))
    aims = t.aims[at[AIMS] : at[AIMS] + AIM_ROWS * (height + 1)].reshape((AIM_ROWS, height + 1))
    tallies = t.tallies[at[TALLIES] : at[TALLIES] + TALLY_ROWS * height].reshape((TALLY_ROWS, height))
    return block_holds(given, aims, t.scalars[d], tallies, t.whole[d], y)


@leaf
def _release_oldest(t: TogetherBoard, n: int) -> None:
    """Let the oldest record of a set go, which is counted already."""
    oldest, chosen = -1, -1
    for i in range(n):
        line = t.lines[LISTED, i]
        if t.lines[TAKEN, line] > 0 and (oldest < 0 or t.lines[HEAD, line] < oldest):
            oldest, chosen = t.lines[HEAD, line], line
    t.lines[TAKEN, chosen] -= 1
    take_together(t, oldest, chosen)
    note_together(t, oldest, chosen)
