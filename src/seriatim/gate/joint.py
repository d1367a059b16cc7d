"""Several dependencies X ~> Y guarded at once: a record leaves only if every one of them holds."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

from seriatim.errors import Fault, InputError
from seriatim.gate._gate import Gate
from seriatim.gate.decision import Decision, State

Cell = tuple[int, int]


class JointGate:
    """Gates that decide together. A record is one (x, y) per gate; it leaves all of them or none.

    The queue is the single gate's: after every release the oldest waiting record that is safe in all gates leaves.
    The gates must be fresh, and must not be asked on their own afterwards. ``wdt`` releases blocks and cannot join.
    """

    def __init__(self, gates: Sequence[Gate]) -> None:
        if not gates or any(not isinstance(one, Gate) for one in gates):
            raise InputError(Fault("gates", "not a list of gates", "one gate per dependency"))
        if any("wdt" in one.asked.tests for one in gates):
            raise InputError(Fault("gates", "wdt releases blocks", "mis, kld, cst, dqt"))
        if any(one.released or one.waiting for one in gates):
            raise InputError(Fault("gates", "a gate that has answered requests", "fresh gates"))
        self.gates = tuple(gates)
        self._waiting: dict[tuple[Cell, ...], deque[Hashable]] = {}
        self._number: dict[Hashable, int] = {}
        self._state: dict[Hashable, State] = {}
        self._cells: dict[Hashable, tuple[Cell, ...]] = {}
        self._released: list[Hashable] = []

    def request(self, places: Sequence[tuple[Any, Any]], id: Hashable) -> Decision:  # noqa: A002 - the public name
        """Ask for one record: its (x, y) for each gate, in their order. A known id changes nothing."""
        if len(places) != len(self.gates):
            raise InputError(Fault("places", f"{len(places)} pairs", f"{len(self.gates)}, one per gate"))
        cells = tuple(one.place(x, y) for one, (x, y) in zip(self.gates, places, strict=True))
        if id in self._state:
            if self._cells[id] != cells:
                raise InputError(Fault("id", "was used for another record", "one id per record"))
            return Decision(self._state[id])
        self._number[id] = len(self._number)
        self._cells[id] = cells
        if not all(one.knows(cell) for one, cell in zip(self.gates, cells, strict=True)):
            self._state[id] = "refused"
            return Decision("refused", reason="the value is not in the baseline, or the target is not known")
        before = len(self._released)
        if self._safe(cells):
            self._release(id)
            self._settle()
        else:
            self._state[id] = "waiting"
            self._waiting.setdefault(cells, deque()).append(id)
        return Decision(self._state[id], tuple(each for each in self._released[before:] if each != id))

    def withdraw(self, id: Hashable) -> Decision:  # noqa: A002
        """Take a waiting request back for good."""
        if id not in self._state:
            raise InputError(Fault("id", "was never requested", "the id of a request"))
        if self._state[id] == "waiting":
            self._forget(id)
            self._state[id] = "withdrawn"
        return Decision(self._state[id])

    @property
    def released(self) -> tuple[Hashable, ...]:
        return tuple(self._released)

    @property
    def waiting(self) -> tuple[Hashable, ...]:
        """Ids in the order of their requests."""
        return tuple(sorted((each for line in self._waiting.values() for each in line), key=self._number.__getitem__))

    def _safe(self, cells: tuple[Cell, ...]) -> bool:
        return all(one.may_leave(cell) for one, cell in zip(self.gates, cells, strict=True))

    def _settle(self) -> None:
        while True:
            heads = sorted((self._number[line[0]], cells) for cells, line in self._waiting.items())
            safe = next((cells for _, cells in heads if self._safe(cells)), None)
            if safe is None:
                return
            oldest = self._waiting[safe][0]
            self._forget(oldest)
            self._release(oldest)

    def _release(self, id: Hashable) -> None:  # noqa: A002
        for one, cell in zip(self.gates, self._cells[id], strict=True):
            one.let_out(cell)
        self._state[id] = "released"
        self._released.append(id)

    def _forget(self, id: Hashable) -> None:  # noqa: A002
        line = self._waiting[self._cells[id]]
        line.remove(id)
        if not line:
            del self._waiting[self._cells[id]]
