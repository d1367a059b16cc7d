"""The queue: after every release the oldest waiting record that is safe leaves, until none is.

The arrays are those of :mod:`seriatim.kernels.gate.gate_board`, and travel one by one for the reason measured there.
"""

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
    given: Floats, n_log_n: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, records: Ints, values: Longs, targets: Longs, how: int,
) -> None:  # fmt: skip
    """Answer the next requests in place, in their order: each leaves, waits or is denied, then the queue settles.

    With ``HOLD`` they wait without being judged; with ``SETTLE`` the queue settles at all targets afterwards. One
    kernel does all three, because each kernel that settles takes the compiler as long as the others.
    """
    tests, width, n_targets = whole[TESTS], marks.shape[2], tallies.shape[1]
    for i in range(len(values)):
        value, target = values[i], targets[i]
        record = whole[N_DONE]
        if value < 0 or value >= width or target < 0 or target >= n_targets or given[INVERSE, value] == 0.0:
            records[STATUS, record] = UNKNOWN
        elif how == HOLD:
            _push(cells, aims, marks, tallies, records, record, target, value)
            tallies[STUCK, target] = 1
        elif verdict_holds(given, cells, aims, scalars, marks, tallies, whole, work, target, value):
            count_gate_cell(given, n_log_n, cells, marks, tallies, whole, target, value, 1)
            refresh_gate_board(given, n_log_n, cells, aims, scalars, marks, tallies, whole, work, target)
            _note(tallies, whole, records, record, target)
            _settle(given, n_log_n, cells, aims, scalars, marks, tallies, whole, work, records, target)
        elif whole[KEEP_QUEUE]:
            _push(cells, aims, marks, tallies, records, record, target, value)
            if tests & WDT or whole[JOINT]:
                tallies[STUCK, target] = 1
                _settle(given, n_log_n, cells, aims, scalars, marks, tallies, whole, work, records, target)
        else:
            records[STATUS, record] = DENIED
        whole[N_DONE] = record + 1
    if how == SETTLE:
        _settle_between(given, n_log_n, cells, aims, scalars, marks, tallies, whole, work, records, 0, n_targets)


@leaf
def _settle(
    given: Floats, n_log_n: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, records: Ints, target: int,
) -> None:  # fmt: skip
    """Release in place what waits and may be safe now that something of a target has changed."""
    first, last = target, target + 1
    if whole[TESTS] & COUPLED:
        first, last = 0, tallies.shape[1]
    _settle_between(given, n_log_n, cells, aims, scalars, marks, tallies, whole, work, records, first, last)


@leaf
def _settle_between(
    given: Floats, n_log_n: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, records: Ints, first: int, last: int,
) -> None:  # fmt: skip
    """Release in place what waits at some targets, oldest safe record first; blocks when no single record is safe."""
    tests = whole[TESTS]
    while True:
        best, best_target, best_value = LATEST, -1, -1
        for at in range(first, last):
            if tallies[N_BUSY, at] == 0 or (tests & KLD and not aims[LEAST, at] < aims[KLD_ROOM, at]):
                continue
            if tests & MIS and not aims[LEAST, at] - aims[TARGET_STEP, at] < scalars[MIS_ROOM]:
                continue
            if tests & DQT and dixon_verdict_hopeless(given, aims, tallies, whole, at):
                continue
            value = oldest_safe(given, cells, aims, scalars, marks, tallies, whole, work, at, best)
            if value >= 0:
                best, best_target, best_value = marks[HEAD, at, value], at, value
        if best_value >= 0:
            step = cells[STEP, best_target, best_value]
            _take_from_queue(marks, tallies, records, best, best_target, best_value)
            count_gate_cell(given, n_log_n, cells, marks, tallies, whole, best_target, best_value, 1)
            refresh_gate_board(given, n_log_n, cells, aims, scalars, marks, tallies, whole, work, best_target)
            _note(tallies, whole, records, best, best_target)
            if not step > aims[LEAST, best_target]:
                _find_least(cells, aims, marks, tallies, best_target)
        elif not (tests & WDT or whole[JOINT]) or not _settle_block(
            given, n_log_n, cells, aims, scalars, marks, tallies, whole, work, records, first, last
        ):
            return


@leaf
def _settle_block(
    given: Floats, n_log_n: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs,
    tallies: Longs, whole: Longs, work: Longs, records: Ints, first: int, last: int,
) -> bool:  # fmt: skip
    """Return whether a block left; release in place that of the first target that has one, oldest record first."""
    for target in range(first, last):
        if not tallies[STUCK, target]:
            continue
        tallies[STUCK, target] = 0
        size = release_block(given, n_log_n, cells, aims, scalars, marks, tallies, whole, work, target)
        for _ in range(size):
            oldest, oldest_value = -1, -1
            for value in range(marks.shape[2]):
                record = marks[HEAD, target, value]
                if work[EXTRA, value] > 0 and (oldest < 0 or record < oldest):
                    oldest, oldest_value = record, value
            work[EXTRA, oldest_value] -= 1
            _take_from_queue(marks, tallies, records, oldest, target, oldest_value)
            _note(tallies, whole, records, oldest, target)
        if size > 0:
            _find_least(cells, aims, marks, tallies, target)
            return True
    return False


