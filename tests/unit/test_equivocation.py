"""Equivocation: bad input, dates and decimals, batches, and bounds where there are too many values."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import seriatim as sr
from seriatim.measures import _equivocation
from seriatim.measures.equivocation_rows import class_areas
from seriatim.model.class_counts import ValueCounts
from seriatim.model.classes import Classes
from seriatim.model.nearness import value_grid

DAY = datetime.date(2026, 1, 1)
BAD: list[tuple[Any, Any, str]] = [
    ([1, 2], [0.5, 0.4], "a sum of 0.9; allowed: a sum of 1"),
    ([1, 2], [0.5, float("nan")], "probabilities: some are missing or infinite"),
    ([1, 2], [1.5, -0.5], "probabilities: some are below 0"),
    ([1, 2], [1.0], "1 probabilities of 2 values"),
    ([1, 2], ["a", "b"], "probabilities: not all are numbers"),
    ([], [], "values: 1 dimensions, 0 values"),
    ([1, float("nan")], [0.5, 0.5], "values: some are missing or infinite"),
    ([1, float("inf")], [0.5, 0.5], "values: some are missing or infinite"),
    (["a", "b"], [0.5, 0.5], "texts.*categories have no differences"),
    ([True, False], [0.5, 0.5], "values of the type bool"),
    ([1, "b"], [0.5, 0.5], "categories have no differences"),
    ([DAY, None], [0.5, 0.5], "not all are numbers or dates"),
    ([2**62, 1], [0.5, 0.5], "beyond 2\\^61"),
]


@pytest.mark.parametrize(("values", "shares", "fault"), BAD)
def test_bad_input_is_said(values: Any, shares: Any, fault: str) -> None:
    with pytest.raises(sr.InputError, match=fault):
        sr.measures.equivocation(values, shares)


@pytest.mark.parametrize("eps", [-1, -1e-9, float("nan"), "5", None, True])
def test_an_eps_that_is_no_width(eps: Any) -> None:
    found = sr.measures.equivocation([1, 2], [0.5, 0.5])
    for ask in (found.at, found.hit_chance, sr.measures.equivocations([1, 2], [[0.5, 0.5]]).at):
        with pytest.raises(sr.InputError, match=r"eps: .*allowed: a (width from 0|number)"):
            ask(eps)


def test_values_in_any_order_are_sorted_and_merged() -> None:
    found = sr.measures.equivocation([9, 1, 8, 3, 1, 5], [0.05, 0.1, 0.7, 0.1, 0.05, 0.0])
    assert found.area == pytest.approx(6.514401, abs=1e-6)
    assert found.range == 8


def test_decimals_are_exact() -> None:
    """In floats .8 - .6 is more than .2; three times .1 is more than .3."""
    for values in ([0.6, 0.8], [Decimal("0.6"), Decimal("0.8")]):
        assert sr.measures.equivocation(values, [0.5, 0.5]).at(0.2) == 0
    thirds = sr.measures.equivocation([0, 1 / 3, 2 / 3, 1], [0.25] * 4)
    assert thirds.at(1 / 3) == pytest.approx(1.0)
    assert thirds.at(0.333) == pytest.approx(2.0)
    assert sr.measures.equivocation([-0.3, 0.0], [0.5, 0.5]).at(0.1 + 0.1 + 0.1) == 0


def test_dates_are_days_and_times_are_seconds() -> None:
    week = [DAY, DAY + datetime.timedelta(days=7)]
    found = sr.measures.equivocation(week, [0.5, 0.5])
    assert (found.range, found.area, found.unit) == (7, 7, "days")
    assert "H0 1 bit, area 7 days x bits" in repr(found)
    times = np.array(["2026-01-01T00:00:00", "2026-01-01T00:01:00"], dtype="datetime64[s]")
    assert sr.measures.equivocation(times, [0.5, 0.5]).unit == "seconds"


def test_times_keep_their_fractions_and_zones() -> None:
    start = datetime.datetime(2026, 1, 1, 12)
    ticks = [start + datetime.timedelta(milliseconds=ms) for ms in (0, 5, 20)]
    for values in (ticks, np.array(ticks, dtype="datetime64[ms]")):
        found = sr.measures.equivocation(values, [0.25, 0.25, 0.5])
        assert (found.initial, found.range, found.unit) == (1.5, 0.02, "seconds")
        assert found.at(0.005) == 1.0
    noon = start.replace(tzinfo=datetime.UTC)
    elsewhere = noon.astimezone(datetime.timezone(datetime.timedelta(hours=5)))
    assert sr.measures.equivocation([noon, elsewhere], [0.5, 0.5]).initial == 0
    with pytest.raises(sr.InputError, match="with and without a time zone"):
        sr.measures.equivocation([noon, start], [0.5, 0.5])


@pytest.mark.parametrize("scale", [1e-30, 1e-15, 1 / 7, 1e15, 1e30])
@pytest.mark.parametrize("offset", [0, 20])
def test_the_scale_does_not_matter(scale: float, offset: int) -> None:
    """The appendix's example in other units, wherever the numbers begin."""
    values = (np.array([1, 3, 8, 9]) + offset) * scale
    found = sr.measures.equivocation(values, [0.15, 0.1, 0.7, 0.05])
    assert found.area == pytest.approx(6.514401 * scale, rel=1e-6)
    assert len(found.curve()[0]) == 7, "equal differences are one breakpoint"
    for eps, bits in ((0, 1.319), (1, 1.054), (5, 0.811), (6, 0.610), (7, 0.286), (8, 0)):
        assert found.at(eps * scale) == pytest.approx(bits, abs=1e-3)


