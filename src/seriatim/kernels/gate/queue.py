"""The queue: after every release the oldest waiting record that is safe leaves, until none is."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, kernel, leaf
from seriatim.kernels.gate.blocks import release_block
from seriatim.kernels.gate.gate_board import (
    BUSY,
    COUPLED,
    DENIED,
    DQT,
    EXTRA,
    FOLLOWING,
    GONE,
    HEAD,
    INVERSE,
    JOINT,
    KEEP_QUEUE,
    KLD,
    KLD_ROOM,
    LEAST,
    LENGTH,
    MIS,
    MIS_ROOM,
    N_BUSY,
    N_DONE,
    N_OUT,
    ORDER,
    PREVIOUS,
    RELEASED,
    SPOT,
    STATUS,
    STEP,
    STUCK,
    TAIL,
    TARGET_STEP,
    TESTS,
    UNKNOWN,
    WAITING,
    WDT,
    WHEN,
    count_gate_cell,
    refresh_gate_board,
)
from seriatim.kernels.gate.oldest import oldest_safe
from seriatim.kernels.gate.verdicts import dixon_verdict_hopeless, verdict_holds

ANSWER, HOLD, SETTLE = range(3)
"""What is done with requests."""
LATEST = 1 << 40
"""Later than any request."""


@kernel
def answer_queue(
    given: Floats, f: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, records: Ints, xs: Longs, ys: Longs, how: int,
) -> None:  # fmt: skip
    """Answer the next requests, one after another: each leaves, waits or is turned away, then the queue settles.

    With ``HOLD`` they wait without being judged; with ``SETTLE`` the queue settles at all targets afterwards. One
    kernel does all three, because each kernel that settles takes the compiler as long as the others.
    """
    tests, width, n_targets = whole[TESTS], marks.shape[2], tallies.shape[1]
    for i in range(len(xs)):
        x, y = xs[i], ys[i]
        record = whole[N_DONE]
        if x < 0 or x >= width or y < 0 or y >= n_targets or given[INVERSE, x] == 0.0:
            records[STATUS, record] = UNKNOWN
        elif how == HOLD:
            _push(cells, aims, marks, tallies, records, record, y, x)
            tallies[STUCK, y] = 1
        elif verdict_holds(given, cells, aims, scalars, marks, tallies, whole, work, y, x):
            count_gate_cell(given, f, cells, marks, tallies, whole, y, x, 1)
            refresh_gate_board(given, f, cells, aims, scalars, marks, tallies, whole, work, y)
            _note(tallies, whole, records, record, y)
            _settle(given, f, cells, aims, scalars, marks, tallies, whole, work, records, y)
        elif whole[KEEP_QUEUE]:
            _push(cells, aims, marks, tallies, records, record, y, x)
            if tests & WDT or whole[JOINT]:
                tallies[STUCK, y] = 1
                _settle(given, f, cells, aims, scalars, marks, tallies, whole, work, records, y)
        else:
            records[STATUS, record] = DENIED
        whole[N_DONE] = record + 1
    if how == SETTLE:
        _settle_between(given, f, cells, aims, scalars, marks, tallies, whole, work, records, 0, n_targets)


@leaf
def _settle(
    given: Floats, f: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, records: Ints, y: int,
) -> None:  # fmt: skip
    """Release what waits and may be safe now that something of target y has changed."""
    first, last = y, y + 1
    if whole[TESTS] & COUPLED:
        first, last = 0, tallies.shape[1]
    _settle_between(given, f, cells, aims, scalars, marks, tallies, whole, work, records, first, last)


@leaf
def _settle_between(
    given: Floats, f: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, records: Ints, first: int, last: int,
) -> None:  # fmt: skip
    """Release what waits at some targets, oldest safe record first; a block only when no single record is safe."""
    tests = whole[TESTS]
    while True:
        best, best_y, best_x = LATEST, -1, -1
        for at in range(first, last):
            if tallies[N_BUSY, at] == 0 or (tests & KLD and not aims[LEAST, at] < aims[KLD_ROOM, at]):
                continue
            if tests & MIS and not aims[LEAST, at] - aims[TARGET_STEP, at] < scalars[MIS_ROOM]:
                continue
            if tests & DQT and dixon_verdict_hopeless(given, aims, tallies, whole, at):
                continue
            x = oldest_safe(given, cells, aims, scalars, marks, tallies, whole, work, at, best)
            if x >= 0:
                best, best_y, best_x = marks[HEAD, at, x], at, x
        if best_x >= 0:
            step = cells[STEP, best_y, best_x]
            _take_from_queue(marks, tallies, records, best, best_y, best_x)
            count_gate_cell(given, f, cells, marks, tallies, whole, best_y, best_x, 1)
            refresh_gate_board(given, f, cells, aims, scalars, marks, tallies, whole, work, best_y)
            _note(tallies, whole, records, best, best_y)
            if not step > aims[LEAST, best_y]:
                _find_least(cells, aims, marks, tallies, best_y)
        elif not (tests & WDT or whole[JOINT]) or not _settle_block(
            given, f, cells, aims, scalars, marks, tallies, whole, work, records, first, last
        ):
            return


@leaf
def _settle_block(
    given: Floats, f: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, records: Ints, first: int, last: int,
) -> bool:  # fmt: skip
    """Release the block of the first target that has one; its records leave in the order of their requests."""
    for y in range(first, last):
        if not tallies[STUCK, y]:
            continue
        tallies[STUCK, y] = 0
        size = release_block(given, f, cells, aims, scalars, marks, tallies, whole, work, y)
        for _ in range(size):
            oldest, oldest_x = -1, -1
            for x in range(marks.shape[2]):
                record = marks[HEAD, y, x]
                if work[EXTRA, x] > 0 and (oldest < 0 or record < oldest):
                    oldest, oldest_x = record, x
            work[EXTRA, oldest_x] -= 1
            _take_from_queue(marks, tallies, records, oldest, y, oldest_x)
            _note(tallies, whole, records, oldest, y)
        if size > 0:
            _find_least(cells, aims, marks, tallies, y)
            return True
    return False


@leaf
def _note(tallies: Longs, whole: Longs, records: Ints, record: int, y: int) -> None:
    """Write down a release, and which targets are to be looked at again."""
    out = whole[N_OUT]
    records[ORDER, out] = record
    records[WHEN, out] = whole[N_DONE]
    records[STATUS, record] = RELEASED
    whole[N_OUT] = out + 1
    tests = whole[TESTS]
    if tests & WDT or whole[JOINT]:
        tallies[STUCK, y] = 1
        if tests & COUPLED:
            for i in range(tallies.shape[1]):
                tallies[STUCK, i] = 1


@leaf
def _find_least(cells: Floats, aims: Floats, marks: Longs, tallies: Longs, y: int) -> None:
    least = np.inf
    for i in range(tallies[N_BUSY, y]):
        least = min(least, cells[STEP, y, marks[BUSY, y, i]])
    aims[LEAST, y] = least


@leaf
def _push(
    cells: Floats, aims: Floats, marks: Longs, tallies: Longs, records: Ints, record: int, y: int, x: int
) -> None:
    """Put a record at the end of its cell's list."""
    records[STATUS, record] = WAITING
    records[FOLLOWING, record] = -1
    if marks[LENGTH, y, x] > 0:
        last = marks[TAIL, y, x]
        records[PREVIOUS, record] = last
        records[FOLLOWING, last] = record
    else:
        records[PREVIOUS, record] = -1
        marks[HEAD, y, x] = record
        busy = tallies[N_BUSY, y]
        marks[SPOT, y, x] = busy
        marks[BUSY, y, busy] = x
        tallies[N_BUSY, y] = busy + 1
        aims[LEAST, y] = min(aims[LEAST, y], cells[STEP, y, x])
    marks[TAIL, y, x] = record
    marks[LENGTH, y, x] += 1