@leaf
def _note(tallies: Longs, whole: Longs, records: Ints, record: int, target: int) -> None:
    """Write a release into ``records``, and which targets are to be looked at again into ``tallies``."""
    out = whole[N_OUT]
    records[ORDER, out] = record
    records[WHEN, out] = whole[N_DONE]
    records[STATUS, record] = RELEASED
    whole[N_OUT] = out + 1
    tests = whole[TESTS]
    if tests & WDT or whole[JOINT]:
        tallies[STUCK, target] = 1
        if tests & COUPLED:
            for i in range(tallies.shape[1]):
                tallies[STUCK, i] = 1


@leaf
def _find_least(cells: Floats, aims: Floats, marks: Longs, tallies: Longs, target: int) -> None:
    """Write the smallest ``STEP`` of a target's waiting cells into ``aims``."""
    least = np.inf
    for i in range(tallies[N_BUSY, target]):
        least = min(least, cells[STEP, target, marks[BUSY, target, i]])
    aims[LEAST, target] = least


@leaf
def _push(
    cells: Floats, aims: Floats, marks: Longs, tallies: Longs, records: Ints, record: int, target: int, value: int
) -> None:
    """Put a record at the end of its cell's list, in place."""
    records[STATUS, record] = WAITING
    records[FOLLOWING, record] = -1
    if marks[LENGTH, target, value] > 0:
        last = marks[TAIL, target, value]
        records[PREVIOUS, record] = last
        records[FOLLOWING, last] = record
    else:
        records[PREVIOUS, record] = -1
        marks[HEAD, target, value] = record
        busy = tallies[N_BUSY, target]
        marks[SPOT, target, value] = busy
        marks[BUSY, target, busy] = value
        tallies[N_BUSY, target] = busy + 1
        aims[LEAST, target] = min(aims[LEAST, target], cells[STEP, target, value])
    marks[TAIL, target, value] = record
    marks[LENGTH, target, value] += 1


@leaf
def _take_from_queue(marks: Longs, tallies: Longs, records: Ints, record: int, target: int, value: int) -> None:
    """Take a waiting record out of its cell's list, in place, wherever it stands; ``LEAST`` is to be found again."""
    before, after = records[PREVIOUS, record], records[FOLLOWING, record]
    if before >= 0:
        records[FOLLOWING, before] = after
    else:
        marks[HEAD, target, value] = after
    if after >= 0:
        records[PREVIOUS, after] = before
    else:
        marks[TAIL, target, value] = before
    marks[LENGTH, target, value] -= 1
    if marks[LENGTH, target, value] == 0:
        busy = tallies[N_BUSY, target] - 1
        last, spot = marks[BUSY, target, busy], marks[SPOT, target, value]
        marks[BUSY, target, spot] = last
        marks[SPOT, target, last] = spot
        tallies[N_BUSY, target] = busy


@kernel
def withdraw_from_queue(
    cells: Floats, aims: Floats, marks: Longs, tallies: Longs, records: Ints, record: int, target: int, value: int
) -> None:
    """Take a waiting record out of the queue for good, in place; figures stay, since nothing was released."""
    _take_from_queue(marks, tallies, records, record, target, value)
    _find_least(cells, aims, marks, tallies, target)
    records[STATUS, record] = GONE


@kernel
def may_leave_queue(
    given: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs, tallies: Longs, whole: Longs,
    work: Longs, target: int, value: int,
) -> bool:  # fmt: skip
    """Return whether one more record of a cell may leave; only merged steps that had to be found are kept in place."""
    return verdict_holds(given, cells, aims, scalars, marks, tallies, whole, work, target, value)


@kernel
def let_out_of_queue(
    given: Floats, n_log_n: Floats, cells: Floats, aims: Floats, scalars: Floats, marks: Longs, tallies: Longs,
    whole: Longs, work: Longs, target: int, value: int, change: int,
) -> None:  # fmt: skip
    """Count records of a cell as released, or take them off, in place; the queue stays as it is."""
    count_gate_cell(given, n_log_n, cells, marks, tallies, whole, target, value, change)
    refresh_gate_board(given, n_log_n, cells, aims, scalars, marks, tallies, whole, work, target)


@kernel
def queue_again(
    cells: Floats, aims: Floats, marks: Longs, tallies: Longs, records: Ints,
    numbers: Longs, values: Longs, targets: Longs,
) -> None:  # fmt: skip
    """Put known requests into an empty queue, in place, oldest first, without judging them."""
    for i in range(len(numbers)):
        _push(cells, aims, marks, tallies, records, numbers[i], targets[i], values[i])
        tallies[STUCK, targets[i]] = 1
