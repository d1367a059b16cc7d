"""Refuse by who was asked about, never by what the values are: the default rule of an answering service.

A refusal that looked at the hidden values would be an answer. Under a Gaussian prior, what a set of sums leaves open
about a record has a closed form that no value enters: its posterior variance is the prior's times one minus the squared
length of the record's projection on the queries answered so far. So nobody is determined (the rank rule), and everyone
keeps a share of their spread. On skewed columns the Gaussian is a proxy.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.queries.query_kinds import FloatArray, Query

_NOTHING_NEW = 1e-9


@dataclass(slots=True, eq=False)
class SpreadRefusals:
    """Everyone keeps at least ``spread`` of the prior's standard deviation; sums over fewer records are refused."""

    n: int
    spread: float = 0.7
    least_records: int = 2
    _: KW_ONLY
    _basis: FloatArray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    """A row for each answer that added something, with room for more."""
    _told: int = field(default=0, repr=False)
    _known: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False)

    def __post_init__(self) -> None:
        if not 0.0 < self.spread <= 1.0:
            raise InputError(Fault("spread", f"{self.spread:g}", "above 0 and up to 1"))
        if self.n < 1 or self.least_records < 1:
            raise InputError(Fault("refusals", "n or least_records below 1", "whole numbers from 1"))
        self._known, self._basis = np.zeros(self.n), np.zeros((4, self.n))

    @property
    def terms(self) -> dict[str, Any]:
        """Return the rule as a book records it."""
        return {"rule": "spread", "spread": float(self.spread), "least_records": self.least_records}

    def reason(self, query: Query) -> str:
        """Return why a query is refused; empty if it may be answered."""
        if not query.is_sum:
            return "only sums and averages are answered"
        if len(query.records) < self.least_records:
            return f"fewer than {self.least_records} records"
        new = self._direction(query)
        if new is None:
            return ""
        left = 1.0 - self._known - new**2
        return "it would reveal too much about a record" if (left < self.spread**2 - _NOTHING_NEW).any() else ""

    def answered(self, query: Query, answer: float) -> tuple[int, ...]:  # noqa: ARG002 - the values do not matter
        """Take note of an answer; nobody is ever closed."""
        new = self._direction(query)
        if new is not None:
            if self._told == len(self._basis):
                self._basis = np.concatenate((self._basis, np.zeros_like(self._basis)))
            self._basis[self._told] = new
            self._told += 1
            self._known = self._known + new**2
        return ()

    @property
    def spread_left(self) -> FloatArray:
        """Return each record's posterior standard deviation, as a share of the prior's."""
        return np.asarray(np.sqrt(np.maximum(1.0 - self._known, 0.0)))

    def _direction(self, query: Query) -> FloatArray | None:
        """Return what a query adds to those answered, as a unit vector; None if its answer follows from them."""
        rest = query.row(self.n)
        size = float(np.linalg.norm(rest))
        known = self._basis[: self._told]
        for _ in range(2):  # twice, so that rounding errors do not add up
            rest = rest - (known @ rest) @ known
        length = float(np.linalg.norm(rest))
        return rest / length if length > _NOTHING_NEW * size else None