@leaf
def _take_from_queue(marks: Longs, tallies: Longs, records: Ints, record: int, y: int, x: int) -> None:
    """Take a waiting record out of its cell's list, wherever it stands; ``LEAST`` is to be found again."""
    before, after = records[PREVIOUS, record], records[FOLLOWING, record]
    if before >= 0:
        records[FOLLOWING, before] = after
    else:
        marks[HEAD, y, x] = after
    if after >= 0:
        records[PREVIOUS, after] = before
    else:
        marks[TAIL, y, x] = before
    marks[LENGTH, y, x] -= 1
    if marks[LENGTH, y, x] == 0:
        busy = tallies[N_BUSY, y] - 1
        last, spot = marks[BUSY, y, busy], marks[SPOT, y, x]
        marks[BUSY, y, spot] = last
        marks[SPOT, y, last] = spot
        tallies[N_BUSY, y] = busy


@kernel
def withdraw_from_queue(
    cells: Floats, aims: Floats, marks: Longs, tallies: Longs, records: Ints, record: int, y: int, x: int
) -> None:
    """Take a waiting record back for good; nothing else changes, since nothing was released."""
    _take_from_queue(marks, tallies, records, record, y, x)
    _find_least(cells, aims, marks, tallies, y)
    records[STATUS, record] = GONE


@kernel
def may_leave_queue(
    given: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs, tallies: Longs, whole: Longs,
    work: Longs, y: int, x: int,
) -> bool:  # fmt: skip
    """Return whether one more record of cell (x, y) may leave; nothing changes."""
    return verdict_holds(given, cells, aims, scalars, marks, tallies, whole, work, y, x)


@kernel
def let_out_of_queue(
    given: Floats, f: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs, tallies: Longs,
    whole: Longs, work: Longs, y: int, x: int, change: int,
) -> None:  # fmt: skip
    """Count records of cell (x, y) as released, or take them off; the queue stays as it is."""
    count_gate_cell(given, f, cells, marks, tallies, whole, y, x, change)
    refresh_gate_board(given, f, cells, aims, scalars, marks, tallies, whole, work, y)


@kernel
def queue_again(
    cells: Floats, aims: Floats, marks: Longs, tallies: Longs, records: Ints,
    numbers: Longs, xs: Longs, ys: Longs,
) -> None:  # fmt: skip
    """Put known requests into an empty queue, oldest first, without judging them."""
    for i in range(len(numbers)):
        _push(cells, aims, marks, tallies, records, numbers[i], ys[i], xs[i])
        tallies[STUCK, ys[i]] = 1
