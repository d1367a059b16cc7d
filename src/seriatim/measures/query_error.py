"""How well users of the table can still count: random range-count queries on the release, compared with the truth.

A query is a range in each of a few quasi columns. Its estimate from the release spreads every record evenly over its
label. The error is |estimate - truth| / truth, as the median over queries of similar selectivity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.box_counts import count_inside, estimate_box_counts
from seriatim.kernels.check.classes import rows_by_class
from seriatim.model import CodedColumn, Draft, Measure, View
from seriatim.model.chance import open_chance
from seriatim.model.scale import IntArray
from seriatim.ports import Workers

SEED = 20_261
QUERIES = 200
SELECTIVITIES = (0.01, 0.05, 0.10)
MOST_ROWS = 200_000
"""Above this many records, the truth and the estimate come from one random sample of them."""
_PARTS = 2
"""Pieces of work that the queries of one selectivity are shared out in."""


@dataclass(frozen=True, slots=True, eq=False)
class QueryBoxes:
    """Every group's label in every quasi column as a range of codes: what a user reads from the release."""

    low: IntArray
    high: IntArray
    weight: npt.NDArray[np.float64]
    """Records in each group."""


class RangeQuery(NamedTuple):
    """A range of codes in each of the asked columns."""

    asked: IntArray
    low: IntArray
    high: IntArray


def query_error(view: View, draft: Draft, workers: Workers, seed: int = SEED, rate: float = 1.0) -> tuple[Measure, ...]:
    """Return the median relative error of random range counts, one measure per selectivity.

    ``rate`` is the share of a sample: its users divide their counts by it.
    """
    if not len(view.quasi) or not (draft.grouping.group >= 0).any():
        return ()
    chance = open_chance(seed, "queries")
    n = len(view)
    rows = np.arange(n) if n <= MOST_ROWS else np.sort(chance.choice(n, MOST_ROWS, replace=False))
    boxes = query_boxes(view.quasi, draft.grouping.group[rows], draft)
    boxes = QueryBoxes(boxes.low, boxes.high, boxes.weight / rate)
    codes = _in_any_order(np.stack([column.codes[rows] for column in view.quasi]))
    sizes = np.array([len(column.scale) for column in view.quasi], dtype=np.int64)
    drawn = _queries_by_share(codes, sizes, chance)
    parts = [queries[part::_PARTS] for queries in drawn.values() for part in range(_PARTS)]
    errors = iter(workers.map(lambda queries: _errors(codes, boxes, queries), parts))
    return tuple(_measure(share, [error for _ in range(_PARTS) for error in next(errors)], seed) for share in drawn)


def query_error_of_boxes(quasi: tuple[CodedColumn, ...], boxes: QueryBoxes, seed: int = SEED) -> tuple[Measure, ...]:
    """Return the same for a table of any tool, its labels read as ranges; ``quasi`` is the original."""
    n = len(quasi[0].codes)
    chance = open_chance(seed, "queries")
    rows = np.arange(n) if n <= MOST_ROWS else np.sort(chance.choice(n, MOST_ROWS, replace=False))
    codes = _in_any_order(np.stack([column.codes[rows] for column in quasi]))
    sizes = np.array([len(column.scale) for column in quasi], dtype=np.int64)
    shrunk = QueryBoxes(boxes.low, boxes.high, boxes.weight * (len(rows) / n))
    drawn = _queries_by_share(codes, sizes, chance)
    return tuple(_measure(share, _errors(codes, shrunk, queries), seed) for share, queries in drawn.items())


def _in_any_order(codes: IntArray) -> IntArray:
    """Return the records sorted, so that the queries drawn around them do not depend on the order of the table."""
    return np.ascontiguousarray(codes[:, query_order_by_codes(codes)])


def query_order_by_codes(codes: IntArray) -> npt.NDArray[np.intp]:
    """Return an order of the records by their codes, the last column first; equal records may be in any order.

    If all columns fit into one number, it is sorted in a sixth of the time.
    """
    sizes = [int(column.max(initial=0)) + 1 for column in codes]
    if prod(sizes) >= 2**63:
        return np.lexsort(codes)
    key = np.zeros(codes.shape[1], dtype=np.int64)
    for column, size in zip(codes[::-1], sizes[::-1], strict=True):
        key = key * size + column
    return np.argsort(key)


