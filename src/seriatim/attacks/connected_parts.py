"""Connected parts: people whom shared groups tie together, as clauses that a SAT solver is asked about.

Where hardly anybody is interchangeable, an integer programme is slow: its relaxation says next to nothing. The same
question as clauses is fast, because the solver learns from every contradiction: 'each person holds one value, and the
people of each group hold each value as often as it was published there'. What it learns about a part stays for the next
question, and one world answers for everybody who differs in it. Every world is counted again before it is believed.

The solver is minicard: it compares its steps with its allowance at every contradiction. Gluecard does so at restarts
only, which may be minutes apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.attacks.group_differences import group_differences, membership
from seriatim.attacks.possible_worlds import Worlds, episodes_beside, world_neighbourhood
from seriatim.kernels.arrays import Flags, Ints, Longs

MOST_LITERALS = 2_000_000
"""Larger parts are not asked as clauses."""
MOST_ALIKE = 3.0
"""Parts with more people to a class on average are not either: an integer programme counts them class by class."""
SMALL = 3_000
"""A part of so few classes is asked as a whole: its solver is made once, and not for every neighbourhood."""
ALIKE = 2
"""How many of the interchangeable people who hold a value may change it, where a few of them are enough."""
SHORT = 500
"""Groups with so few members in question, all together, are as short as their differences."""
PROPAGATIONS = 200.0
"""Steps of the solver that take as long as a variable of an integer programme."""
LITERALS = 15.0
"""Clause literals whose cost equals one such step."""


@dataclass(frozen=True, repr=False, eq=False)
class ConnectedParts:
    """The parts of a history whose people are tied together, and the solvers of those that were asked about."""

    worlds: Worlds
    part_of: Ints
    """The part of each class."""
    asked: dict[int, PartClauses] = field(default_factory=dict)
    asked_few: dict[int, PartClauses] = field(default_factory=dict)
    """Parts with a few of their interchangeable people, the others at the truth."""

    @cached_property
    def suited(self) -> Flags:
        """Return which parts are asked as clauses: those of people who are hardly interchangeable."""
        wide = self.worlds.possible.sum(axis=1).astype(np.float64)
        n_parts = int(self.part_of.max(initial=-1)) + 1
        by_class = np.bincount(self.part_of, weights=wide, minlength=n_parts)
        by_person = np.bincount(self.part_of, weights=wide * self.worlds.size, minlength=n_parts)
        # many alike in a class: clauses would name each of them, an integer programme counts them together
        return np.asarray((by_person <= MOST_LITERALS) & (by_person <= MOST_ALIKE * by_class))

    def part(self, one: int) -> tuple[PartClauses, bool]:
        """Return the part of a class, which keeps what its solver learns, and whether it is asked for first."""
        number = int(self.part_of[one])
        fresh = number not in self.asked
        if fresh:
            self.asked[number] = self._of(np.flatnonzero(self.part_of == number), far=True)
        return self.asked[number], fresh

    def near(self, one: int, most: int) -> PartClauses | None:
        """Return the people near a class, with everyone else at the truth; None if its part is hardly larger."""
        if self.sizes[self.part_of[one]] <= max(most, SMALL):
            return None
        return self._of(world_neighbourhood(self.worlds, one, most).classes, far=False)

    def few(self, one: int) -> tuple[PartClauses, bool]:
        """Return the part of a class with a few of its interchangeable people, and whether it is asked for first."""
        number = int(self.part_of[one])
        fresh = number not in self.asked_few
        if fresh:
            self.asked_few[number] = PartClauses(self.worlds, self._some_alike_by_part[number], far=True)
        return self.asked_few[number], fresh

    @cached_property
    def _some_alike_by_part(self) -> list[Ints]:
        part = self.part_of[self.worlds.class_of[self.some_alike]]
        order = np.argsort(part, kind="stable")
        return np.split(self.some_alike[order], np.cumsum(np.bincount(part, minlength=len(self.sizes)))[:-1])

    @cached_property
    def some_alike(self) -> Ints:
        """Return undecided episodes, a few of each class and value, an example of each class among them."""
        worlds = self.worlds
        episodes = np.flatnonzero(worlds.class_of >= 0)
        first = np.zeros(len(worlds.class_of), dtype=np.bool_)
        first[worlds.example] = True
        held = worlds.traces.value[episodes]
        # the example comes first, since questions are asked about it
        order = np.lexsort((~first[episodes], held, worlds.class_of[episodes]))
        kind = worlds.class_of[episodes].astype(np.int64) * worlds.traces.n_values + held
        starts = np.flatnonzero(np.diff(kind[order], prepend=-1))
        rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        return np.sort(episodes[order[rank < ALIKE]]).astype(np.int32)

    @cached_property
    def sizes(self) -> Longs:
        """Return how many classes each part has."""
        return np.bincount(self.part_of)

    @cached_property
    def _by_class(self) -> tuple[Longs, Longs]:
        """Return the undecided episodes, class by class, and where each class begins."""
        class_of = self.worlds.class_of
        order = np.argsort(class_of, kind="stable")[int((class_of < 0).sum()) :]
        return order, np.concatenate(([0], np.cumsum(self.worlds.size)))

    def _of(self, classes: npt.NDArray[Any], far: bool) -> PartClauses:
        episodes, begins = self._by_class
        sizes = self.worlds.size[classes]
        first = np.repeat(begins[classes] - np.cumsum(sizes) + sizes, sizes)
        return PartClauses(self.worlds, np.sort(episodes[first + np.arange(len(first))]).astype(np.int32), far)


def connected_parts(worlds: Worlds) -> ConnectedParts:
    """Return the parts into which groups, and values that follow each other, tie the undecided classes."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n_classes = len(worlds.size)
    everyone = np.arange(n_classes, dtype=np.int32)
    groups, at = worlds.groups_of(everyone)
    position, near = episodes_beside(worlds, everyone)
    beside = worlds.class_of[near]
    rows = np.concatenate((at, position[beside >= 0]))
    columns = np.concatenate((groups.astype(np.int64) + n_classes, beside[beside >= 0]))
    nodes = n_classes + worlds.traces.n_groups
    # classes and groups are the nodes of one graph, groups numbered behind the classes
    _, part = connected_components(coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(nodes, nodes)), False)
    _, numbers = np.unique(part[:n_classes], return_inverse=True)
    return ConnectedParts(worlds, numbers.astype(np.int32))


