"""Several dependencies X ~> Y guarded at once: a record leaves only if every one of them holds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.gate._gate import STATES, Gate
from seriatim.gate.decision import Decision
from seriatim.gate.intake_together import IntakeTogether


class JointGate:
    """Gates that decide together. A record is one (x, y) per gate; it leaves all of them or none.

    The queue is the single gate's: after every release the oldest waiting record that is safe in all gates leaves.
    The gates must be fresh, and must not be asked on their own afterwards; their ``counts`` are what has left. With
    ``sets`` a set of waiting records of one target of the first gate leaves together where none is safe alone;
    ``wdt`` cannot start without it.
    """

    def __init__(self, gates: Sequence[Gate], sets: bool = False) -> None:
        if not gates or any(not isinstance(one, Gate) for one in gates):
            raise InputError(Fault("gates", "not a list of gates", "one gate per dependency"))
        if not sets and any("wdt" in one.asked.tests for one in gates):
            raise InputError(Fault("gates", "wdt releases blocks", "sets=True, or mis, kld, cst, dqt"))
        if any(len(one.intake) for one in gates):
            raise InputError(Fault("gates", "a gate that has answered requests", "fresh gates"))
        self.gates = tuple(gates)
        self.intake = IntakeTogether([one.asked for one in gates], sets)
        for one, board in zip(self.gates, self.intake.boards, strict=True):
            one.intake.arrays = board
        self._ids: list[Hashable] = []
        self._number: dict[Hashable, int] = {}

    def request(self, places: Sequence[tuple[Any, Any]], id: Hashable) -> Decision:  # noqa: A002 - the public name
        """Ask for one record: its (x, y) for each gate, in their order. A known id changes nothing."""
        if len(places) != len(self.gates):
            raise InputError(Fault("places", f"{len(places)} pairs", f"{len(self.gates)}, one per gate"))
        cells = [one.place(x, y) for one, (x, y) in zip(self.gates, places, strict=True)]
        x, y = self.intake.codes.pack([(np.array([x]), np.array([y])) for x, y in cells])
        known = self._number.get(id)
        if known is not None:
            if self.intake.cell(known) != (int(x[0]), int(y[0])):
                raise InputError(Fault("id", "was used for another record", "one id per record"))
            return self.status(id)
        number, left = len(self.intake), self.intake.n_out
        self.intake.answer(x, y)
        self._ids.append(id)
        self._number[id] = number
        answered = self.status(id)
        freed = tuple(self._ids[i] for i in self.intake.left(left) if i != number)
        return Decision(answered.state, freed, answered.reason)

    def status(self, id: Hashable) -> Decision:  # noqa: A002
        """Return the present state of a request."""
        number = self._number.get(id)
        if number is None:
            raise InputError(Fault("id", "was never requested", "the id of a request"))
        return Decision(STATES[self.intake.statuses[number]], reason=self.intake.reason(number))

    def withdraw(self, id: Hashable) -> Decision:  # noqa: A002
        """Take a waiting request back for good; in any other state nothing changes."""
        number = self._number.get(id)
        if number is not None:
            self.intake.withdraw(number)
        return self.status(id)

    @property
    def released(self) -> tuple[Hashable, ...]:
        """Return the ids in the order of their release."""
        return tuple(self._ids[i] for i in self.intake.left())

    @property
    def waiting(self) -> tuple[Hashable, ...]:
        """Return the ids in the order of their requests."""
        return tuple(self._ids[i] for i in self.intake.waiting)