def query_boxes(quasi: tuple[CodedColumn, ...], group: IntArray, draft: Draft) -> QueryBoxes:
    """Return the range that each published label covers; weights count the sampled records."""
    labels = {shown.name: shown for shown in draft.generalised}
    whole = draft.grouping.group
    starts, order = _rows_by_group(whole, draft.grouping.n_groups)
    low = np.empty((len(quasi), draft.grouping.n_groups), dtype=np.int32)
    high = np.empty_like(low)
    for index, column in enumerate(quasi):
        shown = labels.get(column.name)
        if shown is not None and shown.low is not None and shown.high is not None:
            low[index], high[index] = shown.low, shown.high
        else:  # a set: the range of its values
            codes = column.codes[order]
            low[index] = np.minimum.reduceat(codes, starts[:-1])
            high[index] = np.maximum.reduceat(codes, starts[:-1])
    weight = np.bincount(group[group >= 0], minlength=draft.grouping.n_groups).astype(np.float64)
    return QueryBoxes(low, high, weight)


def _rows_by_group(group: IntArray, n_groups: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.signedinteger]]:
    """Return where each group starts among the published records, and these records group by group."""
    inside = np.flatnonzero(group >= 0) if (group < 0).any() else None
    starts, rows = rows_by_class(group if inside is None else group[inside], n_groups)
    return starts, rows if inside is None else inside[rows]


def _queries_by_share(
    codes: IntArray, sizes: npt.NDArray[np.int64], chance: np.random.Generator
) -> dict[float, list[RangeQuery]]:
    """Return all queries by selectivity, before any is answered: workers change nothing about them."""
    return {share: draw_queries(codes, sizes, share, QUERIES, chance) for share in SELECTIVITIES}


def _errors(codes: IntArray, boxes: QueryBoxes, queries: Sequence[RangeQuery]) -> list[float]:
    """Return the relative error of every query that anybody meets."""
    errors = []
    for query in queries:
        truth = count_inside(codes, query.asked, query.low, query.high)
        if truth > 0:
            estimate = estimate_box_counts(boxes.low, boxes.high, boxes.weight, *query)
            errors.append(abs(estimate - truth) / truth)
    return errors


def _measure(share: float, errors: Sequence[float], seed: int) -> Measure:
    detail = {"selectivity": share, "queries": len(errors), "seed": seed}
    value = float(np.median(errors)) if errors else float("nan")
    return Measure(f"query_error_{share:.0%}", value, "share", detail)


def draw_queries(
    codes: IntArray, sizes: npt.NDArray[np.int64], share: float, count: int, chance: np.random.Generator
) -> list[RangeQuery]:
    """Draw one to three columns with ranges around a random record, so that about ``share`` of the records match."""
    wide = np.flatnonzero(sizes > 1)
    whole_low, whole_high = np.zeros(len(sizes), dtype=np.int32), (sizes - 1).astype(np.int32)
    if not len(wide):
        return [RangeQuery(wide.astype(np.int32), whole_low, whole_high)] * count
    asked = np.minimum(chance.integers(1, 4, count), len(wide))
    chosen = wide[_different(len(wide), asked.max(), count, chance)]  # the first ``asked`` of each are used
    centre = codes[chosen, chance.integers(codes.shape[1], size=count)[:, None]]
    width = np.maximum(1, np.rint(share ** (1 / asked[:, None]) * sizes[chosen])).astype(np.int64)
    first = np.clip(centre - chance.integers(width), 0, np.maximum(sizes[chosen] - width, 0))
    last = np.minimum(first + width, sizes[chosen]) - 1
    low, high = np.tile(whole_low, (count, 1)), np.tile(whole_high, (count, 1))
    at = np.nonzero(np.arange(chosen.shape[1]) < asked[:, None])
    low[at[0], chosen[at]], high[at[0], chosen[at]] = first[at], last[at]
    columns = [row[:n] for row, n in zip(chosen.astype(np.int32), asked.tolist(), strict=True)]
    return list(map(RangeQuery, columns, low, high))


def _different(below: int, most: int, count: int, chance: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw ``count`` times ``most`` different numbers below ``below``."""
    drawn = chance.integers(below - np.arange(most), size=(count, most))
    for at in range(1, most):
        for earlier in np.sort(drawn[:, :at], axis=1).T:  # a number counts those that were not drawn before it
            drawn[:, at] += drawn[:, at] >= earlier
    return drawn
