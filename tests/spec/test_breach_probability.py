"""n-Choose of the Cor-Split paper, with the figures worked out for it."""

from __future__ import annotations

import pytest

from seriatim.errors import AdversaryError
from seriatim_papers.degree import breach_probability, choose_n, degree_or_error


@pytest.mark.parametrize(("n", "total"), [(1, 0.9858), (2, 0.1192), (3, 0.0956)])
def test_figure_2_at_24_releases(n: int, total: float):
    assert breach_probability(0.04, 24, 6, n).total == pytest.approx(total, abs=5e-5)


def test_parts():
    parts = breach_probability(0.04, 24, 6, 3)
    assert parts.ct == pytest.approx(1 - 0.96**24)
    assert parts.hc == pytest.approx(1 - (1 - (0.04 - 0.04 / 6) ** 3) ** 48)
    assert parts.total == pytest.approx((1 - (1 - parts.ct) * (1 - parts.hc)) ** 5)


@pytest.mark.parametrize(("lifespan", "n"), [(24, 3), (21, 2), (25, None), (40, None)])
def test_n_choose(lifespan: int, n: int | None):
    assert choose_n(0.04, lifespan, 6, 0.1) == n
    if lifespan == 21:
        assert breach_probability(0.04, 21, 6, 2).total == pytest.approx(0.0806, abs=5e-5)


def test_refusal_says_what_to_change_and_that_it_helps():
    with pytest.raises(AdversaryError, match="lifespan at most 24, or m at least 7"):
        degree_or_error(0.04, 25, 6, 0.1)
    assert choose_n(0.04, 24, 6, 0.1)
    assert choose_n(0.04, 25, 7, 0.1)


@pytest.mark.parametrize("wrong", [(-0.1, 5, 3, 1), (0.1, 0, 3, 1), (0.1, 5, 1, 1), (0.1, 5, 3, 4)])
def test_wrong_parameters(wrong: tuple[float, int, int, int]):
    with pytest.raises(AdversaryError):
        breach_probability(*wrong)
