"""Historical groups keep m-invariance and hc-safety of degree n on any series, in both modes."""

from __future__ import annotations

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
    groups_of,
    published,
    series,
    unsafe_pairs,
)

from seriatim.defences.series.contract import SerialDraw, SerialRules, WhenNotEligible, WithheldReason
from seriatim_papers.historical.safe_groups import historical_groups
from seriatim_papers.memory import GroupMemory


@pytest.mark.parametrize("greedy", [False, True])
@settings(max_examples=120, deadline=None)
@given(series(), st.booleans(), st.sampled_from(WhenNotEligible))
def test_historical(greedy: bool, world: Series, sticky: bool, when: WhenNotEligible):
    rules = SerialRules(world.m, world.n, lifespan=4, sticky=sticky, when_not_eligible=when)
    history = []
    for release, view in enumerate(world.views()):
        memory = GroupMemory.of(history, view.person)
        made = historical_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker(), greedy)
        again = historical_groups(view, rules, memory, SerialDraw(b"secret", release), OneWorker(), greedy)
        assert equal_groupings(made, again)
        assert_complete(view, made)
        history.append(published(view, made))
        assert_unique(history[-1], world.m)
        assert unsafe_pairs(history, world.n) == 0
        if sticky and len(history) > 1:
            _assert_sticky(history, view, made, 0 if greedy else world.n)
    assert_invariant(history)


def _assert_sticky(history, view, made, n) -> None:
    """A group of the release before whose members are all here, none of them at a limit, is here again.

    Not so one with counterfeits, yet fewer than n: with its repetition it would be a union that they cut off.
    """
    here = {int(p) for p, reason in zip(view.person, made.withheld, strict=True) if reason != WithheldReason.LIFESPAN}
    now = groups_of(history[-1])
    for people, values in groups_of(history[-2]):
        fakes = sum(values.values()) - len(people)
        if people <= here and not 0 < fakes < n:
            assert (people, values) in now