def test_numbers_far_from_zero_keep_their_differences() -> None:
    thirds = sr.measures.equivocation(1e6 + np.arange(4) / 3, [0.25] * 4)
    assert thirds.at(1 / 3) == pytest.approx(1.0)
    assert thirds.at(0.333) == pytest.approx(2.0)
    huge = sr.measures.equivocation(2.0**60 + 1024 * np.array([0, 4, 20]), [0.375, 0.375, 0.25])
    assert huge.at(4096) == pytest.approx(0.811278, abs=1e-6)


def test_values_that_nobody_has_do_not_coarsen_the_grid() -> None:
    found = sr.measures.equivocation([0.0, 1e-12, 3e-12, 1e16], [0.25, 0.25, 0.5, 0.0])
    assert (found.initial, found.at(1e-12)) == (1.5, 1.0)


def test_a_row_of_a_batch_keeps_unit_and_grid() -> None:
    week = [DAY, DAY + datetime.timedelta(days=7)]
    assert sr.measures.equivocations(week, [[0.5, 0.5]])[0].unit == "days"
    far = [2**55, 2**55 + 1, 2**55 + 20]
    batch = sr.measures.equivocations(far, [[0.25, 0.25, 0.5]])
    assert batch[0].initial == 1.5 == batch.initial[0]


def test_categories_need_an_order() -> None:
    pandas = pytest.importorskip("pandas")
    codes = pandas.Categorical(["low", "high"], categories=["low", "high"])
    with pytest.raises(sr.InputError, match="categories without an order"):
        sr.measures.equivocation(codes, [0.5, 0.5])
    assert sr.measures.equivocation(codes.as_ordered(), [0.5, 0.5]).range == 1


def test_a_grid_is_as_coarse_as_it_may_be() -> None:
    assert value_grid(np.array([1.0, 250.0])).step == 1.0
    assert value_grid(np.array([0.25, 0.5])).step == 0.01
    assert value_grid(np.array([1e-3, 12345678.125])).step == 0.001
    rounded = value_grid(np.array([0.0, np.pi, 1e6]))
    assert rounded.step < 1e-9
    assert rounded.slack * rounded.step == pytest.approx(1e6 * 2.0**-40)
    assert value_grid(np.array([1e-30, 2.5e-29])).step == pytest.approx(1e-30)
    assert value_grid(np.array([3e30, 4e30])).step == pytest.approx(1e30)


