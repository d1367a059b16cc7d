"""What all answers together reveal: the least and the largest value that each record can have.

Three ways, which agree where they overlap. Sums of chained ranges, each half over the one before, have one free number,
so their bounds have a closed form (Alfalayleh and Brankovic's query restriction; their two linear programmes per record
are not needed). Sums of any ranges are differences of prefix sums, so the bounds are shortest paths. Anything else is a
linear programme (HiGHS). MAX and MIN over a set bound each of its records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.queries.query_kinds import FloatArray, Query, checked_queries

Way = Literal["closed form", "paths", "programme"]
_TIE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Each record's value lies between ``low`` and ``high``."""

    low: FloatArray
    high: FloatArray
    way: Way
    blur: float = 0.0
    """The width that rounding alone may leave."""

    @property
    def width(self) -> FloatArray:
        return self.high - self.low

    @property
    def exact_share(self) -> float:
        """Return the share of records whose value is known exactly."""
        scale = max(float(np.abs(self.high).max(initial=0.0)), 1.0)
        return float((self.width <= max(_TIE * scale, self.blur)).mean())

    def candidates(self, domain: FloatArray) -> FloatArray:
        """Return for each record a distribution, uniform over the values of the domain within its bounds."""
        slack = _TIE * max(float(np.abs(domain).max(initial=0.0)), 1.0)
        inside = (domain >= self.low[:, None] - slack) & (domain <= self.high[:, None] + slack)
        return np.asarray(inside / np.maximum(inside.sum(axis=1, keepdims=True), 1))


def bounds(
    queries: Sequence[Query],
    answers: Sequence[float],
    *,
    n: int,
    domain: tuple[float, float],
    way: Way | None = None,
) -> Bounds:
    """Return every record's bounds, given all answers; values lie within the domain. The way is found by itself."""
    if len(queries) != len(answers):
        raise InputError(Fault("answers", f"{len(answers)} to {len(queries)} queries", "one to each"))
    if not domain[0] <= domain[1]:
        raise InputError(Fault("domain", "its end is below its start", "the least and the largest value"))
    checked_queries(queries, n)
    low, high = np.full(n, float(domain[0])), np.full(n, float(domain[1]))
    for query, answer in zip(queries, answers, strict=True):
        records = list(query.records)
        if query.kind == "max":
            high[records] = np.minimum(high[records], answer)
        elif query.kind == "min":
            low[records] = np.maximum(low[records], answer)
    sums = [(query, query.total(answer)) for query, answer in zip(queries, answers, strict=True) if query.is_sum]
    return _by(way, [query for query, _ in sums], np.array([total for _, total in sums]), low, high)


def _by(way: Way | None, queries: list[Query], totals: FloatArray, low: FloatArray, high: FloatArray) -> Bounds:
    half = _chain_half(queries)
    plain = len(set(low.tolist())) <= 1 and len(set(high.tolist())) <= 1
    if way == "closed form" and not (half and plain):
        raise InputError(Fault("way", "closed form for other queries", "chained sums of equal size, from the first"))
    if way == "paths" and any(query.span is None for query in queries):
        raise InputError(Fault("way", "paths for sums that are no ranges", "sums of neighbouring records"))
    if half and plain and way in (None, "closed form"):
        return chained_bounds(totals, half, len(low), (float(low[0]), float(high[0])))
    if way == "paths" or (way is None and all(query.span is not None for query in queries)):
        from seriatim.queries.range_bounds import range_bounds

        least, most, blur = range_bounds([query.span or (0, 0) for query in queries], totals, low, high)
        return Bounds(least, most, "paths", blur)
    from seriatim.queries.linear_bounds import linear_bounds

    return Bounds(*linear_bounds(queries, totals, low, high), "programme")


def _chain_half(queries: list[Query]) -> int:
    """Return half the size of chained queries, each shifted by it against the one before; 0 if they are not such."""
    spans = [query.span for query in queries]
    if not spans or spans[0] is None or spans[0][0] != 0 or spans[0][1] % 2:
        return 0
    half = spans[0][1] // 2
    return half if all(span == (t * half, (t + 2) * half) for t, span in enumerate(spans)) else 0


def chained_bounds(totals: FloatArray, half: int, n: int, domain: tuple[float, float]) -> Bounds:
    """Return the bounds of chained sums: query t is over records ``t * half`` to ``(t + 2) * half``.

    Block t, ``half`` records long, sums to c_t + (-1)^t d with one d for all: c_0 = 0 and c_{t+1} = total_t - c_t. What
    no block holds is free.
    """
    least, most = domain
    sign = np.where(np.arange(len(totals) + 1) % 2 == 0, 1.0, -1.0)
    c = sign * np.concatenate(([0.0], np.cumsum(sign[1:] * totals)))
    first = np.where(sign > 0, half * least - c, c - half * most)
    last = np.where(sign > 0, half * most - c, c - half * least)
    d_low, d_high = float(first.max()), float(last.min())
    if d_low > d_high + _TIE * max(abs(d_low), 1.0):
        raise contradiction_of_query_bounds()
    d_low, d_high = min(d_low, d_high), max(d_low, d_high)
    block_low = np.where(sign > 0, c + d_low, c - d_high)
    block_high = np.where(sign > 0, c + d_high, c - d_low)
    low, high = np.full(n, least), np.full(n, most)
    held = len(c) * half
    low[:held] = np.repeat(np.maximum(least, block_low - (half - 1) * most), half)
    high[:held] = np.repeat(np.minimum(most, block_high - (half - 1) * least), half)
    return Bounds(low, high, "closed form")


def contradiction_of_query_bounds() -> InputError:
    """Return the error of answers that no table has."""
    return InputError(Fault("answers", "no table within the domain has them all", "answers from one table"))
