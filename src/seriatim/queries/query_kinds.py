"""A question about some records of an ordered table: their sum, weighted or not, average, largest or smallest value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim.model.policy_keys import LARGEST_WORD

LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Kind = Literal["sum", "average", "max", "min"]
_ROUNDED = 1e-9
_ULPS = 8
KINDS = ("sum", "average", "max", "min")


@dataclass(frozen=True, slots=True)
class Query:
    """Records are positions in the table, from 0; a range is ``range(first, last)``."""

    kind: Kind
    records: tuple[int, ...] | range
    weights: tuple[float, ...] | None = None
    """Of a sum: what each record counts, as in 2 a - b; 1 if omitted."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(Fault("query", "an unknown kind", ", ".join(KINDS)))
        if not isinstance(self.records, range):
            object.__setattr__(self, "records", _positions(self.records))
        twice = not isinstance(self.records, range) and len(set(self.records)) < len(self.records)
        if not len(self.records) or twice or self._ends[0] < 0:
            raise InputError(Fault("query", "empty, repeated or negative record positions", "positions from 0"))
        if self.weights is not None:
            object.__setattr__(self, "weights", _weights(self.kind, self.weights, len(self.records)))

    @classmethod
    def between(cls, kind: Kind, keys: Any, low: Any, high: Any) -> Query:
        """Return the query about all records whose key lies from ``low`` to ``high``, ends and ties included.

        ``keys`` is the column by which the table is ordered, rising; never the confidential one.
        """
        column = np.asarray(keys)
        try:
            falls = column.ndim != 1 or bool((column[1:] < column[:-1]).any())
            first = 0 if falls else int(np.searchsorted(column, low, side="left"))
            last = 0 if falls else int(np.searchsorted(column, high, side="right"))
        except TypeError:
            raise InputError(Fault("keys, low, high", "cannot be compared", "a column, and two of its keys")) from None
        if falls:
            raise InputError(Fault("keys", "not in rising order", "the column by which the table is ordered"))
        if first >= last:
            raise InputError(Fault("query", "no records between these keys", "a wider range"))
        return cls(kind, range(first, last))

    @property
    def is_sum(self) -> bool:
        """Return whether it is a linear query."""
        return self.kind in ("sum", "average")

    @property
    def span(self) -> tuple[int, int] | None:
        """Return first and last (exclusive) if the records are neighbours and count alike."""
        if self.weights is not None:
            return None
        first, last = self._ends
        return (first, last + 1) if last + 1 - first == len(self.records) else None

    @property
    def _ends(self) -> tuple[int, int]:
        """Return the first and the last record; those of a range are at its ends."""
        some = (self.records[0], self.records[-1]) if isinstance(self.records, range) else self.records
        return min(some), max(some)

    @property
    def _places(self) -> LongArray:
        """Return the records as an index; a range is not written out one by one."""
        asked = self.records
        return np.arange(asked.start, asked.stop, asked.step) if isinstance(asked, range) else np.array(asked)

    def total(self, answer: float) -> float:
        """Return an answer as a sum."""
        return answer * len(self.records) if self.kind == "average" else answer

    def row(self, n: int) -> FloatArray:
        """Return what each record counts: 0 if it is not asked about, else 1 or its weight."""
        if not self._ends[1] < n <= LARGEST_WORD:
            raise InputError(Fault("n", f"{n} records", f"from {self._ends[1] + 1}: the query asks about so many"))
        found = np.zeros(n)
        found[self._places] = self.counted
        return found

    @property
    def counted(self) -> FloatArray:
        """Return what each of the records counts."""
        return np.ones(len(self.records)) if self.weights is None else np.array(self.weights)

    def answer(self, values: FloatArray) -> float:
        """Return the true answer."""
        if values.ndim != 1 or len(values) <= self._ends[1]:
            raise InputError(Fault("values", "fewer than the query asks about", "one for each record"))
        chosen = values[self._places]
        if self.kind == "sum":
            return float((chosen * self.counted).sum())
        if self.kind == "average":
            return float(chosen.mean())
        return float(chosen.max() if self.kind == "max" else chosen.min())


def _positions(records: Any) -> tuple[int, ...]:
    try:
        return tuple(index(record) for record in records)
    except TypeError:
        raise InputError(Fault("query", "records that are not whole numbers", "positions from 0")) from None


def _weights(kind: Kind, weights: Any, n: int) -> tuple[float, ...] | None:
    """Return the weights of a sum as numbers; None if all are 1."""
    try:
        found = tuple(float(weight) for weight in weights)
    except (TypeError, ValueError):
        found = ()
    if kind != "sum" or len(found) != n or not np.isfinite(found).all() or 0.0 in found:
        allowed = "for a sum: a number other than 0 for each record"
        raise InputError(Fault("query", "weights that do not fit", allowed))
    return None if set(found) == {1.0} else found


def rounding_width(low: float, high: float) -> float:
    """Return the width that rounding alone may leave to a number between two ends."""
    return _ROUNDED * (high - low) + _ULPS * float(np.spacing(max(abs(low), abs(high))))


def check_records(queries: Sequence[Query], n: int) -> None:
    """Raise an error if a query asks about a record that is not there."""
    beyond = sum(max(query.records) >= n for query in queries)
    if beyond:
        raise InputError(Fault("queries", f"{beyond} ask about records beyond the last", f"positions below {n}"))
