"""Cohorts under the new attacks, short; `./dev bench cohorts` does the same on 500 series of 200 to 2,000 people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from support.cohort_worlds import ComingAndGoing, worlds
from support.random_series import published
from support.stands import remembered

import seriatim as sr
from seriatim.attacks import belief, prepare, reveal_leavers
from seriatim.attacks.complete_search import complete_sample
from seriatim.defences.series.cohort.grouping import update_groups
from seriatim.defences.series.cohort.memory import SlotHistory
from seriatim.defences.series.contract import SerialDraw, SerialRules
from seriatim.model.history import History, JudgedHistory
from seriatim.promises.series.fair_cells import FairnessTerms, fair_cells


def played(world: ComingAndGoing) -> History:
    memory, history = SlotHistory(), []
    for release, view in enumerate(world.views()):
        made = update_groups(view, SerialRules(world.m, odds=1.5), memory, SerialDraw(b"secret", release))
        history.append(published(view, made))
        memory.remember(history[-1])
    return remembered(history)


@settings(max_examples=6, deadline=None)
@given(worlds())
def test_belief_is_exact_and_below_the_bound_and_nobody_is_certain(world: ComingAndGoing) -> None:
    history = played(replace(world, people=min(world.people, 400)))
    told = reveal_leavers(history)
    found = belief(told)
    assert found.exact.all()
    assert found.n_unjudged == 0
    law = fair_cells(JudgedHistory(history), FairnessTerms(world.m, 1.5))
    assert law.kept
    if len(found.people):
        stated = float(law.detail.partition("at most ")[2].partition("%")[0]) / 100
        assert found.largest.max() <= stated + 5.1e-4
        assert found.in_truth.mean() == pytest.approx(found.expected)  # calibrated, and exactly so
    ground = prepare(told)
    run = ground.compromise(ground.draw(0.1, 1), keep_log=False)
    asked = complete_sample(run)
    assert (run.n_breached, len(asked.certain), len(asked.undecided)) == (0, 0, 0)


def policy(**adversary: Any) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "who"},
            "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
            "promise": {"m": 3, "odds": 1.5},
            "defence": {"method": "cohort"},
            "adversary": adversary,
        }
    )


def test_sure_share_judges_belief_in_a_series_of_cohorts(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    people = np.arange(400)
    ill, age = chance.choice(list("abcdef"), 400, p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]), chance.integers(18, 90, 400)
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for first in (0, 30):
        view = pa.table({"who": people[first:].astype(str), "age": age[first:], "ill": ill[first:]})
        made = sr.publish(view, policy(sure_share=0.0, compromised=0.05), ledger)
        assert made.verdict.released, made.verdict.reasons
        (told,) = [one for one in made.verdict.estimates if one.attack == "belief"]
        assert told.detail["exact"]
        assert 0.5 < told.detail["largest_belief"] < 0.75
        assert told.share == 0.0
    strict = policy(sure_share=0.1, sure=0.45, raised=1.0)
    refused = sr.publish(view, strict, sr.Ledger.open(tmp_path / "other.db"))
    assert not refused.verdict.released  # half of the people hold a value that is believed by more than 45 %
    assert "sure_share" in refused.verdict.reasons[0]
