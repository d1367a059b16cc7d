"""One dependency that a gate guards: its rules, and what left and waits by its cells. For the officer only."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.errors import Fault, InputError
from seriatim.gate.inputs import LongArray
from seriatim.gate.rules import GateRules


@dataclass(frozen=True, slots=True, eq=False)
class GuardedCounts:
    """``counts`` and ``waiting`` are |X| x |Y|."""

    asked: GateRules
    counts: LongArray
    waiting: LongArray

    def must_have_shares(self, asked: GateRules) -> None:
        """Refuse rules under which a value that left or waits has no share."""
        if bool((self.counts + self.waiting)[asked.p == 0].any()):
            raise InputError(Fault("baseline", "values that left or wait have no share", "freeze, or another baseline"))
