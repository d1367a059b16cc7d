"""Segments of people: greedy as printed and the best cut, against plain loops over all cuts."""

from __future__ import annotations

import numpy as np
import pytest

from seriatim.kernels.series.belief_segments import (
    SegmentRows,
    SegmentRules,
    cut_greedily,
    cut_optimally,
    cut_with_leftovers,
)
from seriatim.knowledge._posterior import divergence_of_groups, entropies_for_divergence


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
    return all_pass(rows, asked, np.arange(first, last))


def all_pass(rows: SegmentRows, asked: SegmentRules, at: np.ndarray) -> bool:
    size, n = len(at), len(rows.value)
    counts = np.bincount(rows.value[at], minlength=4)
    far = np.abs(counts / size - asked.whole / n).sum() / 2
    apart = divergence_of_groups(rows.beliefs[at].astype(float), np.zeros(size, dtype=int), 1)[0]
    return size >= asked.k and (counts > 0).sum() >= asked.l and far <= asked.t + 1e-12 and apart <= asked.j + 1e-6


def cost_of(rows: SegmentRows, end: np.ndarray) -> float:
    return float((end < 0).sum()) + sum(box_cost(rows, end == last) for last in np.unique(end[end >= 0]))


def box_cost(rows: SegmentRows, at: np.ndarray) -> float:
    part = rows.place[at]
    return float((part.max(axis=0) - part.min(axis=0)).mean()) * len(part)


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
    end = cut_optimally(rows, wanted)
    assert cost_of(rows, end) == pytest.approx(best_cost(rows, wanted), abs=1e-4)
    for last in np.unique(end[end >= 0]).tolist():
        at = np.flatnonzero(end == last)
        assert at.tolist() == list(range(at[0], last))
        assert passes(rows, wanted, int(at[0]), last)


@pytest.mark.parametrize("asked", [{}, {"t": 0.4}, {"j": 0.2}])
def test_greedy_closes_as_soon_as_it_may(asked: dict[str, float]) -> None:
    rows = people(60, 9)
    wanted = rules(rows, **asked)
    end, first = cut_greedily(rows, wanted), 0
    for i in range(60):
        if passes(rows, wanted, first, i + 1):
            assert (end[first : i + 1] == i + 1).all()
            first = i + 1
    assert (end[first:] == -1).all()


def with_leftovers(rows: SegmentRows, asked: SegmentRules, end: np.ndarray, reach: int) -> np.ndarray:
    """The plain twin: everyone left over joins the segment nearby that still passes and grows least."""
    ends, found = np.unique(end[end >= 0]), end.copy()
    for i in np.flatnonzero(end < 0).tolist():
        here = int(np.searchsorted(ends, i))
        costs = {}
        for last in ends[max(here - reach, 0) : here + reach].tolist():
            own = np.flatnonzero(found == last)
            joined = np.append(own, i)
            if all_pass(rows, asked, joined):
                costs[last] = box_cost(rows, joined) - box_cost(rows, own)
        cheapest = min(costs, key=costs.__getitem__, default=None)
        if cheapest is not None and costs[cheapest] < asked.skip:
            found[i] = cheapest
    return found


@pytest.mark.parametrize("asked", [{}, {"l": 3}, {"t": 0.35, "skip": 3.0}, {"j": 0.2, "skip": 3.0}])
@pytest.mark.parametrize(("seed", "reach"), [(0, 1), (1, 2), (2, 9)])
def test_people_left_over_join_the_nearest_segment_that_may_take_them(
    asked: dict[str, float], seed: int, reach: int
) -> None:
    rows = people(60, seed)
    wanted = rules(rows, **asked)
    for cut in (cut_optimally, cut_greedily):
        end = cut(rows, wanted)
        found = cut_with_leftovers(rows, wanted, end, reach)
        np.testing.assert_array_equal(found, with_leftovers(rows, wanted, end, reach))
        for last in np.unique(found[found >= 0]).tolist():
            assert all_pass(rows, wanted, np.flatnonzero(found == last))
    assert (cut_greedily(rows, rules(rows, j=0.2)) < 0).any()  # else nobody would be left over


def test_nobody_joins_where_there_is_no_segment() -> None:
    rows = people(10, 3)
    nobody = np.full(10, -1, dtype=np.int64)
    assert (cut_with_leftovers(rows, rules(rows), nobody, 5) == -1).all()
