"""Answers: what solvers said about people, asked in rounds so that hard questions leave work for the others.

Where a SAT solver is asked, a small part is asked as a whole. In a large one everyone is first asked about with the
people near by, and only those who are not decided with more people around them, or with more work. A world that leaves
everyone far away at the truth is a world, so a small neighbourhood can clear a person; only the whole connected part
can prove that a value is certain. The questions of a part are alike: one in which some of them failed in a row waits
for the next round.

Before that come a few alike: worlds in which some of a part's people differ from the truth, a few of those who are
interchangeable. Where one of them can hold another value, each of them can: a few of each class are enough to clear it,
and a solver decides a part of so few people within milliseconds. One world clears everyone who differs in it; nothing
is proved about the others, as a world may need more of those alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from seriatim.attacks.connected_parts import LITERALS, PROPAGATIONS, ConnectedParts
from seriatim.attacks.crossed_places import CrossedPlaces
from seriatim.attacks.possible_worlds import BALLS, differing_world, world_neighbourhood
from seriatim.attacks.value_exchanges import FRUITLESS, TOO_MANY_CLASSES, Exchanges, clear_by_changed_places
from seriatim.kernels.arrays import Flags, Ints

MOST_CLASSES = 6_000
"""Histories with more classes are not asked as a whole: the work is better spent on a sample."""
FAILURES = 4
"""After this many failed questions in a row, the round of a part ends."""
MOST_LITERALS = 100_000
"""Larger parts are not asked about a few alike."""
TIMES = 8.0
"""Steps of the solver for a few alike of one class, in literals of its part."""


class _Step(NamedTuple):
    """How a SAT solver is asked in a round."""

    classes: int | None
    """About how many classes near by; None for the whole part."""
    times: float
    """With so much work, in times of what it takes to write a world down."""
    together: int = 0
    """Or about worlds in which this many values are exchanged all over the history."""
    first: bool = False
    """Whether it is the first round: integer programmes are solved once."""


def _steps() -> Iterator[_Step]:
    """Return how to ask in each round."""
    yield _Step(300, 20.0, first=True)
    yield from (_Step(None, 0.0, 2), _Step(None, 0.0, 3), _Step(1_000, 20.0), _Step(3_000, 20.0))
    times = 2.0
    while True:
        yield _Step(None, times)
        times *= 4.0


@dataclass(repr=False, eq=False)
class SolverAnswers:
    """What has been found so far: classes that differ from the truth in some world, and how much work it took."""

    parts: ConnectedParts
    most_work: float
    work: float = 0.0
    cleared: Flags = field(init=False)
    closed: Flags = field(init=False)
    """Classes that simple worlds do not clear."""
    _failed: Counter[int] = field(default_factory=Counter)
    """Questions that failed in a row in this round, by part."""

    def __post_init__(self) -> None:
        self.cleared, self.closed = np.zeros((2, len(self.parts.worlds.size)), dtype=np.bool_)

    def ask(self, people: Sequence[Ints]) -> list[bool | None]:
        """Return whether a value of each person, given by their classes, is certain; None if it was not decided.

        The list is shorter if the work did not suffice to ask about everyone once.
        """
        self._failed.clear()
        steps = _steps()
        step = next(steps)
        said: list[bool | None] = []
        for classes in people:
            if self.work > self.most_work:
                break
            said.append(self._person(classes, step))
        hard = [at for at, one in enumerate(said) if one is None]
        while hard and self.work < self.most_work:
            step = next(steps)
            self._failed.clear()
            for at in hard:
                if self.work < self.most_work:
                    said[at] = self._person(people[at], step)
            hard = [at for at in hard if said[at] is None and (step.together or self._by_clauses(people[at]).all())]
        return said

    def clear_few_alike(self, work: float) -> None:
        """Look for worlds of whole parts that clear many people at once, in histories that are not too large."""
        if len(self.cleared) <= MOST_CLASSES:
            self.cleared, self.closed, spent = clear_by_few_alike(self.parts, self.cleared, work)
            self.work += spent

    def exchange(self, work: float) -> None:
        """Look for worlds of a few values that clear many people at once, in histories that are not too large."""
        if len(self.cleared) <= MOST_CLASSES:
            self.cleared, spent = clear_by_changed_places(self.exchanges, self.cleared, self.closed, work)
            self.work += spent

    @cached_property
    def crossed(self) -> CrossedPlaces:
        """Return worlds of four people."""
        return CrossedPlaces(self.parts.worlds)

    @cached_property
    def exchanges(self) -> Exchanges:
        """Return worlds of a few values."""
        return Exchanges(self.parts.worlds, self.parts.some_alike)

    def _by_clauses(self, classes: Ints) -> Flags:
        return np.asarray(self.parts.suited[self.parts.part_of[classes]])

    def _person(self, classes: Ints, step: _Step) -> bool | None:
        """Return whether one of a person's values is certain."""
        said = [self._class(int(one), step) for one in classes]
        if True in said:
            return True
        return None if None in said else False

    def _class(self, one: int, step: _Step) -> bool | None:
        """Return whether everyone of a class must hold their value."""
        number = int(self.parts.part_of[one])
        if self.cleared[one] or (step.first and self._crossed(one)):
            return False
        if not self.parts.suited[number] and not step.together:
            return self._programmes(one) if step.first else None
        if self._failed[number] >= (FRUITLESS if step.together else FAILURES):
            return None
        said = self._exchanged(one, step.together) if step.together else self._clauses(one, step)
        self._failed[number] = self._failed[number] + 1 if said is None else 0
        return said

    def clear_crossed(self, work: float) -> None:
        """Look for fours who may change places across series, in histories that are not too large to ask everyone."""
        fruitless, most = 0, self.work + work
        for one in np.flatnonzero(self.parts.worlds.pure & ~self.cleared).tolist():
            if len(self.cleared) > MOST_CLASSES or fruitless == FRUITLESS or self.work > most:
                return
            if not self.cleared[one]:
                fruitless = 0 if self._crossed(one) else fruitless + 1

    def _crossed(self, one: int) -> bool:
        """Return whether four people who change places across series clear a class; with one series nobody need."""
        if self.crossed.n_series == 1:
            return False
        cleared_now, work = self.crossed.clear(one)
        self.work += work
        if cleared_now is not None:
            self.cleared[cleared_now] = True
        return cleared_now is not None

    def _exchanged(self, one: int, together: int) -> bool | None:
        """Return that a class is not certain if an exchange clears it, in histories that are not too large."""
        if len(self.cleared) > TOO_MANY_CLASSES:
            return None
        cleared_now, work = self.exchanges.clear(one, together, self.most_work - self.work)
        self.work += work
        if cleared_now is None:
            return None
        self.cleared[cleared_now] = True
        return False

    def _clauses(self, one: int, step: _Step) -> bool | None:
        near = self.parts.near(one, step.classes) if step.classes else None
        part, fresh = (near, True) if near else self.parts.part(one)
        if fresh:
            self.work += part.n_literals / LITERALS
        most = step.times * part.n_literals / PROPAGATIONS
        said, work = part.differing(one, min(most, max(self.most_work - self.work, 1.0)))
        self.work += work
        if isinstance(said, np.ndarray):
            self.cleared[said] = True
            return False
        return None if said is None or near else True

    def _programmes(self, one: int) -> bool | None:
        worlds = self.parts.worlds
        for size in BALLS:
            question = world_neighbourhood(worlds, one, size)
            said, work = differing_world(worlds, question, one, self.cleared)
            self.work += work
            if isinstance(said, np.ndarray):
                self.cleared[question.classes[said]] = True
                return False
            if said is None or question.whole:  # a larger programme would take longer still
                return None if said is None else True
        return None


def clear_by_few_alike(parts: ConnectedParts, cleared: Flags, work: float) -> tuple[Flags, Flags, float]:
    """Return the cleared classes, those that a few cannot clear, and the work it took."""
    found, closed, spent = cleared.copy(), np.zeros(len(cleared), dtype=np.bool_), 0.0
    failed = Counter[int]()
    for one in np.flatnonzero(parts.worlds.pure & ~cleared).tolist():
        number = int(parts.part_of[one])
        if found[one] or failed[number] >= FAILURES or spent >= work:
            continue
        part, fresh = parts.few(one)
        if part.n_literals > MOST_LITERALS:
            failed[number] = FAILURES
            continue
        spent += part.n_literals / LITERALS if fresh else 0.0
        said, took = part.differing(one, TIMES * part.n_literals / PROPAGATIONS)
        spent += took
        failed[number] = failed[number] + 1 if said is None else 0
        closed[one] = said is False
        if isinstance(said, np.ndarray):
            found[said] = True
    return found, closed, spent
