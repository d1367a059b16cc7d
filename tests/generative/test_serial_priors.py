"""Prior sets: nobody stands in a group that holds a value his prior set excludes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_series import OneWorker, Series, assert_complete, groups_of, plain_view, published, series

from seriatim.defences.series.cohort.grouping import update_groups
from seriatim.defences.series.cohort.memory import SlotHistory
from seriatim.defences.series.contract import SerialDraw, SerialPriors, SerialRules, WhenNotEligible
from seriatim.defences.series.memory import RememberedRows
from seriatim.errors import TableError
from seriatim_papers.historical.safe_groups import historical_groups
from seriatim_papers.invariant import invariant_groups
from seriatim_papers.memory import GroupMemory, Memory

METHODS = {
    "invariant": (Memory.of, invariant_groups),
    "historical": (GroupMemory.of, historical_groups),
    "cohort": (lambda pasts, _: SlotHistory.of(pasts), lambda *given: update_groups(*given[:4])),
}


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=60, deadline=None)
@given(series(), st.integers(0, 1000), st.sampled_from(WhenNotEligible))
def test_groups_stay_inside_everyones_prior_set(method: str, world: Series, seed: int, when: WhenNotEligible):
    chance = np.random.default_rng(seed)
    possible = np.ones((3, world.n_values), dtype=np.bool_)
    for kind in (1, 2):
        possible[kind, chance.permutation(world.n_values)[: world.n_values - world.m]] = False
    kind_of = chance.integers(0, 3, 1000)
    recall, make = METHODS[method]
    history: list[RememberedRows] = []
    prior: dict[int, np.ndarray] = {}
    for release, view in enumerate(world.views()):
        kinds = kind_of[view.person].astype(np.int32)
        kinds[~possible[kinds, view.sensitive]] = 0
        view = replace(view, priors=SerialPriors(kinds, possible))
        state = recall(history, view.person)
        made = make(
            view, SerialRules(world.m, 1, when_not_eligible=when), state, SerialDraw(b"s", release), OneWorker()
        )
        assert_complete(view, made)
        rows = published(view, made)
        history.append(rows)
        prior |= {int(p): possible[k] for p, k in zip(view.person, kinds, strict=True)}
        for people, values in groups_of(rows):
            for person in people:
                assert prior[person][list(values)].all()


def test_a_prior_set_that_excludes_the_truth_is_refused_without_quoting_it():
    view = plain_view(np.arange(10, dtype=np.int32) % 5, np.arange(10), 5)
    possible = np.ones((2, 5), dtype=np.bool_)
    possible[1, [0, 4]] = False
    wrong = replace(view, priors=SerialPriors(np.ones(10, dtype=np.int32), possible))
    with pytest.raises(TableError, match="4 records whose value is not in their prior set"):
        invariant_groups(wrong, SerialRules(3), Memory.of([], view.person), SerialDraw(b"s", 0), OneWorker())
    small = replace(view, priors=SerialPriors(np.zeros(10, dtype=np.int32), possible))
    possible[0, :3] = False
    with pytest.raises(TableError, match="10 records with a prior set of fewer than m = 3 values"):
        invariant_groups(small, SerialRules(3), Memory.of([], view.person), SerialDraw(b"s", 0), OneWorker())
