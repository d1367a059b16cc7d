"""Tables drawn from a prior within what answers allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import seriatim as sr
from seriatim.queries import Answering, Query, SampledRefusals
from seriatim.queries.hit_and_run import hit_and_run, prior_draws

PRIOR = (0.7, 0.2, 0.1)


def test_points_of_a_line_are_drawn_by_the_prior() -> None:
    """Two records from 0 to 30 sum to 12: both lie in the first third from 2 to 10, else one lies in the second."""
    rng = np.random.default_rng(1)
    at, drawn = np.full((100, 2), 6.0), []
    for _ in range(60):
        way = np.array([1.0, -1.0]) * rng.normal(size=(100, 1))
        at = hit_and_run(at, way, (0, 30), PRIOR, rng.random((100, 1)))
        assert at.sum(axis=1) == pytest.approx(np.full(100, 12.0))
        drawn.append(at[:, 0])
    both = 0.7 * 0.7 * 8
    assert np.mean([(x > 2) & (x < 10) for x in drawn]) == pytest.approx(both / (both + 0.7 * 0.2 * 4), abs=0.01)


@pytest.mark.parametrize("prior", [None, PRIOR])
def test_walks_over_all_directions_come_back_to_the_prior(prior: Any) -> None:
    rng = np.random.default_rng(2)
    at, thirds = np.full((400, 3), 15.0), []
    for step in range(120):
        at = hit_and_run(at, rng.normal(size=(400, 3)), (0, 30), prior, rng.random((400, 1)))
        if step >= 20:
            thirds.append(np.bincount((at.ravel() / 10).astype(int), minlength=3) / at.size)
    assert np.mean(thirds, axis=0) == pytest.approx(prior or [1 / 3] * 3, abs=0.02)


def test_even_parts_are_no_prior() -> None:
    rng = np.random.default_rng(3)
    at, way, chance = rng.uniform(0, 8, (50, 4)), rng.normal(size=(50, 4)), rng.random((50, 1))
    way[:10, 0] = 0.0
    plain = hit_and_run(at, way, (0, 8), None, chance)
    assert hit_and_run(at, way, (0, 8), (0.25,) * 4, chance) == pytest.approx(plain)
    still = hit_and_run(at, np.zeros((50, 4)), (0, 8), PRIOR, chance)
    assert still == pytest.approx(at)


def test_without_answers_the_prior_is_drawn() -> None:
    drawn = prior_draws(PRIOR, (10, 40), np.random.default_rng(4), (2000, 5))
    assert np.bincount(((drawn.ravel() - 10) / 10).astype(int)) / drawn.size == pytest.approx(PRIOR, abs=0.015)


def test_a_refusal_depends_on_the_prior_and_not_on_the_values() -> None:
    """A sum below 20 leaves less than 20 of 100 to both: rare if values are even, likely if most are small."""
    few = Query("sum", range(2))
    reasons = [
        SampledRefusals(4, (0, 100), queries=2, width=0.2, delta=0.2, draws=200, prior=prior).reason(few)
        for prior in (None, (0.98, 0.005, 0.005, 0.005, 0.005))
    ]
    assert reasons == ["", "the answer is too likely to reveal too much"]
    told = []
    for values in ([5.0, 1, 2, 9], [1.0, 5, 9, 2]):
        rule = SampledRefusals(4, (0, 100), queries=3, width=0.05, delta=0.5, draws=20, prior=(0.9, 0.1))
        service = Answering(values, rule, (0, 100))
        told.append([service.ask(Query("sum", range(*span))) for span in ((0, 4), (0, 2), (2, 4), (0, 3))])
    assert told[0] == told[1]


@pytest.mark.parametrize("prior", [(0.5, 0.4), (1.0, 0.0), (), ("a", 1), 3, (float("nan"), 1.0)])
def test_a_prior_that_cannot_be(prior: Any) -> None:
    with pytest.raises(sr.InputError, match="not chances that sum to 1"):
        SampledRefusals(4, (0, 10), 5, prior=prior)
