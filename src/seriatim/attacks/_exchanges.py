"""Exchanges: worlds in which people of two or three values change them among themselves, all over the history at once.

Asking about one person after the other is dear: every programme has all values of a neighbourhood. But most people are
open by worlds that are much simpler: some holders of one value and some of another change places, or of three values.
Such a programme has few variables even for the whole history, and is asked for a world in which as many people as
possible differ from the truth; each of them is open. Nothing follows about the others: they are asked one by one
(:mod:`seriatim.attacks._complete`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from seriatim.attacks._worlds import SECONDS, SETTING_UP, Worlds, episodes_beside
from seriatim.kernels.arrays import Flags, Ints, Longs

MOST_CLASSES = 6_000
"""Histories with more classes are not asked as a whole: their other worlds are far away, and the work is better spent
on a sample."""
FRUITLESS = 10
"""So many sets of values in a row that are not worth their work end the search."""
WORTH = 500.0
"""Work that may be spent for each class opened: asking about one alone costs as much."""
MOST_VALUES = 40
"""Of so many values, the most promising ones, all threes are looked at."""
CHEAP = 5.0
"""A variable of such a programme takes a fifth of the work of others: each row has few values."""
GAP, NODES = 0.3, 50


def open_by_exchanges(worlds: Worlds, others: Flags, work: float) -> tuple[Flags, float]:
    """Return the classes that differ from the truth in a world found by exchanges, and the work it took.

    Classes in ``others`` are not sought, nor told of: there are better ways for them.
    """
    if len(worlds.size) > MOST_CLASSES:
        return np.zeros(len(worlds.size), dtype=np.bool_), 0.0
    search = _Search(worlds, ~worlds.pure | others)
    for together in (2, 2, 3):
        search.try_sets(together, work)
    return search.open_ones & worlds.pure & ~others, search.work


@dataclass(repr=False, eq=False)
class _Search:
    worlds: Worlds
    open_ones: Flags
    work: float = 0.0

    @cached_property
    def held(self) -> Longs:
        """Return how many people of each class hold each value."""
        worlds = self.worlds
        at = np.flatnonzero(worlds.class_of >= 0)
        out = np.zeros(worlds.possible.shape, dtype=np.int64)
        np.add.at(out, (worlds.class_of[at], worlds.traces.value[at]), 1)
        return out

    @cached_property
    def spare(self) -> Longs:
        """Return how much more often each group shows a value than its people hold it: by counterfeits."""
        traces = self.worlds.traces
        out = np.zeros((traces.n_groups, traces.n_values), dtype=np.int64)
        out[np.repeat(np.arange(traces.n_groups), np.diff(traces.sig_ptr)), traces.sig_val] = traces.sig_cnt
        group = np.repeat(np.arange(traces.n_groups), np.diff(traces.group_ptr))
        np.subtract.at(out, (group, traces.value[traces.people]), 1)
        return np.where(traces.counterfeits[:, None] > 0, np.maximum(out, 0), 0)

    def try_sets(self, together: int, work: float) -> None:
        """Try sets of so many values, those that may open most people first."""
        fruitless = 0
        for values in self._promising(together):
            if fruitless == FRUITLESS or self.work >= work:
                return
            before, closed = self.work, int((~self.open_ones).sum())
            self._exchange(values)
            if self.work > before:
                opened = closed - int((~self.open_ones).sum())
                fruitless = 0 if WORTH * opened >= self.work - before else fruitless + 1

    def _promising(self, together: int) -> Longs:
        """Return sets of values, those first between which most of the people who are not open yet could move."""
        rest = np.flatnonzero(~self.open_ones)
        possible = self.worlds.possible[rest].astype(np.float32)
        own = np.eye(possible.shape[1], dtype=np.float32)[self.worlds.value[rest]]
        moves = own.T @ possible
        moves += moves.T
        np.fill_diagonal(moves, 0.0)
        reach = moves.sum(axis=1)
        likely = np.argsort(-reach, kind="stable")[:MOST_VALUES]
        sets = np.array(list(combinations(np.sort(likely[reach[likely] > 0]).tolist(), together)), dtype=np.int64)
        if not len(sets):
            return sets
        score = np.sum([moves[sets[:, one], sets[:, other]] for one, other in combinations(range(together), 2)], axis=0)
        return np.asarray(sets[np.argsort(-score, kind="stable")][: int((score > 0).sum())])

    def _exchange(self, values: Longs) -> None:
        """Look for a world in which holders of these values exchange them, and note whom it opens."""
        movable = (self.worlds.possible[:, values].sum(axis=1) > 1) & (self.held[:, values].sum(axis=1) > 0)
        classes = self._unlinked(np.flatnonzero(movable).astype(np.int32), values)
        if self.open_ones[classes].all():
            return
        of_class, of_value = np.nonzero(self.worlds.possible[classes][:, values])
        self.work += (SETTING_UP + len(of_class)) / CHEAP
        now = self.held[classes][:, values][of_class, of_value]
        found = self._solved(classes, values, of_class, of_value, now)
        if found is not None:
            self.open_ones[classes[np.unique(of_class[found != now])]] = True

    def _unlinked(self, classes: Ints, values: Longs) -> Ints:
        """Return the classes without an episode beside them that could meet one of these values."""
        position, near = episodes_beside(self.worlds, classes)
        meets = (self.worlds.class_of[near] >= 0) | np.isin(self.worlds.traces.value[near], values)
        return np.delete(classes, np.unique(position[meets]))

    def _solved(
        self, classes: Ints, values: Longs, of_class: Longs, of_value: Longs, now: Longs
    ) -> npt.NDArray[np.float64] | None:
        """Return how many people of each class hold each value in a world that opens many; None if none was found."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_matrix

        groups, at = self.worlds.groups_of(classes)
        first, times = np.searchsorted(at, np.arange(len(classes))), np.bincount(at, minlength=len(classes))[of_class]
        variable = np.repeat(np.arange(len(of_class)), times)
        step = np.arange(len(variable)) - np.repeat(np.cumsum(times) - times, times)
        key = groups[first[of_class[variable]] + step].astype(np.int64) * len(values) + of_value[variable]
        rows, row = np.unique(key, return_inverse=True)
        base = np.bincount(row, weights=now[variable], minlength=len(rows))
        spare = self.spare[rows // len(values), values[rows % len(values)]]
        low = np.where(self.worlds.traces.counterfeits[rows // len(values)] > 0, 0.0, base)
        whole = np.bincount(of_class, weights=now, minlength=len(classes))
        matrix = coo_matrix(
            (
                np.ones(len(row) + len(of_class)),
                (np.concatenate((row, len(rows) + of_class)), np.concatenate((variable, np.arange(len(of_class))))),
            ),
            shape=(len(rows) + len(classes), len(of_class)),
        ).tocsr()
        stays = (~self.open_ones[classes][of_class] & (now > 0)).astype(np.float64)
        found = milp(
            stays,
            integrality=np.ones(len(of_class)),
            bounds=Bounds(0.0, whole[of_class]),
            constraints=LinearConstraint(matrix, np.concatenate((low, whole)), np.concatenate((base + spare, whole))),
            options={"time_limit": SECONDS, "node_limit": NODES, "mip_rel_gap": GAP},
        )
        return None if found.x is None else np.asarray(np.round(found.x))
