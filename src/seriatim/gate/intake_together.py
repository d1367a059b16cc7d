"""Requests that several gates decide together, by number: the arrays behind them, which grow as they are needed.

Answers what ``Intake`` answers for a single gate. A request's cell is the pair of numbers of ``CellCodes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.gate.cell_codes import CellCodes
from seriatim.gate.guarded_counts import GuardedCounts
from seriatim.gate.inputs import LongArray
from seriatim.gate.intake import LARGEST, NO_TARGET, NOT_IN_BASELINE, NOT_NOW, IntArray
from seriatim.gate.rules import GateRules, rules_n_log_n, rules_state

if TYPE_CHECKING:
    from seriatim.kernels.gate.gate_board import GateBoard
    from seriatim.kernels.gate.together_board import TogetherBoard

_ROOM, _LINES = 1024, 64


class IntakeTogether:
    """Answer requests in their order, hold them back, take them back; a record leaves only if all rules hold.

    With ``sets`` a set of waiting records of one target of the first dependency may leave together; WDT needs it.
    """

    def __init__(self, rules: Sequence[GateRules], sets: bool = False, room: int = _ROOM) -> None:
        self.rules, self.sets = tuple(rules), sets
        self.codes = CellCodes([(len(one.p), one.n_targets) for one in self.rules])
        self.boards: tuple[GateBoard, ...]
        self.arrays, self.boards = _flat(self.rules, sets, room)
        self.xs, self.ys = np.empty(room, np.int32), np.empty(room, np.int32)
        self._lines = np.empty(room, np.int32)
        self._line_of: dict[int, int] = {}
        self._n_lines = 0

    def __len__(self) -> int:
        from seriatim.kernels.gate.together_board import N_DONE

        return int(self.arrays.counters[N_DONE])

    @property
    def n_out(self) -> int:
        """Return how many records have left."""
        from seriatim.kernels.gate.together_board import N_OUT

        return int(self.arrays.counters[N_OUT])

    def answer(self, x: LongArray, y: LongArray) -> None:
        """Answer the next requests, given by their cells."""
        from seriatim.kernels.gate.queue import ANSWER

        self._answer(x, y, ANSWER)

    def hold(self, x: LongArray, y: LongArray) -> None:
        """Put the next requests into the queue without judging them; ``settle`` judges them later."""
        from seriatim.kernels.gate.queue import HOLD

        self._answer(x, y, HOLD)

    def settle(self) -> None:
        """Release what waits and is safe, oldest first, until nothing is."""
        from seriatim.kernels.gate.queue import SETTLE

        nothing = np.empty(0, np.int64)
        self._answer(nothing, nothing, SETTLE)

    def withdraw(self, number: int) -> bool:
        """Take a waiting request back for good; return whether it was waiting."""
        from seriatim.kernels.gate.gate_board import STATUS, WAITING
        from seriatim.kernels.gate.together import withdraw_together

        if self.arrays.records[STATUS, number] != WAITING:
            return False
        withdraw_together(self.arrays, number, int(self._lines[number]))
        return True

    def cell(self, number: int) -> tuple[int, int]:
        return int(self.xs[number]), int(self.ys[number])

    @property
    def statuses(self) -> IntArray:
        """Return every request's state, as the kernels number them."""
        from seriatim.kernels.gate.gate_board import STATUS

        return self.arrays.records[STATUS, : len(self)]

    def left(self, first: int = 0) -> IntArray:
        """Return the numbers of the records that have left, in order, from the ``first``-th on."""
        from seriatim.kernels.gate.gate_board import ORDER

        return self.arrays.records[ORDER, first : self.n_out]

    def left_at(self, first: int = 0) -> IntArray:
        """Return the request that was being answered when each of ``left`` left."""
        from seriatim.kernels.gate.gate_board import WHEN

        return self.arrays.records[WHEN, first : self.n_out]

    @property
    def waiting(self) -> LongArray:
        """Return the numbers of waiting requests, oldest first."""
        from seriatim.kernels.gate.gate_board import WAITING

        return np.flatnonzero(self.statuses == WAITING)

    @property
    def guards(self) -> tuple[GuardedCounts, ...]:
        """Return each dependency's rules, and what left and waits by their cells."""
        from seriatim.kernels.gate.gate_board import COUNT

        waiting, made, first = self.arrays.waiting, [], 0
        for asked, board in zip(self.rules, self.boards, strict=True):
            cells = len(asked.p) * asked.n_targets
            held = waiting[first : first + cells].reshape(asked.n_targets, len(asked.p))
            made.append(GuardedCounts(asked, np.array(board.marks[COUNT].T), np.array(held.T)))
            first += cells
        return tuple(made)

    def may_leave(self, cell: tuple[int, int]) -> bool:
        """Return whether one more record of a cell could leave now; nothing changes."""
        (line,) = self._lines_of(*(np.array([part]) for part in cell))
        return line >= 0 and bool(self.arrays.safe[self.arrays.line_cells[line]].all())

    def reason(self, number: int) -> str:
        """Return why a request was refused; empty for any other state. It names neither a test nor a value."""
        from seriatim.kernels.gate.gate_board import DENIED, UNKNOWN

        status, (x, y) = self.statuses[number], self.cell(number)
        if status == DENIED:
            return NOT_NOW
        if status != UNKNOWN:
            return ""
        return NO_TARGET if x >= 0 > y else NOT_IN_BASELINE

    def under(self, rules: Sequence[GateRules]) -> IntakeTogether:
        """Return an intake of the same requests under other rules: what left stays counted, what waits still waits.

        ``settle`` then lets go what is safe. Values that left or wait must have a probability under the new rules.
        """
        from seriatim.kernels.gate.together import COUNT, answer_together, queue_together
        from seriatim.kernels.gate.together_board import N_DONE, N_OUT

        made = IntakeTogether(rules, self.sets, len(self.xs))
        for d, (guard, asked) in enumerate(zip(self.guards, made.rules, strict=True)):
            guard.must_have_shares(asked)
            for x, y in zip(*np.nonzero(guard.counts), strict=True):
                answer_together(made.arrays, np.array([d, y, x, guard.counts[x, y]]), COUNT)
        made.xs[:], made.ys[:] = self.xs, self.ys
        made.arrays.records[:] = self.arrays.records
        made.arrays.counters[N_DONE], made.arrays.counters[N_OUT] = len(self), self.n_out
        n = len(self)
        made._lines[:n] = made._lines_of(self.xs[:n].astype(np.int64), self.ys[:n].astype(np.int64))
        waiting = self.waiting
        queue_together(made.arrays, waiting, made._lines[waiting].astype(np.int64))
        return made

    def _answer(self, x: LongArray, y: LongArray, how: int) -> None:
        from seriatim.kernels.gate.together import answer_together

        first, lines = len(self), self._lines_of(x, y)
        self.make_room(first + len(x))
        self.xs[first : first + len(x)], self.ys[first : first + len(x)] = x, y
        self._lines[first : first + len(x)] = lines
        answer_together(self.arrays, lines, how)

    def _lines_of(self, x: LongArray, y: LongArray) -> LongArray:
        """Return the line of every cell, a new one where there was none; -1 where a value or target is unknown."""
        code = np.where((x < 0) | (y < 0), -1, (x << 31) | y)
        different, at = np.unique(code, return_inverse=True)
        fresh = np.array([c for c in different.tolist() if c >= 0 and c not in self._line_of], np.int64)
        if len(fresh):
            self._add_lines(fresh)
        lines = np.array([self._line_of.get(c, -1) for c in different.tolist()], np.int64)
        return np.asarray(lines[at])

    def _add_lines(self, codes: LongArray) -> None:
        from seriatim.kernels.gate.together import add_lines_together

        places = self.codes.unpack(codes >> 31, codes & ((1 << 31) - 1))
        cells, known, first = np.empty((len(codes), len(places)), np.int64), np.ones(len(codes), bool), 0
        for d, ((x, y), asked) in enumerate(zip(places, self.rules, strict=True)):
            cells[:, d] = first + y * len(asked.p) + x
            known &= asked.p[x] > 0
            first += len(asked.p) * asked.n_targets
        n = self._n_lines
        numbers = np.where(known, n + np.cumsum(known) - 1, -1)
        self._line_of.update(zip(codes.tolist(), numbers.tolist(), strict=True))
        self._room_for_lines(n + int(known.sum()))
        self.arrays.line_cells[numbers[known]] = cells[known]
        add_lines_together(self.arrays, n, self._n_lines)

    def _room_for_lines(self, wanted: int) -> None:
        room = self.arrays.lines.shape[1]
        self._n_lines = wanted
        if wanted <= room:
            return
        more = max(2 * room, wanted) - room
        self.arrays = self.arrays._replace(
            lines=np.concatenate((self.arrays.lines, np.zeros((len(self.arrays.lines), more), np.int64)), axis=1),
            line_cells=np.concatenate((self.arrays.line_cells, np.zeros((more, len(self.rules)), np.int64))),
            next_line=np.concatenate((self.arrays.next_line, np.zeros((more, len(self.rules)), np.int64))),
        )

    def make_room(self, wanted: int) -> None:
        """Make room for ``wanted`` requests in all."""
        room = len(self.xs)
        if wanted <= room:
            return
        if wanted >= LARGEST:
            raise InputError(Fault("requests", f"more than {room}", "start a new series"))
        more = min(max(2 * room, wanted), LARGEST - 1) - room
        old = self.arrays.records
        records = np.zeros((len(old), room + more), np.int32)
        records[:, :room] = old
        self.arrays = self.arrays._replace(records=records, n_log_n=rules_n_log_n(room + more + 103))
        self.xs, self.ys, self._lines = (
            np.concatenate((column, np.empty(more, np.int32))) for column in (self.xs, self.ys, self._lines)
        )


