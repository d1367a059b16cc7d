"""Worlds: assignments of values to people that fit everything published, and whether somebody's value differs in one.

The rules of exclusion are sound but miss conclusions that only many groups together allow. Here the question is asked
outright: is there a world in which this person's value is another one? People who were in the same groups and can have
the same values are interchangeable, so a world is a number of people per such class and value; it fits if the classes
of every group hold each value at most as often as it was published there (just as often, if the group has no
counterfeits). That is an integer programme, which HiGHS solves.

A world found with everyone far away held at their true value is a world, so small neighbourhoods are asked first. Only
when the whole connected part has no such world is the value certain. One world answers for everybody who differs in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.attacks.traces_by_person import Traces, trace_flags
from seriatim.kernels.arrays import Flags, Ints, Longs, Words
from seriatim.model.chance import open_chance

BALLS = (40, 150, 600, 1200, 2400, 6000)
"""Classes that are looked at together, one size after the other, until one holds a world or is the connected part."""
MOST_VARIABLES = 40_000
"""Larger programmes are not tried: anyone who needs one is undecided."""
MOST_WORK = 100_000.0
"""For one programme, ten seconds or so; anyone who needs more is undecided."""
VARIABLES = 2_000.0
"""With so many variables, a step of the simplex method takes as long as a variable."""
ROOT, NODE = 4.0, 0.05
"""Work before the first node in whole numbers, and for each node, in times of the work without whole numbers."""
SETTING_UP = 50.0
"""What a programme costs before it is solved, in variables."""


class WorldQuestion(NamedTuple):
    """A programme: classes that may change, with everyone else at their true value."""

    classes: Ints
    whole: bool
    """Whether nobody outside could matter."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Worlds:
    """The people of a history whose value is undecided, in classes of interchangeable ones."""

    traces: Traces
    words: Words
    class_of: Ints
    """The class of each episode; -1 if its value is known."""
    size: Ints
    example: Ints
    """An episode of each class."""
    pure: Flags
    """Whether all people of a class hold the same value. In the others nobody's is certain: two may be exchanged."""
    possible: Flags
    """Class by value."""

    @cached_property
    def value(self) -> Ints:
        """Return the true value of a person of each class: of all of them, if the class is pure."""
        return self.traces.value[self.example]

    def groups_of(self, classes: Ints) -> tuple[Ints, Ints]:
        """Return the groups of classes, and for each the position in ``classes``."""
        return _spread(self.traces.person_ptr, self.traces.groups, self.example[classes])

    def members_of(self, groups: Ints) -> tuple[Ints, Ints]:
        """Return the episodes of groups, and for each the position in ``groups``."""
        return _spread(self.traces.group_ptr, self.traces.people, groups)


def undecided_people(traces: Traces, words: Words) -> Worlds:
    """Return the undecided people of a history, given the values that sound rules have left to everyone."""
    n_left = np.bitwise_count(words).sum(axis=1)
    is_open = n_left > 1
    class_of = np.full(len(is_open), -1, dtype=np.int32)
    at = np.flatnonzero(is_open)
    _, example, number = np.unique(_keys(traces, words)[at], return_index=True, return_inverse=True)
    class_of[at] = number
    size = np.bincount(number, minlength=len(example)).astype(np.int32)
    held = traces.value[at]
    low, high = np.full(len(example), np.iinfo(np.int32).max), np.full(len(example), -1)
    np.minimum.at(low, number, held)
    np.maximum.at(high, number, held)
    chosen = at[example].astype(np.int32)
    possible = trace_flags(words[chosen], traces.n_values) if len(chosen) else np.empty((0, traces.n_values), np.bool_)
    return Worlds(
        traces=traces, words=words, class_of=class_of, size=size, example=chosen, pure=low == high, possible=possible
    )


