"""The sweep, the recurrence at every breakpoint and all partitions one by one agree on small distributions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import plain_equivocation as plain

import seriatim as sr

VALUES = st.one_of(st.integers(-20, 20), st.integers(-(10**12), 10**12), st.decimals(-9, 9, places=2).map(float))


@st.composite
def distributions(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    """Ties, zero probabilities, negative and decimal values."""
    values = draw(st.lists(VALUES, min_size=1, max_size=8))
    weights = [draw(st.integers(0, 5)) for _ in values]
    weights[0] += 1
    return values, [weight / sum(weights) for weight in weights]


@settings(max_examples=150, deadline=None)
@given(distributions())
@example(([-5, -6, 999_850_077_585], [1 / 3, 1 / 3, 1 / 3]))
def test_three_ways_agree(drawn: tuple[list[float], list[float]]) -> None:
    values, shares = drawn
    twin = plain.merged(values, shares)
    found = sr.measures.equivocation(values, shares)
    widths, entropies = found.curve()
    assert widths == pytest.approx([float(b) for b in plain.breakpoints(twin)])
    for width, bits in zip(plain.breakpoints(twin), entropies, strict=True):
        assert bits == pytest.approx(plain.by_recurrence(twin, width), abs=1e-9)
        assert bits == pytest.approx(plain.by_partitions(twin, width), abs=1e-9)
        assert found.hit_chance(float(width)) == pytest.approx(plain.hit_chance(twin, width))
    assert found.area == pytest.approx(plain.area(twin), rel=1e-12, abs=1e-9)
    assert (np.diff(entropies) <= 1e-12).all(), "H falls with eps"
    assert entropies[-1] == 0
    batch = sr.measures.equivocations(values, [shares])
    assert batch.area[0] == pytest.approx(found.area, rel=1e-12, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(distributions(), st.fractions(0, 30, max_denominator=4))
def test_between_breakpoints_the_last_one_counts(drawn: tuple[list[float], list[float]], eps: Fraction) -> None:
    values, shares = drawn
    twin = plain.merged(values, shares)
    found = sr.measures.equivocation(values, shares)
    assert found.at(float(eps)) == pytest.approx(plain.by_recurrence(twin, eps), abs=1e-9)
    assert sr.measures.equivocations(values, [shares]).at(float(eps))[0] == pytest.approx(
        found.at(float(eps)), abs=1e-9
    )
