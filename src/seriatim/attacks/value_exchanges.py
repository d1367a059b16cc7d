"""Exchanges: worlds in which people of a few values change them among themselves, all over the history.

Asking about all values at once is expensive, and solvers often fail at it. But most people are cleared by worlds that
are much simpler: some holders of one value and some of another change places, or of three or four values. With
everyone else at the truth that is a small question even about a whole history, and the one world that answers it
differs for many people; each of them is cleared. Nothing follows about the others
(:mod:`seriatim.attacks.solver_answers`). Of interchangeable people a few are enough.

They come after a few alike, where many people are left or a solver is stuck.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from seriatim.attacks.connected_parts import LITERALS, PartClauses
from seriatim.attacks.possible_worlds import Worlds
from seriatim.kernels.arrays import Flags, Ints, Longs

TOO_MANY_CLASSES = 60_000
"""In histories with more, exchanges are not tried at all: writing one down takes longer than other questions."""
WRITING = 3.0
"""How many times as long a literal of a few values takes to write as others: its rows are short."""
TOGETHER = (2, 3, 4)
"""Numbers of values that are exchanged."""
SETS = 4
"""Sets of values that are tried for a person, the most frequent values first."""
ONE_SET = 2_000.0
"""Work that may be spent on one set of values for one person."""
LARGE = 20_000
"""Sets of values with more literals are not tried."""
FRUITLESS = 10
"""After this many people in a row whom no set clears, the round ends."""


@dataclass(repr=False, eq=False)
class Exchanges:
    """Questions about a few values each, which are kept: what a solver learned in one helps in the next."""

    worlds: Worlds
    some_alike: Ints
    """The people who may change their value, as episodes."""
    _parts: dict[tuple[int, ...], PartClauses] = field(default_factory=dict)

    def clear(self, one: int, together: int, work: float) -> tuple[Ints | None, float]:
        """Return the classes that differ in a world where class ``one`` does, None if none was found, and the work."""
        spent = 0.0
        for values in self._sets(one, together):
            if spent >= work:
                break
            fresh = values not in self._parts
            part = self._part(values)
            if part.n_literals <= LARGE and part.holds(one):
                spent += WRITING * part.n_literals / LITERALS if fresh else 0.0
                said, took = part.differing(one, min(ONE_SET, work - spent))
                spent += took
                if isinstance(said, np.ndarray):
                    return said, spent
        return None, spent

    def _sets(self, one: int, together: int) -> Iterator[tuple[int, ...]]:
        """Return sets of values between which people of a class could move, those most people hold first."""
        own = int(self.worlds.value[one])
        others = np.flatnonzero(self.worlds.possible[one])
        others = others[others != own]
        likely = others[np.argsort(-self._frequent[others], kind="stable")][: SETS + together]
        for number, some in enumerate(combinations(likely.tolist(), together - 1)):
            if number == SETS:
                return
            yield tuple(sorted((own, *some)))

    def _part(self, values: tuple[int, ...]) -> PartClauses:
        if values not in self._parts:
            only = np.zeros(self.worlds.traces.n_values, dtype=np.bool_)
            only[list(values)] = True
            holders = np.sort(np.concatenate([self._holders[one] for one in values]))
            movable = self.worlds.possible[self.worlds.class_of[holders]][:, list(values)].sum(axis=1) > 1
            self._parts[values] = PartClauses(self.worlds, holders[movable], True, only)
        return self._parts[values]

    @cached_property
    def _frequent(self) -> Longs:
        """Return how many people with an undecided value hold each value."""
        traces = self.worlds.traces
        return np.bincount(traces.value[self.worlds.class_of >= 0], minlength=traces.n_values)

    @cached_property
    def _holders(self) -> list[Ints]:
        """Return the holders of each value among :attr:`some_alike`."""
        held = self.worlds.traces.value[self.some_alike]
        order, counts = np.argsort(held, kind="stable"), np.bincount(held, minlength=self.worlds.traces.n_values)
        return np.split(self.some_alike[order], np.cumsum(counts)[:-1])


def clear_by_changed_places(exchanges: Exchanges, cleared: Flags, closed: Flags, work: float) -> tuple[Flags, float]:
    """Return the cleared classes, with those that exchanges clear, and the work; ``closed`` ones are not tried."""
    worlds, found, spent = exchanges.worlds, cleared.copy(), 0.0
    for together in TOGETHER:
        fruitless = 0
        for one in np.flatnonzero(worlds.pure & ~found & ~closed).tolist():
            if fruitless == FRUITLESS or spent >= work:
                break
            if not found[one]:
                cleared_now, took = exchanges.clear(one, together, work - spent)
                spent += took
                fruitless = fruitless + 1 if cleared_now is None else 0
                if cleared_now is not None:
                    found[cleared_now] = True
    return found, spent
