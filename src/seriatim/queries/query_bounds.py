"""What all answers together reveal: the least and the largest value that each record can have.

Three ways, which agree where they overlap. Sums of chained ranges, each half over the one before, have one free number,
so their bounds have a closed form (Alfalayleh and Brankovic's query restriction; their two linear programmes per record
are not needed). Sums of any ranges are differences of prefix sums, so the bounds are shortest paths. Anything else is a
linear programme (HiGHS). MAX and MIN over a set bound each of its records, and if only one of them can still reach the
answer, that one has it: overlapping sets disclose people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim.model.doors import whole_argument
from seriatim.queries.query_kinds import FloatArray, Query, check_records, rounding_width

Way = Literal["closed form", "paths", "programme"]


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Each record's value lies between ``low`` and ``high``."""

    low: FloatArray
    high: FloatArray
    way: Way
    blur: float = 0.0
    """The width that rounding alone may leave."""
    tight: bool = True
    """False if the truth may be narrower: several records of a maximum or minimum can reach it, and one of them occurs
    in a sum, or in an extreme of the other kind. (Of 77 and 80 the bounds then say 77 to 80.)"""

    @property
    def width(self) -> FloatArray:
        return self.high - self.low

    @property
    def exact_records(self) -> tuple[int, ...]:
        """Return the positions of the records whose value is known exactly: for the officer."""
        return tuple(np.flatnonzero(self.width <= self.blur).tolist())

    @property
    def exact_share(self) -> float:
        """Return the share of records whose value is known exactly."""
        return float((self.width <= self.blur).mean())

    def candidates(self, domain: FloatArray) -> FloatArray:
        """Return for each record a distribution, uniform over the values of the domain within its bounds."""
        if domain.ndim != 1 or not len(domain):
            raise InputError(Fault("domain", f"shape {domain.shape}", "a list of values"))
        slack = rounding_width(float(domain.min()), float(domain.max()))
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
    """Return every record's bounds, given all answers; values lie within the domain."""
    _check(queries, answers, n, domain, way)
    low, high = np.full(n, float(domain[0])), np.full(n, float(domain[1]))
    asked = list(zip(queries, answers, strict=True))
    extremes = [(query, float(answer)) for query, answer in asked if not query.is_sum]
    for query, answer in extremes:
        records = list(query.records)
        if query.kind == "max":
            high[records] = np.minimum(high[records], answer)
        else:
            low[records] = np.maximum(low[records], answer)
    sums = [(query, query.total(answer)) for query, answer in asked if query.is_sum]
    linear, totals = [query for query, _ in sums], np.array([total for _, total in sums], dtype=np.float64)
    found = _by(way, linear, totals, low, high)
    # a record that alone can reach a maximum is known, and that may leave another one alone
    while extremes and _pin(extremes, found, low, high):
        found = _by(way, linear, totals, low, high)
    return replace(found, tight=not extremes or _is_tight(extremes, linear, found))


def _is_tight(extremes: list[tuple[Query, float]], sums: list[Query], found: Bounds) -> bool:
    """Return whether every maximum that several records can reach is free of sums and minimums, and the reverse.

    All able records can then take their ends together, each but the one whose bound is asked for.
    """
    tied: dict[str, set[int]] = {"max": set(), "min": set()}
    for query, answer in extremes:
        able = _able(query, answer, found)
        tied[query.kind] |= set(able.tolist()) if len(able) > 1 else set()
    summed = {int(record) for query in sums for record in query.records}
    asked = {kind: {int(r) for query, _ in extremes if query.kind == kind for r in query.records} for kind in tied}
    return not (tied["max"] & (summed | asked["min"]) or tied["min"] & (summed | asked["max"]))


def _able(query: Query, answer: float, found: Bounds) -> npt.NDArray[np.int64]:
    """Return the records of a maximum or minimum that can still reach its answer."""
    slack = max(found.blur, rounding_width(float(found.low.min()), float(found.high.max())))
    records = np.array(query.records, dtype=np.int64)
    near = found.high[records] >= answer - slack if query.kind == "max" else found.low[records] <= answer + slack
    return np.asarray(records[near])


