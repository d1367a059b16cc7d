"""Attackers of an answering service: what they ask, and what they conclude from all answers.

Every attacker sees all answers, knows the records of ``known`` and their own, the column's least and largest value and
that values are whole numbers (where they are). Who is read is left fewer values than the promised width.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

import seriatim as sr
from seriatim.queries import Answering, Query, SpreadRefusals


def signed(plus: Iterable[int], minus: Iterable[int] = ()) -> Query:
    """Return the query for the sum of some records less that of others."""
    more, less = list(plus), list(minus)
    return Query("sum", (*more, *less), (1,) * len(more) + (-1,) * len(less))


@dataclass
class Asker:
    """Asks, and keeps what was answered."""

    service: Any
    n: int
    rng: np.random.Generator
    asked: list[Query] = field(default_factory=list)
    said: list[Any] = field(default_factory=list)

    def ask(self, query: Query) -> float | None:
        answer = self.service.ask(query)
        self.asked.append(query)
        self.said.append(answer)
        return answer.value

    @property
    def answered(self) -> list[tuple[Query, float]]:
        found = zip(self.asked, self.said, strict=True)
        return [(query, query.total(answer.value)) for query, answer in found if answer.value is not None]

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all answered queries as a matrix, and their sums."""
        matrix = np.array([query.row(self.n) for query, _ in self.answered]).reshape(-1, self.n)
        return matrix, np.array([total for _, total in self.answered])

    def some(self, size: int) -> list[int]:
        return self.rng.choice(self.n, min(size, self.n), replace=False).tolist()


# what they ask


def weights(asker: Asker, most: float) -> None:
    """Two people, one of them counted a little more: whole numbers up to ``most`` read both."""
    for _ in range(3):
        asker.ask(Query("sum", asker.some(2), (1.0, 1.0 + 1.0 / (most + 1.0))))


def near_dependence(asker: Asker) -> None:
    """Everybody, and everybody with one of them counted a billionth more."""
    asker.ask(Query("sum", range(asker.n)))
    asker.ask(Query("sum", range(asker.n), (*(1.0,) * (asker.n - 1), 1.0 + 1e-9)))
    asker.ask(Query("average", asker.some(asker.n - 1)))


def few(asker: Asker) -> None:
    """Pairs and other small sets, and everybody but a few."""
    for size in (1, 2, 2, 3, 5, 8):
        chosen = asker.some(size)
        asker.ask(Query("sum", chosen))
        asker.ask(Query("sum", [record for record in range(asker.n) if record not in chosen]))
        asker.ask(signed(chosen[:1], chosen[1:]))


