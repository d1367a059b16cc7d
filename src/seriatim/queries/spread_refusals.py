"""Refuse by who was asked about, never by who holds what: the rule of an answering service.

Records that every answer so far counts alike form a group. Exchanging their values changes no answer, so answers tell
at most which values a group holds, also to somebody who knows that values are whole numbers, or few. A query that
would leave too small a group is refused. How small is too small follows from the column's margin (which values, how
often): values of a group, drawn from it at random, must not lie near each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.queries.query_kinds import FloatArray, LongArray, Query

_SLIP = 1e-4
"""The chance, over the life of a service, that values dealt at random lie near each other in some group."""


@dataclass(frozen=True, slots=True)
class SpreadRefusals:
    """Nobody is read to within ``spread`` of the column's standard deviation; see ``least_group``."""

    n: int
    spread: float = 0.7
    least_records: int = 2
    """Unknown records in a group, if the column itself does not demand more."""
    known: tuple[int, ...] = ()
    """Records whose values those who ask may know: partners, staff, whoever pools with them. They hide nobody."""

    def __post_init__(self) -> None:
        if not 0.0 < self.spread < 1.0:
            raise InputError(Fault("spread", f"{self.spread:g}", "above 0 and below 1"))
        if self.n < 1 or self.least_records < 1:
            raise InputError(Fault("refusals", "n or least_records below 1", "whole numbers from 1"))
        if np.size(self.known):
            known = tuple(sorted(Query("sum", self.known).records))
            if known[-1] >= self.n:
                raise InputError(Fault("known", "a record beyond the last", f"positions below {self.n}"))
            object.__setattr__(self, "known", known)

    @property
    def terms(self) -> dict[str, Any]:
        """Return the rule as a book records it."""
        return {
            "rule": "groups",
            "spread": float(self.spread),
            "least_records": self.least_records,
            "known": list(self.known),
        }

    @property
    def unknown(self) -> LongArray:
        """Return the positions of the records whose values nobody who asks may know."""
        return np.setdiff1d(np.arange(self.n), np.array(self.known, dtype=np.int64))

    def least_group(self, values: FloatArray) -> int:
        """Return how many unknown records a group must have at least.

        If values are dealt at random, the chance is at most 1 in 10,000, over all groups that ever come about, that the
        values of a group, without one member's (whoever asks knows their own), lie within ``spread`` standard
        deviations. Also a straight line through all answers errs by ``spread`` of them.
        """
        column = np.sort(values[self.unknown])
        width = self.spread * float(np.sort(values).std())
        near = np.searchsorted(column, column + width, side="right") - np.arange(len(column)) - 1
        logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, len(column) + 1)))))

        def is_enough(size: int) -> bool:
            """Count the sets of one record less that lie near each other by their least value, of all such sets."""
            able = near[near >= size - 2]
            sets = logs[able] - logs[able - size + 2] - logs[size - 2]
            every = logs[-1] - logs[len(column) - size + 1] - logs[size - 1]
            return len(column) * size * float(np.exp(sets - every).sum()) <= _SLIP

        low = max(self.least_records, 1 + math.ceil(1 / (1 - self.spread**2) - 1e-9))
        high = len(column)
        if low > high or not is_enough(high):
            allowed = "a column whose values differ among more people"
            raise InputError(
                Fault("values", "too alike, or too few, to answer about", allowed, "publish a table of it")
            )
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
        return high


def finer_groups(groups: LongArray, query: Query) -> LongArray:
    """Return the group of each record once a query is answered: those it counts differently part."""
    _, counted = np.unique(query.row(len(groups)), return_inverse=True)
    _, found = np.unique(groups * (int(counted.max()) + 1) + counted, return_inverse=True)
    return np.asarray(found, dtype=np.int64)


def terms_in_words(terms: Mapping[str, Any]) -> str:
    """Return a rule of a book as a line; records that are known are counted."""
    return ", ".join(f"{name} {len(value) if name == 'known' else value}" for name, value in terms.items())