def test_a_batch_is_its_rows() -> None:
    rng = np.random.default_rng(5)
    domain = np.array([0, 1, 2, 5, 9, 9, 30]) / 10
    matrix = rng.dirichlet(np.ones(7), 40)
    matrix[:10, 2:5] = 0
    matrix /= matrix.sum(axis=1, keepdims=True)
    batch = sr.measures.equivocations(domain, matrix)
    alone = [sr.measures.equivocation(domain, row) for row in matrix]
    assert len(batch) == 40
    for name in ("area", "initial", "reciprocal", "range"):
        assert getattr(batch, name) == pytest.approx([getattr(one, name) for one in alone]), name
    for eps in (0.0, 0.3, 0.4, 5.0):
        assert batch.at(eps) == pytest.approx([one.at(eps) for one in alone])
        assert batch.hit_chance(eps) == pytest.approx([one.hit_chance(eps) for one in alone])
    assert batch[3].area == pytest.approx(alone[3].area)


def test_rows_with_few_of_many_values() -> None:
    rng = np.random.default_rng(6)
    matrix = np.zeros((30, 500))
    for row in matrix:
        row[rng.choice(500, 12, replace=False)] = rng.dirichlet(np.ones(12))
    matrix[0] = 1 / 500  # more values than are looked through
    batch = sr.measures.equivocations(np.arange(500) * 3, matrix)
    assert batch.area == pytest.approx([sr.measures.equivocation(np.arange(500) * 3, row).area for row in matrix])


def test_a_batch_must_fit_its_domain() -> None:
    with pytest.raises(sr.InputError, match=r"shape \(1, 3\) over 2 values"):
        sr.measures.equivocations([1, 2], [[0.5, 0.25, 0.25]])


def test_areas_by_class_leave_out_what_has_no_position() -> None:
    of_record = np.array([0, 0, 0, 1, 1, 2], dtype=np.int32)
    values = np.array([0, 1, 3, 2, 2, 3], dtype=np.int32)
    tabulation = ValueCounts.of(Classes(of_record, np.array([3, 2, 1])), values, 4)
    areas = class_areas(tabulation, np.array([50.0, 107.0, 80.0, np.nan]))
    assert areas[:2].tolist() == [57.0, 0.0]
    assert np.isnan(areas[2])


def test_too_many_values_give_bounds_that_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    values = np.unique(np.exp(rng.normal(3, 1, 300)).round(3))
    shares = rng.dirichlet(np.ones(len(values)))
    exact = sr.measures.equivocation(values, shares)
    monkeypatch.setattr(_equivocation, "EXACT_UP_TO", 100)
    monkeypatch.setattr(_equivocation, "COARSE", (20, 60))
    bounded = sr.measures.equivocation(values, shares)
    assert exact.exact
    assert not bounded.exact
    low, high = bounded.area_bounds
    assert low <= exact.area <= high
    assert bounded.area == low
    assert (bounded.initial, bounded.range) == (exact.initial, exact.range)
    for eps in np.linspace(0, exact.range, 50):
        assert bounded.bounds_at(float(eps)) == pytest.approx((exact.at(float(eps)),) * 2), "one width is quickly exact"
    monkeypatch.setattr(_equivocation, "MOST_BLOCKS", len(values))
    assert bounded.at(0.0) == pytest.approx(exact.initial), "each value is a window of its own"
    for eps in np.linspace(0, exact.range, 50):
        low, high = bounded.bounds_at(float(eps))
        assert low - 1e-9 <= exact.at(float(eps)) <= high + 1e-9
        assert bounded.hit_chance(float(eps)) == pytest.approx(exact.hit_chance(float(eps)))
    assert " to " in repr(bounded)
