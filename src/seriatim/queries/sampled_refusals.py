"""Refuse by trying: tables are drawn from the declared prior given past answers, and the query is tried on each.

Probabilistic simulatable auditing. An attacker could do the same, so a refusal reveals nothing. A chance of a slip per
query is no promise per history: therefore ``delta`` is a budget over a declared number of queries. The random walk
starts from the answers alone (the point farthest from the borders of what they allow), never from the true table. If an
answer does make a record's bounds too narrow, the record is named to the officer and closed: no further query about it
is answered, and the others go on.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.model.chance import open_chance
from seriatim.queries.hit_and_run import checked_prior, hit_and_run, prior_draws
from seriatim.queries.query_bounds import bounds
from seriatim.queries.query_kinds import FloatArray, Query
from seriatim.queries.range_bounds import range_bound_paths

_STEPS = 30
"""Steps of the random walk from one table to the next."""
_FEW = 40
"""Tables that a query is tried on if not all are ranges, by linear programmes: none may slip."""
_WALKS = 32
_BEGINNING = 20 * _STEPS
"""Steps of every walk, which begins in the middle, before its first table."""


@dataclass(slots=True, eq=False)
class SampledRefusals:
    """Every record's bounds stay at least ``width`` of the domain wide, but for a chance of ``delta`` in all."""

    n: int
    domain: tuple[float, float]
    queries: int
    """How many answers delta is spent on; then all is refused."""
    _: KW_ONLY
    width: float = 0.1
    delta: float = 0.1
    seed: int = 1
    draws: int | None = None
    """Tables drawn for a query; if omitted, as many as it takes to tell a chance of delta / queries."""
    least_records: int = 2
    prior: tuple[float, ...] | None = None
    """What is believed of every record beforehand: chances of equal parts of the domain, from the least; even if
    omitted."""
    _n_draws: int = field(default=0, repr=False)
    _asked: list[Query] = field(default_factory=list, repr=False)
    _answers: list[float] = field(default_factory=list, repr=False)
    _closed: set[int] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        if not (0.0 < self.delta < 1.0 and 0.0 < self.width < 1.0 and self.queries >= 1):
            raise InputError(
                Fault("refusals", "delta, width or queries out of range", "delta and width between 0 and 1")
            )
        self._n_draws = math.ceil(2 * self.queries / self.delta) if self.draws is None else self.draws
        if self.n < 1 or self._n_draws < 1 or self.least_records < 1:
            raise InputError(Fault("refusals", "n, draws or least_records below 1", "whole numbers from 1"))
        if not (np.isfinite(self.domain).all() and self.domain[0] < self.domain[1]):
            raise InputError(Fault("domain", "not two numbers in rising order", "the least and the largest value"))
        if self.prior is not None:
            self.prior = checked_prior(self.prior)

    @property
    def terms(self) -> dict[str, Any]:
        """Return the rule as a book records it."""
        return {
            "rule": "sampled",
            "domain": [float(end) for end in self.domain],
            "queries": self.queries,
            "width": float(self.width),
            "delta": float(self.delta),
            "least_records": self.least_records,
            "draws": self._n_draws,
            "seed": self.seed,
            "prior": None if self.prior is None else list(self.prior),
        }

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
        slips = self._slips(query, self._tables(chance))
        # (slips + 1) / (draws + 2) is the chance to expect after so many slips, and within delta / queries
        allowed = self.delta / self.queries * (self._n_draws + 2) - 1
        return "the answer is too likely to reveal too much" if slips > max(allowed, 0.0) else ""

    def answered(self, query: Query, answer: float) -> tuple[int, ...]:
        """Take note of an answer; return the records that it closes."""
        self._asked.append(query)
        self._answers.append(answer)
        found = bounds(self._asked, self._answers, n=self.n, domain=self.domain)
        narrow = set(np.flatnonzero(self._too_narrow(found.width)).tolist()) - self._closed
        self._closed |= narrow
        return tuple(sorted(narrow))

    def _slips(self, query: Query, tables: FloatArray) -> int:
        """Return in how many of the tables the answer would make the bounds of an open record too narrow.

        Sets that are not ranges need programmes: they are tried on a few tables, and one slip counts as all.
        """
        spans = [asked.span for asked in (*self._asked, query)]
        totals = tables @ query.row(self.n)
        closed = list(self._closed)
        if None in spans:
            few = (self._slips_by_programme(query, float(total), closed) for total in totals[:_FEW])
            return len(tables) if any(few) else 0
        before = np.array([asked.total(a) for asked, a in zip(self._asked, self._answers, strict=True)])
        low, high = np.full(self.n, self.domain[0] * 1.0), np.full(self.n, self.domain[1] * 1.0)
        own = spans[-1] or (0, self.n)
        found = range_bound_paths([span for span in spans[:-1] if span], before, low, high, own)
        narrow = np.repeat(self._too_narrow(found.widths_after(own, totals)), np.diff(found.nodes), axis=1)
        narrow[:, closed] = False
        return int(narrow.any(axis=1).sum())

    def _slips_by_programme(self, query: Query, total: float, closed: list[int]) -> bool:
        asked, told = [*self._asked, Query("sum", query.records, query.weights)], [*self._answers, total]
        narrow = self._too_narrow(bounds(asked, told, n=self.n, domain=self.domain).width)
        narrow[closed] = False
        return bool(narrow.any())

    def _too_narrow(self, width: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        return np.asarray(width < self.width * (self.domain[1] - self.domain[0]) * (1 - 1e-9))

    def _tables(self, chance: np.random.Generator) -> FloatArray:
        """Draw tables from the prior that give the answers so far: by hit and run, several walks at once."""
        if not self._asked:
            return prior_draws(self.prior, self.domain, chance, (self._n_draws, self.n))
        matrix = np.stack([query.row(self.n) for query in self._asked])
        totals = np.array([query.total(a) for query, a in zip(self._asked, self._answers, strict=True)])
        basis = np.linalg.svd(matrix, full_matrices=False)
        open_ways = basis[2][basis[1] > 1e-9 * basis[1][0]]  # of the answers; a walk goes along none of them
        walks = min(_WALKS, self._n_draws)
        at = np.tile(self._centre(matrix, totals), (walks, 1))
        found: list[FloatArray] = []
        for step in range(_BEGINNING + math.ceil(self._n_draws / walks) * _STEPS):
            way = chance.normal(size=at.shape)
            way -= (way @ open_ways.T) @ open_ways
            at = hit_and_run(at, way, self.domain, self.prior, chance.random((walks, 1)))
            if step >= _BEGINNING and step % _STEPS == _STEPS - 1:
                found.append(at)
        return np.concatenate(found)[: self._n_draws]

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
