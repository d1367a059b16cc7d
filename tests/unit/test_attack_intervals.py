"""Intervals of shares against scipy.stats, which takes too long to load for a command."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.attacks.intervals import exact_interval, interval_of_repetitions


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3_000), st.floats(0, 1), st.sampled_from([0.9, 0.95, 0.99]))
def test_a_share(of: int, part: float, confidence: float) -> None:
    from scipy import stats

    hits = round(part * of)
    told = stats.binomtest(hits, of).proportion_ci(confidence, method="exact")
    assert exact_interval(hits, of, confidence) == pytest.approx((told.low, told.high), abs=1e-9)


def test_of_nobody_nothing_is_known() -> None:
    assert exact_interval(0, 0) == (0.0, 1.0)
    assert interval_of_repetitions([0], [0]) == (0.0, pytest.approx(0.975))


@pytest.mark.parametrize(("hits", "of"), [([3, 5, 9], [100, 100, 90]), ([30, 31, 29, 30], [100] * 4)])
def test_repetitions(hits: list[int], of: list[int]) -> None:
    from scipy import stats

    shares = [one / n for one, n in zip(hits, of, strict=True)]
    low, high = stats.t.interval(0.95, len(shares) - 1, sum(shares) / len(shares), stats.sem(shares))
    assert interval_of_repetitions(hits, of) == pytest.approx((max(low, 0.0), high))
