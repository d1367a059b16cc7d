"""Refuse by trying: tables are drawn from the declared prior given past answers, and the query is tried on each.

Probabilistic simulatable auditing. An attacker could do the same, so a refusal tells nothing. A chance of a slip per
query is no promise per history: therefore ``delta`` is a budget over a declared number of queries. The random walk
starts from the answers alone (the point farthest from the borders of what they allow), never from the true table. If an
answer does make a record's bounds too narrow, the record is named to the officer and closed: no further query about it
is answered, and the others go on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.model.chance import open_chance
from seriatim.queries.query_bounds import Bounds, bounds
from seriatim.queries.query_kinds import FloatArray, Query

_STEPS = 30


@dataclass(slots=True, eq=False)
class SampledRefusals:
    """Every record's bounds stay at least ``width`` of the domain wide, but for a chance of ``delta`` in all."""

    n: int
    domain: tuple[float, float]
    queries: int
    """How many answers delta is spent on; then all is refused."""
    width: float = 0.1
    delta: float = 0.1
    seed: int = 1
    draws: int = 40
    least_records: int = 2
    _asked: list[Query] = field(default_factory=list, repr=False)
    _answers: list[float] = field(default_factory=list, repr=False)
    _closed: set[int] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        if not (0.0 < self.delta < 1.0 and 0.0 < self.width < 1.0 and self.queries >= 1):
            raise InputError(
                Fault("refusals", "delta, width or queries out of range", "delta and width between 0 and 1")
            )
        if self.n < 1 or self.draws < 1 or self.least_records < 1:
            raise InputError(Fault("refusals", "n, draws or least_records below 1", "whole numbers from 1"))
        if not (np.isfinite(self.domain).all() and self.domain[0] < self.domain[1]):
            raise InputError(Fault("domain", "not two numbers in rising order", "the least and the largest value"))

    @property
    def closed(self) -> tuple[int, ...]:
        """Return the records that no query may touch any more: for the officer."""
        return tuple(sorted(self._closed))

    def reason(self, query: Query) -> str:
        """Return why a query is refused; empty if it may be answered."""
        if not query.is_sum or len(query.records) < self.least_records:
            return f"only sums of {self.least_records} records or more are answered"
        if len(self._asked) >= self.queries:
            return "the declared number of queries has been answered"
        if not self._closed.isdisjoint(query.records):
            return "it asks about a closed record"
        chance = open_chance(self.seed, f"query/{len(self._asked)}")
        slips = sum(self._slips(query, query.answer(table)) for table in self._tables(chance))
        return "too likely to tell too much" if slips > self.delta / self.queries * self.draws else ""

    def answered(self, query: Query, answer: float) -> tuple[int, ...]:
        """Take note of an answer; return the records that it closes."""
        self._asked.append(query)
        self._answers.append(answer)
        narrow = set(np.flatnonzero(self._too_narrow(self._bounds([], []))).tolist()) - self._closed
        self._closed |= narrow
        return tuple(sorted(narrow))

    def _bounds(self, queries: list[Query], answers: list[float]) -> Bounds:
        return bounds([*self._asked, *queries], [*self._answers, *answers], n=self.n, domain=self.domain)

    def _slips(self, query: Query, answer: float) -> bool:
        narrow = self._too_narrow(self._bounds([query], [answer]))
        narrow[list(self._closed)] = False
        return bool(narrow.any())

    def _too_narrow(self, found: Bounds) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        return np.asarray(found.width < self.width * (self.domain[1] - self.domain[0]) - 1e-9)

    def _tables(self, chance: np.random.Generator) -> list[FloatArray]:
        """Draw tables that give the answers so far: uniform on the domain, by hit and run."""
        low, high = self.domain
        if not self._asked:
            return list(chance.uniform(low, high, (self.draws, self.n)))
        matrix = np.stack([query.row(self.n) for query in self._asked])
        totals = np.array([query.total(a) for query, a in zip(self._asked, self._answers, strict=True)])
        basis = np.linalg.qr(matrix.T)[0] if len(matrix) else np.zeros((self.n, 0))
        at, found = self._centre(matrix, totals), []
        for step in range(self.draws * _STEPS):
            way = chance.normal(size=self.n)
            way -= basis @ (basis.T @ way)
            with np.errstate(divide="ignore", invalid="ignore"):
                ends = np.stack(((low - at) / way, (high - at) / way))
            ends = ends[:, np.abs(way) > 1e-12]
            if ends.size:
                first, last = float(ends.min(axis=0).max()), float(ends.max(axis=0).min())
                at = np.clip(at + way * chance.uniform(min(first, 0.0), max(last, 0.0)), low, high)
            if step % _STEPS == _STEPS - 1:
                found.append(at.copy())
        return found

    def _centre(self, matrix: FloatArray, totals: FloatArray) -> FloatArray:
        """Return the point farthest from the borders of the domain, given the answers alone."""
        from scipy.optimize import linprog

        low, high = self.domain
        cost = np.append(np.zeros(self.n), -1.0)
        beside = np.block([[-np.eye(self.n), np.ones((self.n, 1))], [np.eye(self.n), np.ones((self.n, 1))]])
        limits = np.append(np.full(self.n, -low), np.full(self.n, high))
        sums = np.column_stack((matrix, np.zeros(len(matrix))))
        done = linprog(cost, A_ub=beside, b_ub=limits, A_eq=sums, b_eq=totals, bounds=(None, None), method="highs")
        return np.asarray(done.x[:-1]) if done.status == 0 else np.full(self.n, (low + high) / 2)