def _keys(traces: Traces, words: Words) -> npt.NDArray[np.uint64]:
    """Return a number per episode that is equal for interchangeable ones (but for a chance of 2^-64)."""
    chance = open_chance(0, "worlds")
    salt = chance.integers(1, 1 << 63, size=traces.n_groups + 1, dtype=np.uint64)
    # the sum of a person's groups as random numbers, by differences of a running sum: overflow is harmless
    running = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(salt[traces.groups], dtype=np.uint64)))
    key = running[traces.person_ptr[1:]] - running[traces.person_ptr[:-1]]
    odd = chance.integers(1, 1 << 63, size=words.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    key = key * np.uint64(0x9E3779B97F4A7C15) + ((words ^ (words >> np.uint64(29))) * odd).sum(axis=1, dtype=np.uint64)
    several = np.bincount(traces.respondent, minlength=1)[traces.respondent] > 1
    # values of one person that follow each other differ, so nobody else can stand in for such a person
    key[several] = chance.integers(0, 1 << 63, size=int(several.sum()), dtype=np.uint64)
    return np.asarray(key, dtype=np.uint64)


def _spread(ptr: Longs, items: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the items of some rows, and for each the position of its row."""
    sizes = ptr[rows + 1] - ptr[rows]
    where = np.repeat(np.arange(len(rows)), sizes)
    offset = np.arange(len(where)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return items[ptr[rows][where] + offset], where.astype(np.int32)


def world_neighbourhood(worlds: Worlds, one: int, most: int) -> WorldQuestion:
    """Return about this many classes nearest to one, by the groups that connect them."""
    met = np.zeros(len(worlds.size), dtype=np.bool_)
    met[one] = True
    order, edge = [np.array([one], dtype=np.int32)], np.array([one], dtype=np.int32)
    total = 1
    while len(edge) and total < most:
        groups = np.unique(worlds.groups_of(edge)[0])
        others = worlds.class_of[worlds.members_of(groups)[0]]
        others, times = np.unique(np.concatenate((others[others >= 0], _linked(worlds, edge))), return_counts=True)
        fresh = ~met[others]
        edge, times = others[fresh].astype(np.int32), times[fresh]
        if total + len(edge) > most and total > 1:
            edge = edge[np.argsort(-times, kind="stable")[: most - total]]  # those most tied to the others
        met[edge] = True
        total += len(edge)
        order.append(edge)
    inside = np.concatenate(order)
    groups = np.unique(worlds.groups_of(inside)[0])
    others = worlds.class_of[worlds.members_of(groups)[0]]
    others = np.concatenate((others[others >= 0], _linked(worlds, inside)))
    return WorldQuestion(inside, bool(met[others].all()))


def _linked(worlds: Worlds, classes: Ints) -> Ints:
    """Return the classes of the undecided episodes next to those of classes, of the same person."""
    found = worlds.class_of[episodes_beside(worlds, classes)[1]]
    return found[found >= 0]


def episodes_beside(worlds: Worlds, classes: Ints) -> tuple[Longs, Longs]:
    """Return positions in ``classes``, and the episodes just after and before them that hold another value."""
    at, who, value = worlds.example[classes], worlds.traces.respondent, worlds.traces.value
    pairs = []
    for near in (np.minimum(at + 1, len(who) - 1), np.maximum(at - 1, 0)):
        hit = np.flatnonzero((near != at) & (who[near] == who[at]) & (value[near] != value[at]))
        pairs.append((hit, near[hit].astype(np.int64)))
    return np.concatenate([one[0] for one in pairs]), np.concatenate([one[1] for one in pairs])


def differing_world(
    worlds: Worlds, question: WorldQuestion, one: int, settled: Flags
) -> tuple[Flags | bool | None, float]:
    """Return which classes of the question differ from the truth in a world where class ``one`` does, and the work.

    False says that there is no such world, None that the programme is too large or took too long. Classes in
    ``settled`` need not differ. Work is counted in variables.
    """
    programme = _programme(worlds, question)
    if programme is None or programme.n_variables > MOST_VARIABLES:
        return None, SETTING_UP
    said, work = programme.solved(worlds, one, settled)
    return said, SETTING_UP + programme.n_variables + work


def holding_world(
    worlds: Worlds, question: WorldQuestion, wanted: tuple[int, int], shown: Flags
) -> tuple[tuple[Ints, Ints] | bool | None, float]:
    """Return who holds what, as classes and values, in a world where a class holds a value, and the work.

    False says that there is no such world, None that it was not decided. ``wanted`` is the class and the value; worlds
    are sought in which many more classes hold a value that was not ``shown`` (class by value) before.
    """
    programme = _programme(worlds, question)
    if programme is None or programme.n_variables > MOST_VARIABLES:
        return None, SETTING_UP
    said, work = programme.held(worlds, wanted, shown)
    return said, SETTING_UP + programme.n_variables + work


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class _Programme:
    """One variable per class and value: how many people of the class hold it."""

    classes: Ints
    of_class: Ints
    """The position in ``classes`` of each variable."""
    of_value: Ints
    matrix: Any
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]

    @property
    def n_variables(self) -> int:
        return len(self.of_class)

    def solved(self, worlds: Worlds, one: int, settled: Flags) -> tuple[Flags | bool | None, float]:
        size = worlds.size[self.classes]
        true = self.of_value == worlds.value[self.classes][self.of_class]
        asked = self.classes[self.of_class] == one
        upper = size[self.of_class].astype(np.float64)
        # at least one of the class asked about must differ
        upper[true & asked] -= 1
        # as many other classes as possible shall differ too: one world then clears them all
        goal = np.where(true & (worlds.pure & ~settled)[self.classes][self.of_class], 1.0, 0.0)
        found, work = self._solve(goal, np.zeros(len(upper)), upper)
        return (self._differs(found, true, size) if isinstance(found, np.ndarray) else found), work

    def held(
        self, worlds: Worlds, wanted: tuple[int, int], shown: Flags
    ) -> tuple[tuple[Ints, Ints] | bool | None, float]:
        """Return the classes and values of a world in which a class holds a value; False or None if there is none."""
        owner = self.classes[self.of_class]
        lower = ((owner == wanted[0]) & (self.of_value == wanted[1])).astype(np.float64)
        if not lower.any():
            return False, 0.0
        upper = worlds.size[owner].astype(np.float64)
        found, work = self._solve(np.where(shown[owner, self.of_value], 0.0, -1.0), lower, upper)
        if not isinstance(found, np.ndarray):
            return found, work
        return (owner[found > 0], self.of_value[found > 0]), work

    def _solve(
        self, goal: npt.NDArray[np.float64], lower: npt.NDArray[np.float64], upper: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64] | bool | None, float]:
        """Return a world as counts, False if there is none, None if that was not decided, and the work.

        People are parts of one at first: if there is no such world either, or if it has whole people anyway, that is
        the answer. The steps this takes say how many nodes with whole people can be looked at.
        """
        from scipy.optimize import linprog

        step = max(self.n_variables / VARIABLES, 0.2)
        same = self.low == self.high
        relaxed = linprog(
            goal,
            A_ub=self.matrix[~same] if not same.all() else None,
            b_ub=self.high[~same] if not same.all() else None,
            A_eq=self.matrix[same] if same.any() else None,
            b_eq=self.high[same] if same.any() else None,
            bounds=np.stack((lower, upper), axis=1),
            method="highs-ds",
            options={"maxiter": int(MOST_WORK / step)},
        )
        work = relaxed.nit * step
        if relaxed.status != 0:
            return (False if relaxed.status == 2 else None), work
        # rounding errors of the solver aside, whole counts are a world as they stand
        whole = np.round(relaxed.x)
        if np.abs(whole - relaxed.x).max() < 1e-6 and self._fits(whole):
            return whole, work
        if ROOT * work > MOST_WORK:
            return None, work
        return self._in_whole_numbers(goal, lower, upper, work)

    def _fits(self, counts: npt.NDArray[np.float64]) -> bool:
        """Return whether counts are a world."""
        rows = self.matrix @ counts
        return bool((rows >= self.low).all() and (rows <= self.high).all())

    def _in_whole_numbers(
        self,
        goal: npt.NDArray[np.float64],
        lower: npt.NDArray[np.float64],
        upper: npt.NDArray[np.float64],
        relaxed: float,
    ) -> tuple[npt.NDArray[np.float64] | bool | None, float]:
        """Return a world as counts, False if there is none, None if that was not decided, and all the work.

        There is no limit of time, so that a busy machine comes to the same answer as an idle one.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        node = 1.0 + NODE * relaxed
        found = milp(
            goal,
            integrality=np.ones(self.n_variables),
            bounds=Bounds(lower, upper),
            constraints=LinearConstraint(self.matrix, self.low, self.high),
            # the first world found will do, however far from the best: hence the huge gap
            options={"node_limit": max(int((MOST_WORK - ROOT * relaxed) / node), 1), "mip_rel_gap": 1e9},
        )
        work = (1 + ROOT) * relaxed + node * (found.mip_node_count or 0)
        if found.status == 2:
            return False, work
        return (None if found.x is None else np.asarray(np.round(found.x))), work

    def _differs(self, counts: npt.NDArray[np.float64], true: Flags, size: Ints) -> Flags:
        kept = np.bincount(self.of_class[true], weights=counts[true], minlength=len(size))
        return np.asarray(kept < size, dtype=np.bool_)


def _programme(worlds: Worlds, question: WorldQuestion) -> _Programme | None:
    from scipy.sparse import coo_matrix

    traces, classes = worlds.traces, question.classes
    n_values = traces.n_values
    groups, at = worlds.groups_of(classes)
    numbers, local = np.unique(groups, return_inverse=True)
    room = _room(worlds, numbers.astype(np.int32), classes)
    open_to = worlds.possible[classes].copy()
    np.logical_and.at(open_to, at, room[local] > 0)
    position, near = episodes_beside(worlds, classes)
    outside = ~np.isin(worlds.class_of[near], classes)
    # an episode beside, outside the question, stays at the truth: its value is taken
    open_to[position[outside], traces.value[near[outside]]] = False
    of_class, of_value = np.nonzero(open_to)
    if not len(of_class):
        return None
    first = np.searchsorted(at, np.arange(len(classes)))
    n_groups = np.bincount(at, minlength=len(classes))
    times = n_groups[of_class]
    variable = np.repeat(np.arange(len(of_class)), times)
    step = np.arange(len(variable)) - np.repeat(np.cumsum(times) - times, times)
    entry = first[of_class[variable]] + step
    rows, row = np.unique(local[entry] * n_values + of_value[variable], return_inverse=True)
    high = room[rows // n_values, rows % n_values].astype(np.float64)
    low = np.where(traces.counterfeits[numbers[rows // n_values]] == 0, high, 0.0)
    n_rows = len(rows)
    links = _links(worlds, classes, (of_class, of_value), n_rows + len(classes))
    row = np.concatenate((row, n_rows + of_class, links[0]))
    column = np.concatenate((variable, np.arange(len(of_class)), links[1]))
    total = n_rows + len(classes) + links[2]
    matrix = coo_matrix((np.ones(len(row)), (row, column)), shape=(total, len(of_class))).tocsr()
    size = worlds.size[classes].astype(np.float64)
    low, high = np.concatenate((low, size, np.zeros(links[2]))), np.concatenate((high, size, np.ones(links[2])))
    return _Programme(
        classes=classes,
        of_class=of_class.astype(np.int32),
        of_value=of_value.astype(np.int32),
        matrix=matrix,
        low=low,
        high=high,
    )


def _room(worlds: Worlds, groups: Ints, classes: Ints) -> Longs:
    """Return how often each value was published in groups, less the people outside the question who hold it."""
    traces, n = worlds.traces, worlds.traces.n_values
    room = np.zeros((len(groups), n), dtype=np.int64)
    spots, at = _spread(traces.sig_ptr, np.arange(len(traces.sig_val), dtype=np.int32), groups)
    room[at, traces.sig_val[spots]] = traces.sig_cnt[spots]
    inside = np.zeros(len(worlds.size) + 1, dtype=np.bool_)
    inside[classes] = True
    people, at = worlds.members_of(groups)
    out = ~inside[worlds.class_of[people]]
    # an entry may occur several times, which a plain -= would count once
    np.subtract.at(room, (at[out], traces.value[people[out]]), 1)
    return room


def _links(worlds: Worlds, classes: Ints, variables: tuple[Longs, Longs], first: int) -> tuple[Longs, Longs, int]:
    """Return rows that keep apart the values which follow each other in one person, as entries, and their number."""
    place = np.full(len(worlds.size) + 1, -1, dtype=np.int64)
    place[classes] = np.arange(len(classes))
    at, near = episodes_beside(worlds, classes)
    beside = place[worlds.class_of[near]]
    later = (near > worlds.example[classes][at]) & (beside >= 0)
    if not later.any():
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), 0
    number = np.full((len(classes), worlds.traces.n_values), -1, dtype=np.int64)
    number[variables] = np.arange(len(variables[0]))
    one, other = number[at[later]], number[beside[later]]
    pair, value = np.nonzero((one >= 0) & (other >= 0))
    columns = np.concatenate((one[pair, value], other[pair, value]))
    return first + np.tile(np.arange(len(pair)), 2), columns, len(pair)
