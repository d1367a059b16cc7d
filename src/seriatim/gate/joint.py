"""Several dependencies X ~> Y guarded at once: a record leaves only if every one of them holds."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

from seriatim.errors import Fault, InputError
from seriatim.gate._gate import Gate
from seriatim.gate.decision import Decision, State

Cell = tuple[int, int]
LARGEST_SET, MOST_TARGETS = 100, 8
"""How far the search for a set goes."""


class JointGate:
    """Gates that decide together. A record is one (x, y) per gate; it leaves all of them or none.

    The queue is the single gate's: after every release the oldest waiting record that is safe in all gates leaves.
    The gates must be fresh, and must not be asked on their own afterwards. With ``sets`` a set of waiting records of
    one target of the first gate leaves together where none is safe alone; ``wdt`` cannot start without it.
    """

    def __init__(self, gates: Sequence[Gate], sets: bool = False) -> None:
        if not gates or any(not isinstance(one, Gate) for one in gates):
            raise InputError(Fault("gates", "not a list of gates", "one gate per dependency"))
        if not sets and any("wdt" in one.asked.tests for one in gates):
            raise InputError(Fault("gates", "wdt releases blocks", "sets=True, or mis, kld, cst, dqt"))
        if any(one.released or one.waiting for one in gates):
            raise InputError(Fault("gates", "a gate that has answered requests", "fresh gates"))
        self.gates, self._sets = tuple(gates), sets
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
            if self._sets:
                self._settle()
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
                if not self._sets or not self._release_set(heads):
                    return
                continue
            oldest = self._waiting[safe][0]
            self._forget(oldest)
            self._release(oldest)

    def _release_set(self, heads: Sequence[tuple[int, tuple[Cell, ...]]]) -> bool:
        """Release the smallest set found at the first target that has one, oldest record first."""
        targets = list(dict.fromkeys(cells[0][1] for _, cells in heads))[:MOST_TARGETS]
        for target in targets:
            found = self._find_set([cells for _, cells in heads if cells[0][1] == target])
            if found:
                for id in sorted(found, key=self._number.__getitem__):  # noqa: A001
                    self._forget(id)
                    self._state[id] = "released"
                    self._released.append(id)
                return True
        return False

    def _find_set(self, lines: Sequence[tuple[Cell, ...]]) -> list[Hashable]:
        """Return ids that are safe together, counted as released already; none, and nothing counted, if there are none.

        Records are added one by one, each time the one that adds least exposure over all gates.
        """
        fewest = max(one.intake.smallest_set(lines[0][at][1]) for at, one in enumerate(self.gates))
        taken: dict[tuple[Cell, ...], int] = {}
        for size in range(1, LARGEST_SET + 1):
            open_lines = [cells for cells in lines if taken.get(cells, 0) < len(self._waiting[cells])]
            if not open_lines:
                break
            chosen = min(open_lines, key=self._price)
            taken[chosen] = taken.get(chosen, 0) + 1
            for one, cell in zip(self.gates, chosen, strict=True):
                one.let_out(cell)
            if size >= fewest and self._stand(taken):
                return [id for cells, n in taken.items() for id in list(self._waiting[cells])[:n]]  # noqa: A001
        for cells, n in taken.items():
            for one, cell in zip(self.gates, cells, strict=True):
                one.intake.let_out(cell, -n)
        return []

    def _price(self, cells: tuple[Cell, ...]) -> float:
        return sum(one.intake.price(cell) for one, cell in zip(self.gates, cells, strict=True))

    def _stand(self, taken: dict[tuple[Cell, ...], int]) -> bool:
        return all(one.intake.stands(y) for at, one in enumerate(self.gates) for y in {cells[at][1] for cells in taken})

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