def any_sets(asker: Asker) -> None:
    """Sets of all sizes, ranges, and differences of sets that overlap but for a few."""
    for _ in range(6):
        size = int(asker.rng.integers(2, asker.n))
        chosen = asker.some(size)
        asker.ask(Query("sum", chosen))
        asker.ask(Query("average", chosen[: size // 2 + 1]))
        asker.ask(signed(chosen[size // 2 :], chosen[: size // 2]))
        first, last = sorted(asker.rng.choice(asker.n + 1, 2, replace=False).tolist())
        asker.ask(Query("sum", range(first, last)))


def parts(asker: Asker) -> None:
    """Take the smallest part that is answered off a known sum; go on where averages are least, or largest."""
    sign = float(asker.rng.choice((-1.0, 1.0)))
    sets = [(0.0, asker.some(asker.n))]
    asker.ask(Query("sum", sets[0][1]))
    while sets:
        _, whole = sets.pop(int(np.argmin([average for average, _ in sets])))
        for size in range(1, len(whole) // 2 + 1):
            average = asker.ask(Query("average", whole[:size]))
            rest = asker.ask(Query("average", whole[size:])) if average is not None else None
            if average is not None and rest is not None:
                sets += [(sign * average, whole[:size]), (sign * rest, whole[size:])]
                break


def doubling(asker: Asker, most: float, bundle: int) -> tuple[int, int] | None:
    """Read two people by weights of 1 and -1 alone: M x + (M + 1) y follows from sums in which nobody stands out.

    Sums of bundles of others are made to be x + y, its double, and so on, but for what is known; the last is M (x + y).
    Any Gaussian thinks that x and y keep .7 of their spread; M beyond the largest whole number tells both.
    """
    steps = int(np.ceil(np.log2(most + 1.0)))
    if 2 + (2 * steps + 1) * bundle > asker.n:
        return None
    free = iter(range(2, asker.n))

    def others() -> list[int]:
        return [next(free) for _ in range(bundle)]

    last = others()
    told = [asker.ask(signed((0, 1), last))]
    for _ in range(steps):
        twin, double = others(), others()
        told += [asker.ask(signed(last, twin)), asker.ask(signed(double, last + twin))]
        last = double
    told.append(asker.ask(signed([1, *last])))
    if None in told:
        return None
    aside = -told[0]
    for same, twice in zip(told[1:-1:2], told[2:-1:2], strict=True):
        aside = 2 * aside - same + twice
    both, y = divmod(round(told[-1] - aside), 2**steps)
    return both - y, y


def with_oneself(asker: Asker, own: int) -> None:
    """Oneself and one other, and growing sets around oneself."""
    for size in (1, 2, 4, 7, 11, 16, 24):
        others = [record for record in asker.some(size + 1) if record != own][:size]
        asker.ask(Query("sum", (own, *others)))


def with_known(asker: Asker, known: list[int]) -> None:
    """A few unknown people among many known ones."""
    for size in (1, 2, 4, 8) if known else ():
        asker.ask(Query("sum", sorted({*known, *asker.some(size)})))


def everything(asker: Asker, most: float, known: list[int], own: int) -> None:
    """Ask in all ways, in any order: whoever comes first uses up what the others could have been answered."""
    ways = [
        lambda: weights(asker, most),
        lambda: near_dependence(asker),
        lambda: few(asker),
        lambda: any_sets(asker),
        lambda: parts(asker),
        lambda: doubling(asker, most, 2),
        lambda: with_oneself(asker, own),
        lambda: with_known(asker, known),
    ]
    for way in asker.rng.permutation(len(ways)):
        ways[way]()


# what they conclude


@dataclass(frozen=True)
class Told:
    """All answers about the records that an attacker does not know."""

    rows: np.ndarray
    totals: np.ndarray
    records: np.ndarray

    @classmethod
    def by(cls, asker: Asker, values: np.ndarray, known: Iterable[int]) -> Told:
        """Take what the attacker knows out of all sums."""
        rows, totals = asker.rows
        inside = np.array(sorted(set(known)), dtype=np.int64)
        others = np.setdiff1d(np.arange(asker.n), inside)
        return cls(rows[:, others], totals - rows[:, inside] @ values[inside], others)


def spreads_left(told: Told) -> np.ndarray:
    """Return by least squares what share of a Gaussian's standard deviation each record keeps."""
    if not len(told.rows):
        return np.ones(len(told.records))
    _, sizes, ways = np.linalg.svd(told.rows, full_matrices=False)
    ways = ways[sizes > 1e-9 * sizes[0]]
    return np.sqrt(np.maximum(1.0 - (ways**2).sum(axis=0), 0.0))


def _least(cost: np.ndarray, limits: list[LinearConstraint], whole: bool, low: float, high: float) -> float:
    """Return the least cost by an integer programme, or what is proved of it by then: then the attacker knows less."""
    done = milp(
        cost,
        constraints=limits,
        integrality=np.full(len(cost), int(whole)),
        bounds=Bounds(low, high),
        options={"node_limit": 300},
    )
    assert done.status in (0, 1), done.message
    return float(done.fun if done.status == 0 else done.mip_dual_bound)


def possible_ends(told: Told, low: float, high: float, whole: bool, targets: Iterable[int]) -> Iterator[float]:
    """Return by integer programmes how far apart the least and the largest value of each target can be."""
    n = len(told.records)
    slack = 0.0 if whole else 1e-9 * max(abs(low), abs(high)) * n
    limits = [LinearConstraint(told.rows, told.totals - slack, told.totals + slack)] if len(told.rows) else []
    for target in targets:
        cost = np.zeros(n)
        cost[target] = 1.0
        yield -_least(-cost, limits, whole, low, high) - _least(cost, limits, whole, low, high)


def possible_by_margin(told: Told, values: np.ndarray, targets: Iterable[int]) -> Iterator[float]:
    """Return the same for somebody who knows all values of the column, and lacks only who holds which."""
    kinds, counts = np.unique(values[told.records], return_counts=True)
    n, m = len(told.records), len(kinds)
    one_each = np.kron(np.eye(n), np.ones(m))
    as_often = np.kron(np.ones(n), np.eye(m))
    limits = [LinearConstraint(one_each, 1, 1), LinearConstraint(as_often, counts, counts)]
    if len(told.rows):
        limits.append(LinearConstraint(np.kron(told.rows, kinds), told.totals - 1e-6, told.totals + 1e-6))
    for target in targets:
        cost = np.zeros(n * m)
        cost[target * m : (target + 1) * m] = kinds
        yield -_least(-cost, limits, True, 0, 1) - _least(cost, limits, True, 0, 1)


def certain_by_solver(told: Told) -> list[int]:
    """Return by SAT the places of the records of a 0/1 column that can have one value only."""
    from pysat.solvers import Solver

    with Solver(name="minicard") as solver:
        for row, total in zip(told.rows, told.totals.tolist(), strict=True):
            # a difference counts those who are subtracted by who is 0
            true = [int(place + 1) * int(row[place]) for place in np.flatnonzero(row)]
            count = round(total) + int((row < 0).sum())
            solver.add_atmost(true, count)
            solver.add_atmost([-literal for literal in true], len(true) - count)

        def possible(assumed: list[int]) -> bool:
            """Return whether there is such a table; if that takes long, nobody knows that there is none."""
            solver.conf_budget(2000)
            return solver.solve_limited(assumptions=assumed) is not False

        assert possible([])
        places = range(1, len(told.records) + 1)
        return [place - 1 for place in places if not (possible([place]) and possible([-place]))]


# sessions


def some_column(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return a column of any kind: wages, decimals, floats, gains that are mostly 0, a few values, 0/1."""
    kinds = [
        lambda: rng.integers(1000, 9001, n),
        lambda: np.exp(rng.normal(8, 0.6, n)).round(2),
        lambda: rng.normal(0, 1, n),
        lambda: np.where(rng.random(n) < 0.6, 0, rng.integers(1, 10_000, n)),
        lambda: rng.choice(5, n, p=(0.1, 0.2, 0.4, 0.2, 0.1)),
        lambda: rng.random(n) < rng.choice((0.5, 0.4, 0.3)),
        lambda: rng.integers(0, 21, n),
    ]
    return np.asarray(kinds[rng.integers(len(kinds))](), dtype=np.float64)


@dataclass(frozen=True)
class Reading:
    """What all attackers together made of one session."""

    n_answered: int
    n_asked: int
    read: dict[str, int]
    """How many people each way reads to within the promised width."""
    moved: int
    """Answers and refusals that changed when the values inside each group were exchanged."""


def session(seed: int, n_targets: int = 12) -> Reading | None:
    """Attack one service in all ways; None if the service does not open for such a column."""
    rng = np.random.default_rng(seed)
    n, spread = int(rng.integers(40, 401)), float(rng.choice((0.3, 0.5, 0.7, 0.9)))
    values = some_column(rng, n)
    known = sorted(rng.choice(n, int(n * rng.choice((0.0, 0.05, 0.2))), replace=False).tolist())
    own = int(rng.choice(np.setdiff1d(np.arange(n), known)))
    ends = float(values.min()), float(values.max())

    def opened(column: np.ndarray) -> Answering:
        return Answering(column, SpreadRefusals(n, spread, known=tuple(known)), ends)

    try:
        service = opened(values)
    except sr.InputError:
        return None
    asker = Asker(service, n, rng)
    everything(asker, ends[1] - ends[0], known, own)
    told, width = Told.by(asker, values, [*known, own]), spread * float(values.std())
    whole = bool((values == np.rint(values)).all())
    of_group = np.bincount(service.groups)[service.groups[told.records]]
    targets = np.argsort(of_group, kind="stable")[:n_targets].tolist()  # the smallest groups
    ways = {
        "least squares": int((spreads_left(told) < spread).sum()),
        "integers": sum(left <= width for left in possible_ends(told, *ends, whole, targets)),
        "values of groups": len(service.exposed_records),
    }
    if len(np.unique(values)) == 2:
        ways["solver"] = len(certain_by_solver(told))
    if len(np.unique(values)) <= 5 and n <= 80:
        ways["margin"] = sum(left <= width for left in possible_by_margin(told, values, targets[:2]))
    dealt = values.copy()
    for group in np.unique(service.groups):
        places = np.setdiff1d(np.flatnonzero(service.groups == group), known)
        dealt[places] = rng.permutation(dealt[places])
    again = opened(dealt)
    moved = sum(again.ask(query) != said for query, said in zip(asker.asked, asker.said, strict=True))
    return Reading(len(asker.answered), len(asker.asked), ways, moved)
