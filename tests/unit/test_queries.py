"""Bounds from answers by three ways that agree."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import seriatim as sr
from seriatim.queries import Query, bounds, query_bounds


def sums(*spans: tuple[int, int]) -> list[Query]:
    return [Query("sum", range(first, last)) for first, last in spans]


def answers(queries: list[Query], values: np.ndarray) -> list[float]:
    return [query.answer(values) for query in queries]


@pytest.mark.parametrize(("largest", "low"), [(107.0, 50.0), (80.0, 77.0)])
def test_both_examples_of_table_1_follow_from_their_two_queries(largest: float, low: float) -> None:
    asked = [Query("max", (0, 1)), Query("average", (0, 1))]
    found = bounds(asked, [largest, 78.5], n=2, domain=(0, 1000))
    assert (found.low.tolist(), found.high.tolist()) == ([low, low], [largest, largest])
    assert sr.measures.equivocation([low, largest], [0.5, 0.5]).area == largest - low


def test_a_minimum_bounds_from_below() -> None:
    found = bounds([Query("min", (0, 2)), Query("sum", (0, 1))], [5.0, 12.0], n=3, domain=(0, 10))
    assert found.low.tolist() == [5, 2, 5]
    assert found.high.tolist() == [10, 7, 10]


@pytest.mark.parametrize(
    ("kind", "told", "low", "high"),
    [
        ("max", [10.0, 5.0], [10, 0, 0], [10, 5, 5]),
        ("min", [3.0, 5.0], [3, 5, 5], [3, 20, 20]),
        ("max", [5.0, 5.0], [0, 0, 0], [5, 5, 5]),
    ],
)
def test_overlapping_sets_disclose_who_alone_can_reach_the_answer(
    kind: Any, told: list[float], low: list[float], high: list[float]
) -> None:
    found = bounds([Query(kind, (0, 1)), Query(kind, (1, 2))], told, n=3, domain=(0, 20))
    assert (found.low.tolist(), found.high.tolist()) == (low, high)


def test_a_maximum_of_one_record_is_its_value() -> None:
    found = bounds([Query("max", (1,)), Query("sum", (0, 1))], [10.0, 12.0], n=3, domain=(0, 20))
    assert (found.low.tolist(), found.high.tolist()) == ([2, 10, 0], [2, 10, 20])


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_every_table_with_the_same_answers(seed: int) -> None:
    """All whole-number tables over a small domain are tried; whoever has one value in all is found, mostly."""
    rng = np.random.default_rng(seed)
    tables = np.array(list(product(range(4), repeat=4)), dtype=float)
    values = tables[rng.integers(len(tables))]
    asked = [
        Query(str(rng.choice(["max", "min", "sum", "average"])), rng.choice(4, rng.integers(1, 4), replace=False))
        for _ in range(int(rng.integers(1, 5)))
    ]
    told = answers(asked, values)
    alike = tables[[np.allclose(answers(asked, table), told) for table in tables]]
    found = bounds(asked, told, n=4, domain=(0, 3))
    assert (found.low <= alike.min(axis=0) + 1e-6).all()
    assert (found.high >= alike.max(axis=0) - 1e-6).all()


@pytest.mark.parametrize("seed", range(60))
def test_tight_bounds_are_those_of_all_ways_to_reach_the_extremes(seed: int) -> None:
    """Who has each maximum is tried in every way, and the rest is a linear programme."""
    rng = np.random.default_rng(seed)
    kinds = ["max", "min", "sum"][: 1 + seed % 3]
    values = rng.integers(0, 4, 4).astype(float)
    asked = [Query(str(rng.choice(kinds)), rng.choice(4, rng.integers(1, 4), replace=False)) for _ in range(3)]
    told = answers(asked, values)
    found = bounds(asked, told, n=4, domain=(0, 3))
    low, high = ends_by_every_way(asked, told)
    assert (found.low <= low + 1e-6).all()
    assert (found.high >= high - 1e-6).all()
    if found.tight:
        assert found.low == pytest.approx(low, abs=1e-6)
        assert found.high == pytest.approx(high, abs=1e-6)


def ends_by_every_way(asked: list[Query], told: list[float]) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.full(4, np.inf), np.full(4, -np.inf)
    extremes = [(query, answer) for query, answer in zip(asked, told, strict=True) if not query.is_sum]
    sums = [(query.row(4), answer) for query, answer in zip(asked, told, strict=True) if query.is_sum]
    for holders in product(*(query.records for query, _ in extremes)):
        box = np.array([[0.0, 3.0]] * 4)
        for (query, answer), holder in zip(extremes, holders, strict=True):
            records, end = list(query.records), 1 if query.kind == "max" else 0
            pick = np.minimum if query.kind == "max" else np.maximum
            box[records, end] = pick(box[records, end], answer)
            box[holder] = max(box[holder, 0], answer), min(box[holder, 1], answer)
        if (box[:, 0] > box[:, 1]).any():
            continue
        rows = {"A_eq": [row for row, _ in sums], "b_eq": [answer for _, answer in sums]} if sums else {}
        for record in range(4):
            for sign, ends, pick in ((1, low, min), (-1, high, max)):
                solved = linprog(sign * np.eye(4)[record], bounds=box, **rows)
                if solved.status == 0:
                    ends[record] = pick(ends[record], sign * solved.fun)
    return low, high


def test_a_maximum_beside_an_average_leaves_two_numbers_and_says_that_its_bounds_are_loose() -> None:
    found = bounds([Query("max", (0, 1)), Query("average", (0, 1))], [80.0, 78.5], n=2, domain=(0, 1000))
    assert (found.low.tolist(), found.high.tolist(), found.tight) == ([77, 77], [80, 80], False)
    assert bounds([Query("max", (0, 1))], [80.0], n=2, domain=(0, 1000)).tight


def test_a_large_domain_makes_nobody_known() -> None:
    """A width of one in a domain of 10^10 is no rounding error."""
    for spans, share in [(((0, 2), (1, 3)), 0.0), (((0, 2), (0, 3)), 1 / 3)]:
        asked = sums(*spans)
        told = answers(asked, np.array([1.0, 0.0, 10.0**10]))
        assert bounds(asked, told, n=3, domain=(0, 10.0**10)).exact_share == pytest.approx(share)
    assert bounds(sums((0, 2)), [0.0], n=3, domain=(0, 10.0**10)).exact_share == pytest.approx(2 / 3)


def test_ranges_by_key_hold_all_ties() -> None:
    ages = [20, 30, 30, 30, 41, 41, 50]
    assert Query.between("sum", ages, 30, 41).records == range(1, 6)
    assert Query.between("max", ages, 21, 40.5).records == range(1, 4)
    days = np.array(["2026-01-01", "2026-01-01", "2026-02-01"], dtype="datetime64[D]")
    assert Query.between("sum", days, np.datetime64("2026-01-01"), np.datetime64("2026-01-31")).records == range(0, 2)


def test_weighted_sums() -> None:
    """2 a - b = 4 and a + c = 7, each from 0 to 10: b is even with a, and so on; by programmes."""
    asked = [Query("sum", (0, 1), (2, -1)), Query("sum", (0, 2), (1, 1))]
    assert asked[1].weights is None
    found = bounds(asked, [4.0, 7.0], n=3, domain=(0, 10))
    assert found.way == "programme"
    assert found.low == pytest.approx([2, 0, 0])
    assert found.high == pytest.approx([7, 10, 5])


def test_weights_of_all_sizes() -> None:
    """Rows of huge and of tiny weights mean the same."""
    for scale in (1e-9, 1.0, 1e12):
        asked = [Query("sum", (0, 1), (2 * scale, -scale)), Query("sum", (1, 2), (scale, 3 * scale))]
        found = bounds(asked, [4.0 * scale, 9.0 * scale], n=3, domain=(0, 10))
        assert found.low == pytest.approx([2, 0, 0], abs=1e-6)
        assert found.high == pytest.approx([6.5, 9, 3], abs=1e-6)


def test_numbers_that_are_whole_above_the_least_are_known_exactly() -> None:
    """A domain from 1000/7 to one more: counted from its least value all is whole, and rounding is still tiny."""
    least = 1000 / 7
    for way in ("paths", "programme"):
        found = bounds(sums((1, 2), (2, 4)), [least + 1, 2 * least + 0.5], n=6, domain=(least, least + 1), way=way)
        assert found.exact_records == (1,)
        assert found.high - least == pytest.approx([1, 1, 0.5, 0.5, 1, 1], abs=1e-9)
        assert found.blur < 1e-6


def test_a_maximum_alone_of_numbers_that_are_no_decimals() -> None:
    for way in (None, "paths", "programme"):
        found = bounds([Query("max", (1,))], [1000 / 7], n=2, domain=(995 / 7, 1001 / 7), way=way)
        assert found.exact_records == (1,)


@pytest.mark.parametrize("half", [1, 2, 4])
def test_closed_form_paths_and_programme_agree_on_chains(half: int) -> None:
    rng = np.random.default_rng(half)
    values = rng.integers(1, 26, 29) * 10.0
    chain = sums(*[(t * half, (t + 2) * half) for t in range(len(values) // half - 1)])
    told = answers(chain, values)
    found = [bounds(chain, told, n=29, domain=(10, 250), way=way) for way in ("closed form", "paths", "programme")]
    assert bounds(chain, told, n=29, domain=(10, 250)).way == "closed form"
    for other in found[1:]:
        assert other.low == pytest.approx(found[0].low, abs=1e-6)
        assert other.high == pytest.approx(found[0].high, abs=1e-6)
    assert (found[0].low <= values).all()
    assert (values <= found[0].high).all()


def test_pairs_do_not_disclose_everybody_by_themselves_but_a_bound_reached_does() -> None:
    """At Q = 2 one record at the domain's end gives away all: here the first one has the least value."""
    values = np.array([10.0, 250, 30, 10, 120, 60])
    chain = sums(*[(t, t + 2) for t in range(5)])
    assert bounds(chain, answers(chain, values), n=6, domain=(10, 250)).exact_share == 1.0


