"""The worked examples of the equivocation paper, corrected, and the limits that its measure must hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

import seriatim as sr

APPENDIX = ([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05])
EXPECTED = {0: 1.319, 1: 1.054, 2: 0.811, 3: 0.811, 4: 0.811, 5: 0.811, 6: 0.610, 7: 0.286, 8: 0.0, 100: 0.0}


@pytest.mark.parametrize(("eps", "bits"), EXPECTED.items())
def test_the_appendix(eps: int, bits: float) -> None:
    assert sr.measures.equivocation(*APPENDIX).at(eps) == pytest.approx(bits, abs=5e-4)


def test_the_area_of_the_appendix_is_a_sum_of_rectangles() -> None:
    found = sr.measures.equivocation(*APPENDIX)
    assert found.area == pytest.approx(6.514401, abs=1e-6)
    assert found.range == 8
    widths, entropies = found.curve()
    assert widths.tolist() == [0, 1, 2, 5, 6, 7, 8]
    assert float((entropies[:-1] * np.diff(widths)).sum()) == pytest.approx(found.area)


@pytest.mark.parametrize(("values", "area"), [((50, 107), 57.0), ((77, 80), 3.0), ((50_000, 107_000), 57_000.0)])
def test_salaries_of_figure_1(values: tuple[int, int], area: float) -> None:
    found = sr.measures.equivocation(values, [0.5, 0.5])
    assert (found.initial, found.reciprocal, found.area) == (1.0, 1.0, area)


def test_more_windows_than_values_are_needed() -> None:
    """Windows that start at each value do not suffice: the note's counter-example."""
    shares = [0.3, 0.1, 0.1, 0.01, 0.1, 0.1, 0.29]
    assert sr.measures.equivocation(range(1, 8), shares).at(2) == pytest.approx(1.0707, abs=1e-4)


def test_uniform_over_25_values() -> None:
    assert sr.measures.equivocation(range(25), np.full(25, 1 / 25)).area == pytest.approx(37.0837, abs=1e-4)


@pytest.mark.parametrize("sampled", [0.05, 0.1, 0.2, 0.5])
def test_unique_keys_under_sampling_leave_what_was_not_sampled(sampled: float) -> None:
    """With full knowledge, a person in the sample is known, and one outside is uniform over the domain."""
    outside = sr.measures.equivocation(range(25), np.full(25, 1 / 25)).initial
    mean = sampled * sr.measures.equivocation([3], [1.0]).initial + (1 - sampled) * outside
    assert mean == pytest.approx((1 - sampled) * math.log2(25))


def test_certainty_has_no_area_and_an_infinite_reciprocal() -> None:
    found = sr.measures.equivocation([7, 8, 9], [0, 1, 0])
    assert (found.initial, found.reciprocal, found.area, found.range) == (0.0, math.inf, 0.0, 0.0)
    assert (found.at(0), found.hit_chance(0)) == (0.0, 1.0)


def test_many_bits_go_with_an_even_hit_chance() -> None:
    """H alone never decides: six bits beside a hit chance of one half."""
    far = np.arange(1, 4097) * 1000
    found = sr.measures.equivocation([0, *far[:2000]], [0.5, *np.full(2000, 0.5 / 2000)])
    assert found.initial > 6
    assert found.hit_chance(10) == pytest.approx(0.5)
