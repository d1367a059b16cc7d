"""Invariant groups keep m-uniqueness and m-invariance on any series, and lose nobody without saying so."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_series import (
    OneWorker,
    Series,
    assert_complete,
    assert_invariant,
    assert_unique,
    equal_groupings,
    published,
    series,
)

from seriatim.defences.series.contract import SerialDraw, SerialRules, SerialView, WhenNotEligible, WithheldReason
from seriatim.model.scale import scale_of
from seriatim_papers.invariant import invariant_groups
from seriatim_papers.memory import Memory


@settings(max_examples=150, deadline=None)
@given(series(), st.sampled_from(WhenNotEligible), st.sampled_from([None, 1, 3]))
def test_every_release_is_unique_and_the_series_invariant(world: Series, when: WhenNotEligible, lifespan: int | None):
    rules = SerialRules(world.m, lifespan=lifespan, when_not_eligible=when)
    history = []
    times: dict[int, int] = {}
    for release, view in enumerate(world.views()):
        memory = Memory.of(history, view.person)
        made = invariant_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker())
        assert equal_groupings(made, invariant_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker()))
        assert_complete(view, made)
        history.append(published(view, made))
        assert_unique(history[-1], world.m)
        for person, reason in zip(view.person.tolist(), made.withheld.tolist(), strict=True):
            was = times.get(person, 0)
            assert (reason == WithheldReason.LIFESPAN) == (lifespan is not None and was >= lifespan)
            if was and reason != WithheldReason.LIFESPAN:
                assert reason == WithheldReason.NO
            if when is WhenNotEligible.COUNTERFEIT:
                assert reason in (WithheldReason.NO, WithheldReason.LIFESPAN)
            times[person] = was + (reason == WithheldReason.NO)
    assert_invariant(history)


@pytest.mark.parametrize("m", [2, 4])
def test_withholding_takes_no_more_than_the_excess(m: int):
    """Ten of one value and four others: at m = 2 four pairs can be made and six of ten must wait."""
    value = np.array([0] * 10 + [1, 2, 3, 4], dtype=np.int32)
    scale = scale_of("interval", pa.array(["0"]), np.zeros(1))
    view = SerialView(
        quasi=np.zeros((14, 1), dtype=np.int32), scales=(scale,), sensitive=value, n_values=5, person=np.arange(14)
    )
    made = invariant_groups(view, SerialRules(m), Memory.of([], view.person), SerialDraw(b"s", 0), OneWorker())
    waiting = {2: 6, 4: 9}[m]
    assert made.n_withheld(WithheldReason.DEFERRED) == waiting