@dataclass(repr=False, eq=False)
class PartClauses:
    """People, with a literal for each value that they may hold; everyone else is at the truth."""

    worlds: Worlds
    episodes: Ints
    far: bool
    """Whether worlds in which many people differ from the truth are tried first, until one is not found."""
    only: Flags | None = None
    """The values that may be held, if not all of them."""

    def holds(self, one: int) -> bool:
        """Return whether the example of a class is among these people."""
        at = int(np.searchsorted(self.episodes, self.worlds.example[one]))
        return at < len(self.episodes) and bool(self.episodes[at] == self.worlds.example[one])

    @cached_property
    def possible(self) -> Flags:
        """Return the values that each person may hold, without those beside them outside."""
        worlds = self.worlds
        out = worlds.possible[worlds.class_of[self.episodes]]
        position, near = self._beside
        outside = ~self._among(near)[1]
        # the same value would join two episodes into one, which the history says are two
        out[position[outside], worlds.traces.value[near[outside]]] = False
        return out if self.only is None else out & self.only

    @cached_property
    def _beside(self) -> tuple[Longs, Longs]:
        """Return positions in ``episodes``, and the episodes beside them; only people alone in their class have any."""
        classes = self.worlds.class_of[self.episodes]
        position, near = episodes_beside(self.worlds, classes)
        return position, near

    @cached_property
    def literal(self) -> Longs:
        """Return the literal of each person and value, counted from 1; 0 where they cannot hold it."""
        out = np.zeros(self.possible.shape, dtype=np.int64)
        out[self._of_literal] = np.arange(1, self.n_literals + 1)
        return out

    @cached_property
    def _of_literal(self) -> tuple[Longs, Longs]:
        """Return the person and the value of each literal, person by person."""
        who, value = np.nonzero(self.possible)
        return who, value

    @cached_property
    def true_literal(self) -> Longs:
        return self.literal[np.arange(len(self.episodes)), self.worlds.traces.value[self.episodes]]

    @cached_property
    def n_literals(self) -> int:
        return len(self._of_literal[0])

    def differing(self, one: int, work: float) -> tuple[Ints | bool | None, float]:
        """Return the classes that differ from the truth in a world where class ``one`` does, and the work.

        False says that there is no such world, None that it was not found with so much work.
        """
        at = int(np.searchsorted(self.episodes, self.worlds.example[one]))
        said, took = None, 0.0
        # a quarter of the work: if no such world is near at hand, one close to the truth may be
        if self.far:  # such a world answers for many people at once
            said, took = self._asked(-int(self.true_literal[at]), work / 4, far=True)
            self.far = said is not None
        if said is None:
            said, more = self._asked(-int(self.true_literal[at]), work - took)
            took += more
        if isinstance(said, np.ndarray):
            differs = said != self.worlds.traces.value[self.episodes]
            return np.unique(self.worlds.class_of[self.episodes[differs]]), took
        return said, took

    def holding(self, one: int, value: int, work: float) -> tuple[tuple[Ints, Longs] | bool | None, float]:
        """Return who holds what, as classes and values, in a world where a class holds a value, and the work.

        False says that there is no such world, None that it was not found with so much work.
        """
        at = int(np.searchsorted(self.episodes, self.worlds.example[one]))
        if not self.literal[at, value]:
            return False, 0.0
        said, took = self._asked(int(self.literal[at, value]), work)
        return ((self.worlds.class_of[self.episodes], said), took) if isinstance(said, np.ndarray) else (said, took)

    def _asked(self, literal: int, work: float, far: bool = False) -> tuple[Longs | bool | None, float]:
        """Return everyone's value in a world in which a literal is true; False if there is none, None if not found.

        Values next to be tried are those of the truth, or any but those if the world may be ``far`` from it.
        """
        solver = self._solver
        solver.set_phases((-self.true_literal if far else self.true_literal).tolist())
        before = solver.accum_stats()["propagations"]
        solver.prop_budget(max(int(work * PROPAGATIONS), 1))
        said = solver.solve_limited(assumptions=[literal])
        took = (solver.accum_stats()["propagations"] - before) / PROPAGATIONS
        if not said:
            return said, took
        model = np.fromiter(solver.get_model(), dtype=np.int64, count=self.n_literals)
        chosen = np.flatnonzero(model > 0)
        who, value = self._of_literal
        assert np.array_equal(who[chosen], np.arange(len(self.episodes))), "everyone holds one value"
        # a bug in a solver or its clauses must not clear anybody: every world is counted again
        assert self._fits(value[chosen])
        return value[chosen], took

    def _fits(self, values: Longs) -> bool:
        """Return whether everyone else at the truth and these people at these values fit all that was published."""
        people, at = self._members
        left = self._less_held(at, self._with(values, people, self._members_among))
        position, near = self._beside
        apart = (values[position] != self._with(values, near, self._beside_among)).all()
        return bool((left >= 0).all() and (left[self._exact] == 0).all() and apart)

    def _with(self, values: Longs, people: npt.NDArray[Any], among: tuple[Longs, Flags]) -> Longs:
        """Return the values of people, of whom those in question hold ``values``."""
        at, inside = among
        return np.where(inside, values[at], self.worlds.traces.value[people])

    @cached_property
    def _members_among(self) -> tuple[Longs, Flags]:
        """Return where the members of the groups are in ``episodes``, and whether they are there."""
        return self._among(self._members[0])

    @cached_property
    def _beside_among(self) -> tuple[Longs, Flags]:
        """Return where those beside are in ``episodes``, and whether they are there."""
        return self._among(self._beside[1])

    @cached_property
    def _exact(self) -> Flags:
        """Return which of the groups hold no counterfeits."""
        return np.asarray(self.worlds.traces.counterfeits[self._groups] == 0)

    def _among(self, people: npt.NDArray[Any]) -> tuple[Longs, Flags]:
        """Return where people are in ``episodes``, and whether they are there."""
        at = np.minimum(np.searchsorted(self.episodes, people), len(self.episodes) - 1)
        return at, self.episodes[at] == people

    @cached_property
    def _column(self) -> Longs:
        """Return where each value is counted; -1 if it may not be held."""
        only = np.ones(self.worlds.traces.n_values, dtype=np.bool_) if self.only is None else self.only
        return np.where(only, np.cumsum(only) - 1, -1)

    def _less_held(self, at: npt.NDArray[Any], values: npt.NDArray[Any]) -> Longs:
        """Return how often the groups show values, less those that people in them hold."""
        of, shown = self._column[values], self._published
        counted = of >= 0
        held = np.bincount(at[counted] * shown.shape[1] + of[counted], minlength=shown.size)
        return shown - held.reshape(shown.shape)

    @cached_property
    def _published(self) -> Longs:
        """Return how often the groups show each value that may be held."""
        return _shown(self.worlds, self._groups, self._column)

    @cached_property
    def _groups(self) -> Ints:
        """Return the groups of these people."""
        return np.unique(self.worlds.groups_of(np.unique(self.worlds.class_of[self.episodes]))[0])

    @cached_property
    def _members(self) -> tuple[Ints, Ints]:
        """Return the members of these groups, and for each the position of the group."""
        return self.worlds.members_of(self._groups)

    @cached_property
    def _solver(self) -> Any:
        """Return the solver with all clauses."""
        from pysat.solvers import Solver

        literal = self.literal
        own = _lists(literal[self.possible], self.possible.sum(axis=1))
        solver = Solver(name="minicard", bootstrap_with=own)
        for one in own:
            _at_most(solver, one, 1)
        for some, room, exact in self._rooms():
            _at_most(solver, some, room)
            if exact and room == 1:
                solver.add_clause(some)
            elif exact:
                _at_most(solver, [-one for one in some], len(some) - room)
        for pair in self._apart():
            solver.add_clause(pair)
        return solver

    def _rooms(self) -> list[tuple[list[int], int, bool]]:
        """Return literals, how many of them are true at most, and whether it must be so many, for all groups.

        A literal is a value that a person of the group holds; where groups are subtracted, also one that they do not.
        """
        traces, groups, (people, at) = self.worlds.traces, self._groups, self._members
        who, inside = self._members_among
        room, who = self._less_held(at[~inside], traces.value[people[~inside]]), who[inside]
        exact = traces.counterfeits[groups] == 0
        row, column, sign = at[inside], who, np.ones(len(who), dtype=np.int64)
        if len(who) > SHORT:
            # long rows are replaced by their differences, which say the same about few people
            members = membership(row, column, len(groups), len(self.episodes))
            differences = group_differences(members, exact)
            rows, room = (differences @ members).tocoo(), differences @ room
            row, column, sign = rows.row, rows.col, rows.data
        entry, value = np.nonzero(self.possible[column])
        key = row[entry].astype(np.int64) * room.shape[1] + self._column[value]
        order = np.argsort(key, kind="stable")
        keys, sizes = np.unique(key, return_counts=True)
        sign = sign[entry].astype(np.int64)
        lists = _lists((sign * self.literal[column[entry], value])[order], sizes)
        most = room[keys // room.shape[1], keys % room.shape[1]]
        most = most + np.bincount(np.searchsorted(keys, key), weights=sign < 0, minlength=len(keys)).astype(np.int64)
        return list(zip(lists, most.tolist(), exact[keys // room.shape[1]].tolist(), strict=True))

    def _apart(self) -> list[list[int]]:
        """Return pairs of literals of which one must be false: a value that would follow itself in one person."""
        position, near = self._beside
        at, inside = self._among(near)
        # each pair once: both of its episodes name the other
        later = inside & (near > self.episodes[position])
        one, other = self.literal[position[later]], self.literal[at[later]]
        both = (one > 0) & (other > 0)
        return (-np.stack((one[both], other[both]), axis=1)).tolist() if both.any() else []


def _shown(worlds: Worlds, groups: Ints, column: Longs) -> Longs:
    """Return how often each group shows each value that has a column."""
    traces = worlds.traces
    out = np.zeros((len(groups), int(column.max(initial=-1)) + 1), dtype=np.int64)
    sizes = traces.sig_ptr[groups + 1] - traces.sig_ptr[groups]
    at = np.repeat(np.arange(len(groups)), sizes)
    spot = traces.sig_ptr[groups][at] + np.arange(len(at)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    of = column[traces.sig_val[spot]]
    out[at[of >= 0], of[of >= 0]] = traces.sig_cnt[spot][of >= 0]
    return out


def _lists(items: npt.NDArray[np.int64], sizes: npt.NDArray[Any]) -> list[list[int]]:
    """Return items as lists of these sizes."""
    flat, ends = items.tolist(), np.cumsum(sizes).tolist()
    return [flat[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def _at_most(solver: Any, literals: list[int], most: int) -> None:
    if most <= 0:
        for one in literals:
            solver.add_clause([-one])
    # two literals make a plain clause, which propagates faster than a counter
    elif len(literals) == 2 and most == 1:
        solver.add_clause([-literals[0], -literals[1]])
    elif len(literals) > most:
        solver.add_atmost(literals, most)
