"""Bounds from sums: of ranges, by shortest paths on prefix sums; of anything, by linear programmes.

A prefix sum is a node. An answer fixes the difference of two of them, the domain bounds the difference of neighbours.
Only where some range begins or ends there is a node, or where the bounds of the records change: records between two
nodes are alike.

Any sums, weighted or not, need two linear programmes per record (HiGHS): slow, and the judge of the quicker ways.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from seriatim.model.nearness import value_grid
from seriatim.queries.query_bounds import no_such_table
from seriatim.queries.query_kinds import FloatArray, Query


def linear_programmes(
    queries: Sequence[Query],
    totals: FloatArray,
    low: FloatArray,
    high: FloatArray,
    records: Sequence[int] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the least and largest value of each record, or only of some; those in no query keep the domain's."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    n = len(low)
    if not queries:
        return low.copy(), high.copy()
    asked = sorted({record for query in queries for record in query.records})
    place = {record: index for index, record in enumerate(asked)}
    columns = [place[record] for query in queries for record in query.records]
    rows = [row for row, query in enumerate(queries) for _ in query.records]
    scales = [float(np.abs(query.counted).max()) for query in queries]
    counted = np.concatenate([query.counted / scale for query, scale in zip(queries, scales, strict=True)])
    matrix = csr_array((counted, (rows, columns)), shape=(len(queries), len(asked)))
    # numbers from 0 to 1, and weights up to 1, since HiGHS has absolute tolerances
    base, size = float(low[asked].min()), float((high[asked] - low[asked]).max()) or 1.0
    limits = (np.column_stack((low[asked], high[asked])) - base) / size
    above = [total - float(query.counted.sum()) * base for query, total in zip(queries, totals.tolist(), strict=True)]
    sums = np.array(above) / scales / size
    found_low, found_high = low.copy(), high.copy()
    for record in asked if records is None else [r for r in records if r in place]:
        for sign, found in ((1.0, found_low), (-1.0, found_high)):
            cost = np.zeros(len(asked))
            cost[place[record]] = sign
            done = linprog(cost, A_eq=matrix, b_eq=sums, bounds=limits, method="highs")
            if done.status != 0:
                raise no_such_table()
            found[record] = base + size * sign * done.fun
    return found_low[:n], found_high[:n]


_ULPS = 8


def range_bounds(
    spans: Sequence[tuple[int, int]], totals: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return the least and largest value of each record, given the sums of ranges; the answers must fit together.

    The third number is the width that rounding alone may give a record: 0 unless the values are no decimals.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import NegativeCycleError, johnson

    n = len(low)
    edges = {0, n, *(end for span in spans for end in span)}
    edges |= set((np.flatnonzero(np.diff(low) != 0) + 1).tolist()) | set(
        (np.flatnonzero(np.diff(high) != 0) + 1).tolist()
    )
    nodes = np.array(sorted(edges))
    base = 0.0
    step, slack, steps = _steps(np.concatenate((totals, low, high)))
    if slack:  # no decimals: rounded least if counted from the least value
        base = float(low.min())
        above = totals - base * np.array([last - first for first, last in spans])
        step, slack, steps = _steps(
            np.concatenate((above, low - base, high - base)), float(np.abs(totals).max(initial=0.0))
        )
    known, least, most = steps[: len(totals)], steps[len(totals) : -n], steps[-n:]
    sizes = np.diff(nodes)
    farthest: dict[tuple[int, int], float] = {}
    for place, size in enumerate(sizes.tolist()):
        record = nodes[place]
        _shorten(farthest, place, place + 1, size * (most[record] + slack))
        _shorten(farthest, place + 1, place, -size * (least[record] - slack))
    where = {int(node): place for place, node in enumerate(nodes)}
    for (first, last), total in zip(spans, known.tolist(), strict=True):
        _shorten(farthest, where[first], where[last], total + slack)
        _shorten(farthest, where[last], where[first], -total + slack)
    ends = np.array(list(farthest), dtype=np.int64).reshape(-1, 2)
    graph = csr_array((list(farthest.values()), (ends[:, 0], ends[:, 1])), shape=(len(nodes), len(nodes)))
    try:
        paths = johnson(graph)
    except NegativeCycleError:
        raise no_such_table() from None
    at, others = np.arange(len(nodes) - 1), sizes - 1
    lead = nodes[:-1]
    lowest = np.maximum(least[lead], -paths[at + 1, at] - others * most[lead])
    highest = np.minimum(most[lead], paths[at, at + 1] - others * least[lead])
    blur = 2 * slack * len(nodes) * step
    return base + np.repeat(lowest, sizes) * step, base + np.repeat(highest, sizes) * step, blur


def _steps(numbers: FloatArray, largest: float = 0.0) -> tuple[float, int, FloatArray]:
    """Return a step, how many of them rounding may move a number that came from the largest, and numbers in steps."""
    grid = value_grid(numbers)
    if grid.slack == 0 and not largest:
        return grid.step, 0, grid.steps.astype(np.float64)
    error = _ULPS * float(np.spacing(max(largest, float(np.abs(numbers).max()))))
    step = min(grid.step, error)  # a coarser one would make much of a little rounding
    return step, math.ceil(max(grid.slack * grid.step, error) / step), numbers / step


def _shorten(farthest: dict[tuple[int, int], float], first: int, last: int, length: float) -> None:
    farthest[first, last] = min(farthest.get((first, last), np.inf), length)