def _check(
    queries: Sequence[Query], answers: Sequence[float], n: int, domain: tuple[float, float], way: Way | None
) -> None:
    if len(queries) != len(answers):
        raise InputError(Fault("answers", f"{len(answers)} to {len(queries)} queries", "one to each"))
    if not np.isfinite(np.asarray(answers, dtype=np.float64)).all():
        raise InputError(Fault("answers", "some are missing or infinite", "numbers"))
    whole_argument("n", n)
    if not domain[0] <= domain[1]:
        raise InputError(Fault("domain", "its end is below its start", "the least and the largest value"))
    if not np.isfinite(domain).all():
        raise InputError(Fault("domain", "without end", "the least and the largest value"))
    if way is not None and way not in get_args(Way):
        raise InputError(Fault("way", "unknown", ", ".join(get_args(Way))))
    check_records(queries, n)


def _pin(extremes: list[tuple[Query, float]], found: Bounds, low: FloatArray, high: FloatArray) -> bool:
    """Give each maximum or minimum that one record alone can reach to that record; return whether anything moved."""
    moved = False
    for query, answer in extremes:
        able = _able(query, answer, found)
        if not len(able):
            raise no_such_table()
        if len(able) == 1 and low[able[0]] < high[able[0]]:
            low[able[0]] = high[able[0]] = answer
            moved = True
    return moved


def _by(way: Way | None, queries: list[Query], totals: FloatArray, low: FloatArray, high: FloatArray) -> Bounds:
    half = _chain_half(queries)
    # the closed form knows one domain for all: a maximum has narrowed some
    plain = len(set(low.tolist())) <= 1 and len(set(high.tolist())) <= 1
    if way == "closed form" and not (half and plain):
        raise InputError(Fault("way", "closed form for other queries", "chained sums of equal size, from the first"))
    if way == "paths" and any(query.span is None for query in queries):
        raise InputError(Fault("way", "paths for sums that are not ranges", "sums of neighbouring records"))
    if half and plain and way in (None, "closed form"):
        return chained_sums(totals, half, len(low), (float(low[0]), float(high[0])))
    if way == "paths" or (way is None and all(query.span is not None for query in queries)):
        from seriatim.queries.range_bounds import range_bounds

        least, most, blur = range_bounds([query.span or (0, 0) for query in queries], totals, low, high)
        return Bounds(least, most, "paths", blur)
    from seriatim.queries.range_bounds import linear_programmes

    blur = rounding_width(float(low.min()), float(high.max()))
    return Bounds(*linear_programmes(queries, totals, low, high), "programme", blur)


def _chain_half(queries: list[Query]) -> int:
    """Return half the size of chained queries, each shifted by it against the one before; 0 if they are not such."""
    spans = [query.span for query in queries]
    if not spans or spans[0] is None or spans[0][0] != 0 or spans[0][1] % 2:
        return 0
    half = spans[0][1] // 2
    return half if all(span == (t * half, (t + 2) * half) for t, span in enumerate(spans)) else 0


def chained_sums(totals: FloatArray, half: int, n: int, domain: tuple[float, float]) -> Bounds:
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
    if d_low > d_high + rounding_width(half * least, half * most) + _chain_blur(c, half, domain):
        raise no_such_table()
    # rounding may turn the ends around where d is known exactly
    d_low, d_high = min(d_low, d_high), max(d_low, d_high)
    block_low = np.where(sign > 0, c + d_low, c - d_high)
    block_high = np.where(sign > 0, c + d_high, c - d_low)
    low, high = np.full(n, least), np.full(n, most)
    held = len(c) * half
    # a block's sum less the most that the others of the block can hold
    low[:held] = np.repeat(np.maximum(least, block_low - (half - 1) * most), half)
    high[:held] = np.repeat(np.minimum(most, block_high - (half - 1) * least), half)
    return Bounds(low, high, "closed form", _chain_blur(c, half, domain))


def _chain_blur(c: FloatArray, half: int, domain: tuple[float, float]) -> float:
    """Return the width that adding up a chain of totals may leave by rounding."""
    size = max(float(np.abs(c).max()), half * abs(domain[0]), half * abs(domain[1]))
    return 4 * float(np.finfo(np.float64).eps) * len(c) * size


def no_such_table() -> InputError:
    """Return the error of answers that no table has."""
    return InputError(Fault("answers", "no table within the domain has them all", "answers from one table"))