@pytest.mark.parametrize("seed", range(12))
def test_paths_and_programme_agree_on_any_ranges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 14))
    values = rng.integers(0, 101, n) / (1 if seed % 2 else 7)
    ends = [sorted(rng.choice(n + 1, 2, replace=False).tolist()) for _ in range(int(rng.integers(1, 12)))]
    asked = sums(*[(first, last) for first, last in ends])
    told = answers(asked, values)
    paths = bounds(asked, told, n=n, domain=(0, 101), way="paths")
    programme = bounds(asked, told, n=n, domain=(0, 101), way="programme")
    assert paths.low == pytest.approx(programme.low, abs=1e-5)
    assert paths.high == pytest.approx(programme.high, abs=1e-5)
    assert (paths.low - 1e-6 <= values).all()
    assert (values <= paths.high + 1e-6).all()


def test_records_known_but_for_rounding_are_known_exactly() -> None:
    """Incomes kept as short floats are no decimals; whoever solves for them is off by rounding errors only."""
    rng = np.random.default_rng(3)
    values = rng.lognormal(1, 0.5, 120).astype(np.float32).astype(np.float64)
    ends = [sorted(rng.choice(121, 2, replace=False).tolist()) for _ in range(300)]
    asked = sums(*[(first, last) for first, last in ends])
    rows = np.array([query.row(120) for query in asked])
    solved = np.abs(np.linalg.pinv(rows) @ rows - np.eye(120)).max(axis=1) < 1e-9
    found = bounds(asked, answers(asked, values), n=120, domain=(0.0, 50.0))
    assert found.way == "paths"
    assert solved.mean() > 0.5
    assert found.exact_share == solved.mean()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("scale", "base"), [(1e-20, 0.0), (1e-9, 0.0), (1e15, 0.0), (1.0, 1e9), (1 / 7, 1e6)], ids=lambda x: f"{x:.2g}"
)
def test_neither_scale_nor_base_matters(scale: float, base: float, seed: int) -> None:
    """The three ways on small whole numbers, and on the same in other units, far from zero or very small."""
    rng = np.random.default_rng(seed)
    n, half = 6, 1 + seed % 2
    steps = rng.integers(0, 11, n) * 1.0
    chain = sums(*[(t * half, (t + 2) * half) for t in range(n // half - 1)])
    some = [Query("average", rng.choice(n, 3, replace=False)), Query("sum", (0, 2))]
    for asked, ways in ((chain, ("closed form", "paths", "programme")), ([*chain, *some], ("programme",))):
        plain = bounds(asked, answers(asked, steps), n=n, domain=(0, 10))
        told = answers(asked, base + scale * steps)
        for way in ways:
            found = bounds(asked, told, n=n, domain=(base, base + 10 * scale), way=way)
            assert (found.low - base) / scale == pytest.approx(plain.low, abs=1e-4 if base else 1e-6)
            assert (found.high - base) / scale == pytest.approx(plain.high, abs=1e-4 if base else 1e-6)
            assert found.exact_share == plain.exact_share, way


def test_candidates_far_from_zero_are_told_apart() -> None:
    asked = sums((0, 2))
    found = bounds(asked, [2e9 + 2.0], n=2, domain=(1e9, 1e9 + 10))
    assert found.candidates(1e9 + np.arange(11.0))[0] == pytest.approx([1 / 3] * 3 + [0] * 8)


def test_a_maximum_beside_ranges_moves_the_paths() -> None:
    asked = [*sums((0, 2), (1, 3)), Query("max", (0, 1, 2))]
    told = [12.0, 9.0, 7.0]
    for way in ("paths", "programme"):
        found = bounds(asked, told, n=3, domain=(0, 10), way=way)
        assert found.low == pytest.approx([5, 5, 2])
        assert found.high == pytest.approx([7, 7, 4])


def test_a_million_records_have_a_closed_form() -> None:
    values = np.random.default_rng(1).integers(1, 26, 1_000_000) * 10.0
    totals = values.reshape(-1, 4).sum(axis=1)
    found = query_bounds.chained_sums(totals[:-1] + totals[1:], 4, len(values), (10, 250))
    assert (found.low <= values).all()
    assert (values <= found.high).all()


BAD: list[tuple[Any, str]] = [
    (lambda: bounds(sums((0, 2)), [1.0, 2.0], n=3, domain=(0, 1)), "2 to 1 queries"),
    (lambda: bounds(sums((0, 4)), [1.0], n=3, domain=(0, 1)), "beyond the last"),
    (lambda: bounds(sums((0, 2)), [1.0], n=3, domain=(1, 0)), "its end is below its start"),
    (lambda: bounds(sums((0, 2), (1, 3), (0, 1)), [1.0, 1, 9], n=3, domain=(0, 2)), "no table within the domain"),
    (lambda: bounds(sums((0, 2), (1, 3)), [1.0, 9.0], n=3, domain=(0, 2)), "no table within the domain"),
    (lambda: bounds([Query("sum", (0, 2))], [9.0], n=3, domain=(0, 2)), "no table within the domain"),
    (lambda: bounds([Query("sum", (0, 2))], [1.0], n=3, domain=(0, 2), way="paths"), "not ranges"),
    (lambda: bounds(sums((1, 3)), [1.0], n=3, domain=(0, 2), way="closed form"), "closed form for other queries"),
    (lambda: bounds([Query("max", (0, 1))], [25.0], n=3, domain=(0, 20)), "no table within the domain"),
    (
        lambda: bounds(
            [Query("max", (0, 1)), Query("max", (0, 2)), Query("max", (1, 2))], [5, 3, 3], n=3, domain=(0, 9)
        ),
        "no table within the domain",
    ),
    (lambda: bounds(sums((0, 2)), [float("nan")], n=3, domain=(0, 2)), "some are missing or infinite"),
    (lambda: bounds(sums((0, 2)), [1.0], n=3, domain=(0, float("inf"))), "without end"),
    (lambda: bounds(sums((0, 2)), [1.0], n=3, domain=(0, 2), way="magic"), "closed form, paths, programme"),
    (lambda: Query("median", (0,)), "kind: a str; allowed: sum, "),
    (lambda: Query("sum", (0.5, 1)), "records: a tuple; allowed: a list, each a whole number"),
    (lambda: Query("sum", ("a",)), "each a whole number"),
    (lambda: Query("sum", 3), "records: 3; allowed: a list"),
    (lambda: Query.between("sum", [3, 1, 2], 1, 2), "rising order"),
    (lambda: Query.between("sum", [1, 2, 5], 3, 4), "no records between"),
    (lambda: Query("sum", ()), "empty, repeated"),
    (lambda: Query("sum", (0, 1), (1, 0)), "weights that do not fit"),
    (lambda: Query("sum", (0, 1), (1,)), "weights that do not fit"),
    (lambda: Query("sum", (0, 1), (1, float("nan"))), "weights that do not fit"),
    (lambda: Query("average", (0, 1), (1, 2)), "weights that do not fit"),
]


@pytest.mark.parametrize(("work", "fault"), BAD, ids=lambda case: case if isinstance(case, str) else "")
def test_bad_input_is_said(work: Any, fault: str) -> None:
    with pytest.raises(sr.InputError, match=fault):
        work()
