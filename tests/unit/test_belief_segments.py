"""Segments of people: greedy as printed and the best cut, against plain loops over all cuts."""

from __future__ import annotations

import numpy as np
import pytest

from seriatim.kernels.series.belief_segments import (
    SegmentRows,
    SegmentRules,
    belief_segments_greedily,
    belief_segments_optimally,
)
from seriatim.knowledge.divergence import divergence_of_groups, entropies_for_divergence


def people(n: int, seed: int) -> SegmentRows:
    rng = np.random.default_rng(seed)
    beliefs = rng.dirichlet(np.full(4, 1.5), n)
    place = np.sort(rng.random((n, 2)), axis=0)
    value = rng.integers(0, 4, n).astype(np.int32)
    single = beliefs.astype(np.float32)
    return SegmentRows(value, single, entropies_for_divergence(beliefs).astype(np.float32), place.astype(np.float32))


def rules(rows: SegmentRows, **asked: float) -> SegmentRules:
    whole = np.bincount(rows.value, minlength=4).astype(np.int64)
    plain = SegmentRules(3, 1, 1.0, 0, 1e12, whole, 12, 1.0)
    return plain._replace(**asked)


def passes(rows: SegmentRows, asked: SegmentRules, first: int, last: int) -> bool:
    size, n = last - first, len(rows.value)
    counts = np.bincount(rows.value[first:last], minlength=4)
    far = np.abs(counts / size - asked.whole / n).sum() / 2
    apart = divergence_of_groups(rows.beliefs[first:last].astype(float), np.zeros(size, dtype=int), 1)[0]
    return size >= asked.k and (counts > 0).sum() >= asked.l and far <= asked.t + 1e-12 and apart <= asked.j + 1e-6


def cost_of(rows: SegmentRows, end: np.ndarray) -> float:
    total = float((end < 0).sum())
    for last in np.unique(end[end >= 0]):
        part = rows.place[end == last]
        total += float((part.max(axis=0) - part.min(axis=0)).mean()) * len(part)
    return total


def best_cost(rows: SegmentRows, asked: SegmentRules) -> float:
    best = [0.0]
    for i in range(1, len(rows.value) + 1):
        best.append(best[-1] + asked.skip)
        for first in range(max(i - asked.longest, 0), i):
            if passes(rows, asked, first, i):
                part = rows.place[first:i]
                best[i] = min(best[i], best[first] + float((part.max(axis=0) - part.min(axis=0)).mean()) * (i - first))
    return best[-1]


@pytest.mark.parametrize("asked", [{}, {"l": 3}, {"t": 0.4}, {"j": 0.2}, {"t": 0.5, "j": 0.25, "l": 2}])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_cut_is_the_best_of_all(asked: dict[str, float], seed: int) -> None:
    rows = people(40, seed)
    wanted = rules(rows, **asked)
    end = belief_segments_optimally(rows, wanted)
    assert cost_of(rows, end) == pytest.approx(best_cost(rows, wanted), abs=1e-4)
    for last in np.unique(end[end >= 0]).tolist():
        at = np.flatnonzero(end == last)
        assert at.tolist() == list(range(at[0], last))
        assert passes(rows, wanted, int(at[0]), last)


@pytest.mark.parametrize("asked", [{}, {"t": 0.4}, {"j": 0.2}])
def test_greedy_closes_as_soon_as_it_may(asked: dict[str, float]) -> None:
    rows = people(60, 9)
    wanted = rules(rows, **asked)
    end, first = belief_segments_greedily(rows, wanted), 0
    for i in range(60):
        if passes(rows, wanted, first, i + 1):
            assert (end[first : i + 1] == i + 1).all()
            first = i + 1
    assert (end[first:] == -1).all()
