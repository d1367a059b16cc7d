"""H at every eps against the paper's recurrence at each breakpoint; batches; bounds of answers against programmes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import keep, row
from seriatim.kernels.equivocation import areas_by_lanes, window_entropies
from seriatim.measures import equivocation
from seriatim.measures._equivocation import pairs_by_difference
from seriatim.queries import query_bounds
from seriatim.queries.query_kinds import Query
from seriatim.queries.range_bounds import linear_programmes

TRIED = 40
"""Breakpoints, or records, that the slow way is timed on; the rest is extrapolated."""


def run(options: list[str]) -> None:
    n = 400 if "--quick" in options else 1_000
    keep("equivocation", [_sweep(n), *_batches(), *_queries()])


def _seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _sweep(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    values = np.sort(rng.choice(10**6, n, replace=False))
    shares = rng.dirichlet(np.ones(n))
    equivocation(values[:20], np.full(20, 0.05))
    window_entropies(np.full((1, 2), 0.5), np.array([0, 1]))
    fast = _seconds(lambda: equivocation(values, shares))
    widths = pairs_by_difference(values).widths
    tried = widths[np.linspace(0, len(widths) - 1, TRIED).astype(int)]
    reaches = [np.searchsorted(values, values + width, side="right") - 1 for width in tried]
    slow = _seconds(lambda: [window_entropies(shares[None, :], reach) for reach in reaches]) * len(widths) / TRIED
    case = f"H at all {len(widths):,} breakpoints of {n} values, against the recurrence at each ({TRIED} timed)"
    return row(case, slow / fast, 100, at_least=True)


def _batches() -> list[dict[str, Any]]:
    rng = np.random.default_rng(2)
    matrix = rng.dirichlet(np.ones(25), 60_000)
    rows = []
    for name, steps in (("even", np.arange(25)), ("uneven", np.unique(rng.integers(0, 10**6, 25)))):
        pairs, areas = pairs_by_difference(steps), np.empty(len(matrix))
        areas_by_lanes(pairs, matrix[:10], areas)
        found = len(matrix) / _seconds(lambda pairs=pairs, areas=areas: areas_by_lanes(pairs, matrix, areas))
        case = f"areas over 25 {name} values, one core"
        rows.append(row(case, found / 1e3, 60, "thousand/s", at_least=True))
    return rows


def _queries() -> list[dict[str, Any]]:
    rng = np.random.default_rng(3)
    n, half, domain = 2_500, 4, (10.0, 250.0)
    values = rng.integers(1, 26, n) * 10.0
    blocks = values.reshape(-1, half).sum(axis=1)
    totals = blocks[:-1] + blocks[1:]
    queries = [Query("sum", range(t * half, (t + 2) * half)) for t in range(len(totals))]
    low, high = np.full(n, domain[0]), np.full(n, domain[1])
    records = rng.choice(n, 6, replace=False).tolist()
    linear_programmes(queries[:2], totals[:2], low, high, [0])
    slow = _seconds(lambda: linear_programmes(queries, totals, low, high, records)) * n / len(records)
    fast = _seconds(lambda: [query_bounds.chained_sums(totals, half, n, domain) for _ in range(50)]) / 50
    many = rng.integers(1, 26, 1_000_000) * 10.0
    sums = many.reshape(-1, half).sum(axis=1)
    seconds = _seconds(lambda: query_bounds.chained_sums(sums[:-1] + sums[1:], half, len(many), domain))
    case = f"bounds of {n:,} records in chained queries, against two programmes each ({len(records)} records timed)"
    return [
        row(case, slow / max(fast, 1e-6), 10_000, at_least=True),
        row("bounds of 1,000,000 records", seconds, 5, "s"),
    ]