def _flat(rules: Sequence[GateRules], sets: bool, room: int) -> tuple[TogetherBoard, tuple[GateBoard, ...]]:
    """Return the arrays of all boards in a row, and each board's own arrays as parts of them."""
    from seriatim.kernels.gate.together import OPEN, answer_together
    from seriatim.kernels.gate.together_board import TogetherBoard

    boards = [rules_state(asked, 0, 0) for asked in rules]
    names = ("given", "cells", "aims", "marks", "tallies", "work")
    flat = {name: np.concatenate([getattr(board, name).ravel() for board in boards]) for name in names}
    flat |= {name: np.stack([getattr(board, name) for board in boards]) for name in ("scalars", "whole")}
    layout, first, begin = [], 0, dict.fromkeys(names, 0)
    for at, (asked, board) in enumerate(zip(rules, boards, strict=True)):
        width, height = len(asked.p), asked.n_targets
        layout.append([width, height, first, board.given.shape[1], *begin.values()])
        parts = {}
        for name in names:
            old = getattr(board, name)
            parts[name] = flat[name][begin[name] : begin[name] + old.size].reshape(old.shape)
            begin[name] += old.size
        boards[at] = board._replace(**parts, scalars=flat["scalars"][at], whole=flat["whole"][at])
        first += width * height
    together = TogetherBoard(
        layout=np.array(layout, np.int64), n_log_n=rules_n_log_n(room + 103), safe=np.zeros(first, np.uint8),
        price=np.zeros(first), waiting=np.zeros(first, np.int64), extra=np.zeros(first, np.int64),
        first_line=np.full(first, -1, np.int64), next_line=np.zeros((_LINES, len(boards)), np.int64),
        lines=np.zeros((8, _LINES), np.int64), line_cells=np.zeros((_LINES, len(boards)), np.int64),
        stuck=np.zeros((2, rules[0].n_targets), np.int64),
        counters=np.array([0, 0, 0, all(asked.queue for asked in rules), sets], np.int64),
        records=np.empty((5, room), np.int32), **flat,
    )  # fmt: skip
    answer_together(together, np.empty(0, np.int64), OPEN)
    return together, tuple(boards)
