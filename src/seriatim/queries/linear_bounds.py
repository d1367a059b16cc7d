"""Bounds from any sums, weighted or not: two linear programmes per record (HiGHS).

Slow, and the judge of the quicker ways.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seriatim.queries.query_bounds import contradiction_of_query_bounds
from seriatim.queries.query_kinds import FloatArray, Query


def linear_bounds(
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
                raise contradiction_of_query_bounds()
            found[record] = base + size * sign * done.fun
    return found_low[:n], found_high[:n]
