"""The gate: one request at a time, or a list of them at once. Both run the same kernel."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim_gate.engine.baseline import Baseline
from seriatim_gate.engine.decision import STATES, Decision, Outcome, State
from seriatim_gate.engine.inputs import LongArray
from seriatim_gate.engine.intake import LARGEST, Intake, decided
from seriatim_gate.engine.rules import Rules


class _Book:
    """Requests by the ids of those who ask."""

    def __init__(self, intake: Intake) -> None:
        self.intake = intake
        self._ids: list[Hashable] = []
        self._number: dict[Hashable, int] = {}
        self._expired: set[int] = set()

    def _ask(self, cell: tuple[int, int], name: Hashable) -> Decision:
        known = self._known(name)
        if known is not None:
            if self.intake.cell(known) != cell:
                raise InputError(Fault("id", "was used for another record", "one id per record"))
            return self.status(name)
        number, left = len(self.intake), self.intake.n_out
        self.intake.answer(*np.array(cell).reshape(2, 1))
        self._ids.append(name)
        self._number[name] = number
        answered = self.status(name)
        freed = tuple(self._ids[i] for i in self.intake.left(left) if i != number)
        return Decision(answered.state, freed, answered.reason)

    def status(self, id: Hashable) -> Decision:  # noqa: A002 - the public name
        """Return the present state of a request."""
        number = self._known(id)
        if number is None:
            raise InputError(Fault("id", "was never requested", "the id of a request"))
        state: State = "expired" if number in self._expired else STATES[self.intake.statuses[number]]
        return Decision(state, reason=self.intake.reason(number))

    def withdraw(self, id: Hashable, expired: bool = False) -> Decision:  # noqa: A002
        """Take a waiting request back for good, or let it expire; in any other state nothing changes."""
        number = self._known(id)
        if number is not None and self.intake.withdraw(number) and expired:
            self._expired.add(number)
        return self.status(id)

    @property
    def released(self) -> tuple[Hashable, ...]:
        """Return the ids in the order of their release."""
        return tuple(self._ids[i] for i in self.intake.left())

    @property
    def waiting(self) -> tuple[Hashable, ...]:
        """Return the ids in the order of their requests."""
        return tuple(self._ids[i] for i in self.intake.waiting)

    def _known(self, name: Hashable) -> int | None:
        try:
            return self._number.get(name)
        except TypeError:
            raise InputError(Fault("id", f"a {type(name).__name__}", "a text or a number")) from None


class Gate(_Book):
    """Decide for one requested record at a time whether it may leave, given everything that left before.

    ``baseline`` is P(X): probabilities, a mapping from names to probabilities, or a ``Baseline``. ``targets`` is how
    many there are, or their names (None takes those of a ``Baseline``). All ``tests`` must hold: ``mis``, ``kld``,
    ``cst``, ``dqt``, ``wdt``. ``few`` says how small samples are judged. ``target_weights`` (P(Y) for simulated MIS)
    default to the baseline's, else to equal weights. ``tables`` are stored critical values: see ``critical_tables``.
    ``distance`` is what Dixon's test compares. ``queue=False`` denies an unsafe request for good. With
    ``joint`` a set of waiting records of one target may leave together where none is safe alone.
    """

    def __init__(
        self,
        baseline: Any,
        targets: Any = None,
        tests: Any = ("kld",),
        alpha: float = 0.2,
        merge: str = "smallest",
        few: str = "simulated",
        target_weights: Any = None,
        tables: Mapping[str, Any] | None = None,
        distance: str = "kl",
        queue: bool = True,
        joint: bool = False,
    ) -> None:
        self.asked = Rules.of(
            baseline, targets, tests, alpha, merge, few, target_weights, tables, distance, queue, joint
        )  # fmt: skip
        self._baseline = baseline if isinstance(baseline, Baseline) else None
        super().__init__(Intake([self.asked]))
        self.at = 0
        """Which dependency of the intake is its own."""

    def request(self, x: Any, y: Any, id: Hashable) -> Decision:  # noqa: A002
        """Ask for one record. A known id with the same x and y gets its present state and changes nothing."""
        return self._ask(self.place(x, y), id)

    @property
    def counts(self) -> LongArray:
        """Return the counts, |X| x |Y|, of what was released. For the officer only."""
        return self.intake.guards[self.at].counts

    @property
    def waiting_counts(self) -> LongArray:
        """Return the counts, |X| x |Y|, of what waits. For the officer only."""
        return self.intake.guards[self.at].waiting

    def place(self, x: Any, y: Any) -> tuple[int, int]:
        """Return the cell of a record as places, -1 for what is unknown."""
        target = _place(y, self.asked.target_at, self.asked.targets is None, "y")
        return self._place_of_value(x), self.asked.others if target < 0 and y is not None else target

    def knows(self, cell: tuple[int, int]) -> bool:
        """Return whether the baseline knows the value and the gate its target."""
        x, y = cell
        return 0 <= x < len(self.asked.p) and bool(self.asked.p[x] > 0) and 0 <= y < self.asked.n_targets

    def _place_of_value(self, x: Any) -> int:
        if self._baseline is not None:
            return self._baseline.place_of(x)
        return _place(x, self.asked.value_at, self.asked.values is None, "x")


class JointGate(_Book):
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
        super().__init__(Intake([one.asked for one in gates], sets))
        for at, one in enumerate(self.gates):  # so that each gate's counts are its part of what all let out
            one.intake, one.at = self.intake, at

    def request(self, places: Sequence[tuple[Any, Any]], id: Hashable) -> Decision:  # noqa: A002
        """Ask for one record: its (x, y) for each gate, in their order. A known id changes nothing."""
        if len(places) != len(self.gates):
            raise InputError(Fault("places", f"{len(places)} pairs", f"{len(self.gates)}, one per gate"))
        cells = [one.place(x, y) for one, (x, y) in zip(self.gates, places, strict=True)]
        x, y = self.intake.codes.pack([(np.array([x]), np.array([y])) for x, y in cells])
        return self._ask((int(x[0]), int(y[0])), id)


def replay(
    xs: Any,
    ys: Any,
    baseline: Any,
    targets: Any = None,
    tests: Any = ("kld",),
    alpha: float = 0.2,
    merge: str = "smallest",
    few: str = "simulated",
    target_weights: Any = None,
    tables: Mapping[str, Any] | None = None,
    distance: str = "kl",
    queue: bool = True,
    joint: bool = False,
) -> Outcome:
    """Answer a list of requests as a new ``Gate`` would one by one; ``xs`` and ``ys`` are places, or names if named."""
    asked = Rules.of(
        baseline, targets, tests, alpha, merge, few, target_weights, tables, distance, queue, joint
    )  # fmt: skip
    x = _places(xs, asked.value_at, asked.values is None, "xs")
    y = _places(ys, asked.target_at, asked.targets is None, "ys")
    if asked.others >= 0:
        y = np.array([asked.others if at < 0 and name is not None else at for at, name in zip(y, ys, strict=True)])
    if len(x) != len(y):
        raise InputError(Fault("xs, ys", f"{len(x)} and {len(y)} entries", "equally many"))
    return decided([asked], [(x, y)])[0]


def _places(entries: Any, at: Mapping[Any, int], by_place: bool, where: str) -> LongArray:
    """Return a list of requests as places, -1 for what is unknown."""
    if by_place:
        try:
            places: npt.NDArray[Any] = np.asarray(entries)
            if places.ndim != 1 or (places.dtype.kind not in "iu" and len(places)):
                raise TypeError
        except (TypeError, ValueError):
            raise InputError(Fault(where, "not a list of positions", "whole numbers from 0")) from None
        return np.ascontiguousarray(places.astype(np.int64))
    try:
        return np.array([at.get(entry, -1) for entry in entries], dtype=np.int64)
    except TypeError:
        raise InputError(Fault(where, "not a list of names", "the names you gave the gate")) from None


def _place(entry: Any, at: Mapping[Any, int], by_place: bool, where: str) -> int:
    if by_place:
        if isinstance(entry, bool) or not isinstance(entry, int | np.integer):
            raise InputError(Fault(where, f"a {type(entry).__name__}", "a whole number: the position in the domain"))
        return int(entry) if 0 <= int(entry) < LARGEST else -1
    try:
        return at.get(entry, -1)
    except TypeError:
        return -1
