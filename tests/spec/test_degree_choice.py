"""n-Choose, with the figures worked out in our notes; the paper's n = 3 for L = 21 is one too many."""

from __future__ import annotations

import pytest

from seriatim.errors import AdversaryError
from seriatim_papers.degree import breach_probability, choose_n


def test_the_table_of_24_releases() -> None:
    totals = [breach_probability(0.04, 24, 6, n).total for n in (1, 2, 3)]
    assert totals == pytest.approx([0.9858, 0.1192, 0.0956], abs=5e-5)
    assert choose_n(0.04, 24, 6, 0.1) == 3


def test_the_table_of_21_releases() -> None:
    assert breach_probability(0.04, 21, 6, 2).total == pytest.approx(0.0806, abs=5e-5)
    assert choose_n(0.04, 21, 6, 0.1) == 2


@pytest.mark.parametrize("lifespan", [25, 30, 60])
def test_nothing_helps_from_25_releases_on(lifespan: int) -> None:
    assert choose_n(0.04, lifespan, 6, 0.1) is None


def test_the_parts() -> None:
    found = breach_probability(0.04, 24, 6, 1)
    assert found.ct == pytest.approx(1 - 0.96**24)
    assert found.hc == pytest.approx(1 - (1 - 0.04 * 5 / 6) ** (24 * 6))
    nobody = breach_probability(0.0, 24, 6, 1)
    assert (nobody.ct, nobody.hc, nobody.total) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("bad", [(-0.1, 24, 6, 1), (0.1, 0, 6, 1), (0.1, 24, 1, 1), (0.1, 24, 6, 7)])
def test_bad_parameters_are_refused(bad: tuple[float, int, int, int]) -> None:
    with pytest.raises(AdversaryError):
        breach_probability(*bad)
