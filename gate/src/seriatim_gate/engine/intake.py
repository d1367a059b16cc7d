"""Requests by number and what became of each: the arrays behind a gate, which grow as they are needed.

A request's number is its place in the order of requests. A record leaves only if every dependency holds; one dependency
is the case of a list of one. The intake knows nothing of ids, names or clocks: ``Gate`` adds names, and the service's
book adds ids, owners and time. All therefore decide alike. A request's cell is the pair of numbers of ``Codes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim_gate.engine.decision import Outcome
from seriatim_gate.engine.inputs import Codes, LongArray, Places
from seriatim_gate.engine.rules import Rules

IntArray = npt.NDArray[np.int32]
LARGEST = 1 << 31
NOT_IN_BASELINE = "the value is not in the baseline"
NO_TARGET = "the target is not known"
NOT_NOW = "not released"
_ROOM = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """One dependency of a gate: its rules, and what left and waits as |X| x |Y| counts. For the officer only."""

    asked: Rules
    counts: LongArray
    waiting: LongArray

    def must_have_shares(self, asked: Rules) -> None:
        """Refuse rules under which a value that left or waits has no share."""
        if bool((self.counts + self.waiting)[asked.p == 0].any()):
            raise InputError(Fault("baseline", "values that left or wait have no share", "freeze, or another baseline"))


class Intake:
    """Answer requests in their order, hold them back, take them back; all by number.

    Where no record is safe alone, some of one target may leave together: if the rules ask for it, or as ``sets`` says.
    ``most`` is how many records may leave at one target, if that is known to be fewer than there is ``room`` for.
    """

    def __init__(
        self, rules: Sequence[Rules], sets: bool | None = None, room: int = _ROOM, most: int | None = None
    ) -> None:
        from seriatim_gate.engine.opening import open_board, open_queue
        from seriatim_gate.kernels.queue import OPEN

        self.rules, self._sets = tuple(rules), sets
        self.codes = Codes([(len(one.p), one.n_targets) for one in self.rules])
        self.board = open_board(self.rules, room if most is None else most)
        self.queue = open_queue(self.rules, self.board, sets, room)
        self.xs, self.ys = np.empty(room, np.int32), np.empty(room, np.int32)
        self._line_of: dict[int, int] = {}
        self._n_lines = 0
        self._run(np.empty(0, np.int64), OPEN)

    def __len__(self) -> int:
        return int(self.queue.whole["n_done"][0])

    @property
    def n_out(self) -> int:
        """Return how many records have left."""
        return int(self.queue.whole["n_out"][0])

    def answer(self, x: LongArray, y: LongArray) -> None:
        """Answer the next requests, given by their cells; -1 is unknown."""
        from seriatim_gate.kernels.queue import ANSWER

        self._take(x, y, ANSWER)

    def hold(self, x: LongArray, y: LongArray) -> None:
        """Put the next requests into the queue without judging them; ``settle`` judges them later."""
        from seriatim_gate.kernels.queue import HOLD

        self._take(x, y, HOLD)

    def settle(self) -> None:
        """Release what waits and is safe, oldest first, until nothing is."""
        from seriatim_gate.kernels.queue import SETTLE

        self._run(np.empty(0, np.int64), SETTLE)

    def withdraw(self, number: int) -> bool:
        """Take a waiting request back for good; return whether it was waiting."""
        from seriatim_gate.kernels.lines import WAITING
        from seriatim_gate.kernels.queue import withdraw

        if self.statuses[number] != WAITING:
            return False
        withdraw(self.board, self.queue, number)
        return True

    def cell(self, number: int) -> tuple[int, int]:
        return int(self.xs[number]), int(self.ys[number])

    @property
    def statuses(self) -> IntArray:
        """Return every request's state, as the kernels number them."""
        return self.queue.requests["status"][: len(self)]

    def left(self, first: int = 0) -> IntArray:
        """Return the numbers of the records that have left, in order, from the ``first``-th on."""
        return self.queue.releases["record"][first : self.n_out]

    def left_at(self, first: int = 0) -> IntArray:
        """Return the request that was being answered when each of ``left`` left."""
        return self.queue.releases["during"][first : self.n_out]

    @property
    def waiting(self) -> LongArray:
        """Return the numbers of waiting requests, oldest first."""
        from seriatim_gate.kernels.lines import WAITING

        return np.flatnonzero(self.statuses == WAITING)

    @property
    def guards(self) -> tuple[Guard, ...]:
        """Return each dependency's rules, and what left and waits by its cells."""
        found, first = [], 0
        for asked in self.rules:
            width, height = len(asked.p), asked.n_targets
            cells = self.board.cells[first : first + width * height].reshape(height, width)
            found.append(Guard(asked, np.array(cells["count"].T), np.array(cells["waiting"].T)))
            first += width * height
        return tuple(found)

    def reason(self, number: int) -> str:
        """Return why a request was refused; empty for any other state. It names neither a test nor a value."""
        from seriatim_gate.kernels.lines import DENIED, UNKNOWN

        status, (x, y), p = self.statuses[number], self.cell(number), self.rules[0].p
        if status == DENIED:
            return NOT_NOW
        if status != UNKNOWN:
            return ""
        known = x >= 0 > y if len(self.rules) > 1 else 0 <= x < len(p) and p[x] > 0
        return NO_TARGET if known else NOT_IN_BASELINE

    def under(self, rules: Sequence[Rules]) -> Intake:
        """Return an intake of the same requests under other rules: what left stays counted, what waits still waits.

        ``settle`` then lets go what is safe. Values that left or wait must have a probability under the new rules.
        """
        from seriatim_gate.kernels.queue import COUNT, wait_again

        n, made, first = len(self), Intake(rules, self._sets, len(self.xs)), 0
        for guard, asked in zip(self.guards, made.rules, strict=True):
            guard.must_have_shares(asked)
            for at in np.flatnonzero(guard.counts.T):
                made._run(np.array([first + at, guard.counts.T.flat[at]]), COUNT)
            first += guard.counts.size
        # what became of every request is carried over; only who waits stands in lines again
        made.xs[:], made.ys[:] = self.xs, self.ys
        made.queue.requests[:], made.queue.releases[:] = self.queue.requests, self.queue.releases
        made.queue.whole["n_done"], made.queue.whole["n_out"] = n, self.n_out
        made.queue.requests["line"][:n] = made._lines(self.xs[:n].astype(np.int64), self.ys[:n].astype(np.int64))
        wait_again(made.board, made.queue, self.waiting)
        return made

    def _take(self, x: LongArray, y: LongArray, how: int) -> None:
        first = len(self)
        self.make_room(first + len(x))
        self.xs[first : first + len(x)], self.ys[first : first + len(x)] = x, y
        self._run(self._lines(x, y), how)

    def _run(self, asked: LongArray, how: int) -> None:
        from seriatim_gate.kernels.queue import answer

        answer(self.board, self.queue, asked, how)

    def _lines(self, x: LongArray, y: LongArray) -> LongArray:
        """Return the line of every cell, a new one where there was none; -1 where a value or target is unknown."""
        x, y = np.asarray(x, np.int64), np.asarray(y, np.int64)
        if len(self.rules) == 1:
            p, n_targets = self.rules[0].p, self.rules[0].n_targets
            # as unsigned numbers what is negative is far too large
            known = (x.view(np.uint64) < len(p)) & (y.view(np.uint64) < n_targets)
            if not p.all():
                known[known] = p[x[known]] > 0
            return np.where(known, y * len(p) + x, -1)
        # few different cells among many requests: each is looked up once
        code = np.where((x < 0) | (y < 0), -1, (x << 31) | y)
        different, at = np.unique(code, return_inverse=True)
        fresh = np.array([c for c in different.tolist() if c >= 0 and c not in self._line_of], np.int64)
        if len(fresh):
            self._add_lines(fresh)
        lines = np.array([self._line_of.get(c, -1) for c in different.tolist()], np.int64)
        return np.asarray(lines[at])

    def _add_lines(self, codes: LongArray) -> None:
        from seriatim_gate.kernels.queue import add_lines

        places = self.codes.unpack(codes >> 31, codes & ((1 << 31) - 1))
        cells, known, first = np.empty((len(codes), len(places)), np.int64), np.ones(len(codes), bool), 0
        for d, ((x, y), asked) in enumerate(zip(places, self.rules, strict=True)):
            cells[:, d] = first + y * len(asked.p) + x
            known &= asked.p[x] > 0
            first += len(asked.p) * asked.n_targets
        n, more = self._n_lines, int(known.sum())
        numbers = np.where(known, n + np.cumsum(known) - 1, -1)
        self._line_of.update(zip(codes.tolist(), numbers.tolist(), strict=True))
        self._n_lines = n + more
        if n + more > len(self.queue.lines):
            room = 2 * (n + more)
            names = ("lines", "line_cells", "next_line")
            self.queue = self.queue._replace(**{name: _longer(getattr(self.queue, name), room) for name in names})
        self.queue.line_cells[n : n + more] = cells[known]
        add_lines(self.board, self.queue, n, n + more)

    def make_room(self, wanted: int) -> None:
        """Make room for ``wanted`` requests in all."""
        from seriatim_gate.engine.opening import n_log_n

        room = len(self.xs)
        if wanted <= room:
            return
        if wanted >= LARGEST:
            raise InputError(Fault("gate", f"full: {room} requests", "", "start a new gate"))
        room = min(max(3 * room, wanted + room), LARGEST - 1)  # numbers are kept in 32 bits
        requests, releases = _longer(self.queue.requests, room), _longer(self.queue.releases, room)
        self.queue = self.queue._replace(requests=requests, releases=releases)
        self.board = self.board._replace(n_log_n=n_log_n(room))
        self.xs, self.ys = _longer(self.xs, room), _longer(self.ys, room)


def decided(rules: Sequence[Rules], places: Places, sets: bool | None = None) -> tuple[Outcome, ...]:
    """Answer requests given as x and y for each dependency; return what became of them, with counts for each."""
    from seriatim_gate.kernels.lines import RELEASED, WAITING

    known = [y[(y >= 0) & (y < asked.n_targets)] for (_, y), asked in zip(places, rules, strict=True)]
    most = max(int(np.bincount(ys).max()) if len(ys) else 0 for ys in known)
    intake = Intake(rules, sets, len(places[0][0]), most)
    x, y = places[0] if len(places) == 1 else intake.codes.pack(places)
    intake.answer(x, y)
    statuses = intake.statuses
    refused = np.flatnonzero((statuses != WAITING) & (statuses != RELEASED))
    left, when = intake.left().astype(np.int64), intake.left_at().astype(np.int64)
    return tuple(Outcome(left, intake.waiting, refused, when, guard.counts) for guard in intake.guards)


def _longer(old: Any, room: int) -> Any:
    """Return a copy with room for more rows; those that are new are zero."""
    made = np.zeros((room, *old.shape[1:]), old.dtype).view(type(old))
    made[: len(old)] = old
    return made
