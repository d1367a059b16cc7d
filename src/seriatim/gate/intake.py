"""Requests by number and what became of each: the arrays behind a gate, which grow as they are needed.

A request's number is its place in the order of requests. The intake knows nothing of ids, names or clocks; ``Gate``
adds names, and the service's desk adds ids, owners and time. Both therefore decide alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim.gate.guarded_counts import GuardedCounts
from seriatim.gate.inputs import LongArray
from seriatim.gate.rules import GateRules, rules_n_log_n, rules_state

if TYPE_CHECKING:
    from seriatim.kernels.gate.gate_board import GateBoard as Arrays

IntArray = npt.NDArray[np.int32]
LARGEST = 1 << 31
NOT_IN_BASELINE = "the value is not in the baseline"
NO_TARGET = "the target is not known"
NOT_NOW = "not released"
_ROOM = 1024


class Intake:
    """Answer requests in their order, hold them back, take them back; all by number."""

    def __init__(self, asked: GateRules, room: int = _ROOM) -> None:
        self.asked = asked
        self.arrays: Arrays = rules_state(asked, room, room)
        self.xs, self.ys = np.empty(room, np.int32), np.empty(room, np.int32)

    def __len__(self) -> int:
        from seriatim.kernels.gate.gate_board import N_DONE

        return int(self.arrays.whole[N_DONE])

    @property
    def n_out(self) -> int:
        """Return how many records have left."""
        from seriatim.kernels.gate.gate_board import N_OUT

        return int(self.arrays.whole[N_OUT])

    def answer(self, x: LongArray, y: LongArray) -> None:
        """Answer the next requests, given as places; -1 is unknown."""
        from seriatim.kernels.gate.queue import ANSWER, answer_queue

        self._note(x, y)
        answer_queue(*self.arrays, x, y, ANSWER)

    def hold(self, x: LongArray, y: LongArray) -> None:
        """Put the next requests into the queue without judging them; ``settle`` judges them later."""
        from seriatim.kernels.gate.queue import HOLD, answer_queue

        self._note(x, y)
        answer_queue(*self.arrays, x, y, HOLD)

    def settle(self) -> None:
        """Release what waits and is safe, oldest first, until nothing is."""
        from seriatim.kernels.gate.queue import SETTLE, answer_queue

        nothing = np.empty(0, np.int64)
        answer_queue(*self.arrays, nothing, nothing, SETTLE)

    def withdraw(self, number: int) -> bool:
        """Take a waiting request back for good; return whether it was waiting."""
        from seriatim.kernels.gate.gate_board import STATUS, WAITING
        from seriatim.kernels.gate.queue import withdraw_from_queue

        if self.arrays.records[STATUS, number] != WAITING:
            return False
        _, _, cells, aims, _, marks, tallies, _, _, records = self.arrays
        x, y = self.cell(number)
        withdraw_from_queue(cells, aims, marks, tallies, records, number, y, x)
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
    def counts(self) -> LongArray:
        """Return the counts, |X| x |Y|, of what was released."""
        from seriatim.kernels.gate.gate_board import COUNT

        return np.array(self.arrays.marks[COUNT].T)

    @property
    def waiting_counts(self) -> LongArray:
        """Return the counts, |X| x |Y|, of what waits."""
        from seriatim.kernels.gate.gate_board import LENGTH

        return np.array(self.arrays.marks[LENGTH].T)

    def may_leave(self, cell: tuple[int, int]) -> bool:
        """Return whether one more record of a cell could leave now; nothing changes."""
        from seriatim.kernels.gate.queue import may_leave_queue

        given, _, cells, aims, scalars, marks, tallies, whole, work, _ = self.arrays
        return bool(may_leave_queue(given, cells, aims, scalars, marks, tallies, whole, work, cell[1], cell[0]))

    def let_out(self, cell: tuple[int, int], change: int = 1) -> None:
        """Count records of a cell as released without a request, or take them off again."""
        from seriatim.kernels.gate.gate_board import TOTAL
        from seriatim.kernels.gate.queue import let_out_of_queue

        if int(self.arrays.tallies[TOTAL, cell[1]]) + change + 2 >= len(self.arrays.n_log_n):
            self.arrays = self.arrays._replace(n_log_n=rules_n_log_n(2 * (len(self.arrays.n_log_n) + change)))
        let_out_of_queue(*self.arrays[:9], cell[1], cell[0], change)

    @property
    def rules(self) -> tuple[GateRules, ...]:
        """Return the rules of every dependency: here of the only one."""
        return (self.asked,)

    @property
    def guards(self) -> tuple[GuardedCounts, ...]:
        """Return each dependency's rules, and what left and waits by its cells: here of the only one."""
        return (GuardedCounts(self.asked, self.counts, self.waiting_counts),)

    def reason(self, number: int) -> str:
        """Return why a request was refused; empty for any other state. It names neither a test nor a value."""
        from seriatim.kernels.gate.gate_board import DENIED, UNKNOWN

        status = self.statuses[number]
        if status == DENIED:
            return NOT_NOW
        if status != UNKNOWN:
            return ""
        x, p = int(self.xs[number]), self.asked.p
        return NO_TARGET if 0 <= x < len(p) and p[x] > 0 else NOT_IN_BASELINE

    def under(self, rules: Sequence[GateRules]) -> Intake:
        """Return an intake of the same requests under other rules: what left stays counted, what waits still waits.

        ``settle`` then lets go what is safe. Values that left or wait must have a probability under the new rules.
        """
        from seriatim.kernels.gate.gate_board import N_DONE, N_OUT
        from seriatim.kernels.gate.queue import queue_again

        (asked,), counts, waiting = rules, self.counts, self.waiting
        self.guards[0].must_have_shares(asked)
        made = Intake(asked, len(self.xs))
        made.xs[:], made.ys[:] = self.xs, self.ys
        made.arrays.records[:] = self.arrays.records
        for x, y in zip(*np.nonzero(counts), strict=True):
            made.let_out((int(x), int(y)), int(counts[x, y]))
        made.arrays.whole[N_DONE], made.arrays.whole[N_OUT] = len(self), self.n_out
        _, _, cells, aims, _, marks, tallies, _, _, records = made.arrays
        places = (self.xs[waiting].astype(np.int64), self.ys[waiting].astype(np.int64))
        queue_again(cells, aims, marks, tallies, records, waiting, *places)
        return made

    def _note(self, x: LongArray, y: LongArray) -> None:
        first = len(self)
        self.make_room(first + len(x))
        self.xs[first : first + len(x)] = x
        self.ys[first : first + len(x)] = y

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
        n_log_n = rules_n_log_n(max(room + more + 3, len(self.arrays.n_log_n) - 1))
        self.arrays = self.arrays._replace(records=records, n_log_n=n_log_n)
        self.xs = np.concatenate((self.xs, np.empty(more, np.int32)))
        self.ys = np.concatenate((self.ys, np.empty(more, np.int32)))
