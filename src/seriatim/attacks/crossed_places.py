"""Crossed places: worlds in which two holders of one value and two of another change values, across several series.

Each series deals the same people anew, so with several of them hardly anybody is interchangeable with anybody, and
solvers fail although most people are far from certain. But if two holders of a value, p and x, and two of another, y
and z, stand so that in every series p is with y and x with z, or p with z and x with y, then the four may change values
and no group of any series shows it. Such fours are found by looking up who would be the fourth. With more series, or
fewer people, there are none, and nothing follows (:mod:`seriatim.attacks.solver_answers`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.attacks.possible_worlds import Worlds
from seriatim.kernels.arrays import Flags, Ints, Longs
from seriatim.model.chance import open_chance
from seriatim.model.history import series_of_release

MOST_PAIRS = 100_000
"""So many pairs of one value are tried for a person and a way to stand."""
PAIRS, SCANNED = 1_000.0, 20_000.0
"""Pairs that are tried, and people who are looked through, in the time of a variable of an integer programme."""

Hashes = npt.NDArray[np.uint64]


@dataclass(repr=False, eq=False)
class CrossedPlaces:
    """Where everyone stands in each series, as a number per series that is equal for people in the same groups."""

    worlds: Worlds
    _found: dict[tuple[int, int], tuple[Longs, Hashes, Longs]] = field(default_factory=dict)

    @cached_property
    def places(self) -> Hashes:
        """Return a row for each series, a column for each episode."""
        traces = self.worlds.traces
        numbers = np.array([series_of_release(past.number) for past in traces.history])
        _, series = np.unique(numbers[traces.release_of], return_inverse=True)
        salt = open_chance(0, "crossed places").integers(1, 1 << 63, size=traces.n_groups, dtype=np.uint64)
        found = np.empty((int(series.max(initial=0)) + 1, len(traces.respondent)), dtype=np.uint64)
        for one in range(len(found)):
            shares = np.where(series == one, salt, 0)[traces.groups]
            # a person's groups as random numbers, by differences of a running sum: overflow is harmless
            running = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(shares, dtype=np.uint64)))
            found[one] = running[traces.person_ptr[1:]] - running[traces.person_ptr[:-1]]
        return found

    @property
    def n_series(self) -> int:
        return len(self.places)

    @cached_property
    def _holders(self) -> list[Longs]:
        """Return the undecided holders of each value; values that follow each other in a person must stay apart."""
        traces = self.worlds.traces
        once = np.bincount(traces.respondent, minlength=1)[traces.respondent] == 1
        free = np.flatnonzero((self.worlds.class_of >= 0) & once)
        order = free[np.argsort(traces.value[free], kind="stable")]
        counts = np.bincount(traces.value[free], minlength=traces.n_values)
        return np.split(order, np.cumsum(counts)[:-1])

    def clear(self, one: int) -> tuple[Ints | None, float]:
        """Return the classes that differ in a world where class ``one`` does, None if none was found, and the work."""
        worlds, person, spent = self.worlds, int(self.worlds.example[one]), 0.0
        own = int(worlds.value[one])
        if person not in self._holders[own]:
            return None, spent
        others = np.flatnonzero(worlds.possible[one])
        for value in sorted(others[others != own].tolist(), key=lambda at: -len(self._holders[at])):
            four, took = self._four(person, own, value)
            spent += took
            if four is not None and self._fits(four):
                return worlds.class_of[four], spent
        return None, spent

    def _four(self, person: int, own: int, value: int) -> tuple[Longs | None, float]:
        """Return the person, another holder of their value, and two of ``value`` who may change with both."""
        alike, whole, other = self._sides(own, value)
        spent = self.n_series * len(other) / SCANNED
        near = self.places[:, other] == self.places[:, [person]]
        for inside in self._ways():
            first, second = other[near[inside].all(axis=0)], other[near[~inside].all(axis=0)]
            pairs = min(len(first) * len(second), MOST_PAIRS)
            spent += pairs / PAIRS
            second = second[: MOST_PAIRS // max(len(first), 1)]
            if not len(first) or not len(second) or not len(whole):
                continue
            # who is with y where p is not, and with z where p is with y
            wanted = self._sum(first, ~inside)[:, None] + self._sum(second, inside)[None, :]
            at = np.minimum(np.searchsorted(whole, wanted), len(whole) - 1)
            hits = np.argwhere((whole[at] == wanted) & (alike[at] != person) & (first[:, None] != second[None, :]))
            if len(hits):
                y, z = hits[0]
                return np.array([person, alike[at[y, z]], first[y], second[z]]), spent
        return None, spent

    def _sides(self, own: int, value: int) -> tuple[Longs, Hashes, Longs]:
        """Return who holds one value and may hold the other, in order of where they stand, and the reverse."""
        if (own, value) not in self._found:
            alike = self._open_to(own, value)
            whole = self._sum(alike, np.ones(self.n_series, dtype=np.bool_))
            order = np.argsort(whole, kind="stable")
            self._found[own, value] = alike[order], whole[order], self._open_to(value, own)
        return self._found[own, value]

    def _open_to(self, value: int, wanted: int) -> Longs:
        """Return the holders of a value who may hold another."""
        holders = self._holders[value]
        return np.asarray(holders[self.worlds.possible[self.worlds.class_of[holders], wanted]])

    def _ways(self) -> Iterator[Flags]:
        """Return in which series somebody stands with the first of a pair; with the second in the others."""
        rest = range(1, self.n_series)  # the first series is always with the first: a pair has no order
        for n in range(self.n_series - 1):
            for some in combinations(rest, n):
                way = np.zeros(self.n_series, dtype=np.bool_)
                way[[0, *some]] = True
                yield way

    def _sum(self, people: Longs, series: Flags) -> Hashes:
        return np.asarray(self.places[series][:, people].sum(axis=0, dtype=np.uint64))

    def _fits(self, four: Longs) -> bool:
        """Return whether every group keeps its count of every value: it is counted, not trusted to the hashes."""
        traces = self.worlds.traces

        def groups(pair: Any) -> list[int]:
            ends = [(traces.person_ptr[one], traces.person_ptr[one + 1]) for one in pair]
            return sorted(int(at) for first, last in ends for at in traces.groups[first:last])

        return groups(four[:2]) == groups(four[2:])
