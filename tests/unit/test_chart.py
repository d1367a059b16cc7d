"""A chart cannot be made from numbers that do not fit it, and bins lose nothing."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.model import Bars, Chart, ChartAxis, Heatmap, Histogram, Line, Lines, histogram_of


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.floats(-1e6, 1e6), st.integers(0, 10_000).map(float)), max_size=200), st.integers(1, 60))
def test_every_finite_figure_falls_in_exactly_one_bin(figures: list[float], bins: int) -> None:
    made = histogram_of(np.array([*figures, math.inf, math.nan]), bins)

    assert sum(made.counts) == len(figures)
    assert len(made.counts) <= bins + 2
    for i, count in enumerate(made.counts):
        last = i == len(made.counts) - 1
        low, high = made.edges[i], made.edges[i + 1]
        assert count == sum(low <= f < high or (last and f == high) for f in figures)


def test_whole_numbers_get_whole_bins() -> None:
    assert histogram_of([5, 5, 6, 9]) == Histogram((5, 6, 7, 8, 9, 10), (2, 1, 0, 0, 1))


def test_a_long_tail_becomes_one_open_bin() -> None:
    made = histogram_of([5] * 50 + [6] * 40 + [7] * 9 + [4_000])

    assert made.edges[-1] == math.inf
    assert made.counts[-1] == 1
    assert made.edges[-2] < 20


@pytest.mark.parametrize("figures", [[0.25] * 4, [0.0] * 3, [-2.5]])
def test_one_and_the_same_figure_has_a_bin_with_a_width(figures: list[float]) -> None:
    made = histogram_of(figures)

    assert made.edges[0] < figures[0] < made.edges[-1] or made.edges[0] == figures[0]
    assert made.counts == (len(figures),)


def test_nothing_to_count() -> None:
    assert histogram_of([math.nan]) == Histogram((), ())


@pytest.mark.parametrize(
    "make",
    [
        lambda: Histogram((0, 1), (1, 2)),
        lambda: Histogram((1, 0), (1,)),
        lambda: Bars(("a", "b"), (1.0,)),
        lambda: Bars(("a", "a"), (1.0, 2.0)),
        lambda: Line("a", (1.0,), ()),
        lambda: Line("a", (1.0, 2.0), (1.0, 2.0), low=(0.0,), high=(0.0,)),
        lambda: Lines((Line("a", (), ()), Line("a", (), ()))),
        lambda: Heatmap(("r",), ("c", "d"), ((1.0,),)),
        lambda: Heatmap(("r",), ("c",), ()),
    ],
)
def test_numbers_that_do_not_fit_are_refused(make) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        make()


def test_the_data_say_what_kind_it_is() -> None:
    assert Chart("t", Bars(("a",), (1.0,)), x=ChartAxis("x"), y=ChartAxis("y")).kind == "bars"
    assert Chart("t", Heatmap((), (), ()), x=ChartAxis("x"), y=ChartAxis("y")).kind == "heatmap"
