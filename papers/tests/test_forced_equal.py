"""Small series are searched for people whom chains over several releases force to be equal; large ones say so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from support.random_series import (
    OneWorker,
    Series,
    assert_complete,
    assert_invariant,
    published,
    series,
    unsafe_pairs,
)

from seriatim.attacks.twin_sets import twins
from seriatim.defences.series.contract import SerialDraw, SerialRules, SerialView, WithheldReason
from seriatim.defences.series.memory import RememberedRows
from seriatim_papers.cor_split import cor_split_numbers, cor_split_scales
from seriatim_papers.historical import forced_equal
from seriatim_papers.historical.forced_equal import LEFT_OUT, UNJUDGED
from seriatim_papers.historical.safe_groups import historical, historical_groups
from seriatim_papers.memory import GroupMemory
from seriatim_papers.worlds.census import CensusChurn, census

RULES = SerialRules(4, 2)


def views_of_600(seed: int) -> list[SerialView]:
    churn = CensusChurn(600, 0.1, 6)
    people = census(CensusChurn(600, 0.1, 8).n_people, seed)
    return [
        SerialView(
            quasi=people.quasi[who],
            scales=cor_split_scales(),
            sensitive=(people.income[who] % 12).astype(np.int32),
            n_values=12,
            person=number,
        )
        for who, number in cor_split_numbers(people, churn, seed)
    ]


def forced(pasts: list[RememberedRows], view: SerialView) -> int:
    return sum(map(len, twins(forced_equal._history(view, pasts))))


@pytest.mark.parametrize("seed", [2, 20])
def test_a_chain_that_pairs_and_unions_do_not_show_is_not_released(seed: int) -> None:
    plain, searched, left_out = [], [], 0
    for release, view in enumerate(views_of_600(seed), 1):
        draw = SerialDraw(b"s", release)
        made = historical_groups(view, RULES, GroupMemory.of(plain, view.person), draw, OneWorker())
        plain.append(published(view, made))
        made = historical(view, RULES, searched, draw, OneWorker())
        assert_complete(view, made)
        left_out += made.counters[LEFT_OUT]
        assert made.counters[UNJUDGED] == 0
        searched.append(published(view, made))
        assert forced(searched, view) == 0
        assert made.n_withheld(WithheldReason.UNSAFE) < 20
    assert forced(plain, view) == 2, "two people of this series were forced to be equal"
    assert unsafe_pairs(plain, RULES.n) == 0, "and no pair of groups showed it"
    assert left_out == 1


@settings(max_examples=60, deadline=None)
@given(series(max_people=60, max_releases=5))
def test_no_small_series_forces_anybody(world: Series) -> None:
    pasts: list[RememberedRows] = []
    for release, view in enumerate(world.views()):
        made = historical(view, SerialRules(world.m, world.n), pasts, SerialDraw(b"secret", release), OneWorker())
        assert_complete(view, made)
        pasts.append(published(view, made))
        assert forced(pasts, view) == 0
    assert_invariant(pasts)


def test_a_large_series_says_whose_chains_were_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forced_equal, "SMALL", 1_000)
    pasts: list[RememberedRows] = []
    for release, view in enumerate(views_of_600(3)[:2], 1):
        made = historical(view, RULES, pasts, SerialDraw(b"s", release), OneWorker())
        pasts.append(published(view, made))
        n_published = len(view) - made.n_withheld()
        assert made.counters[UNJUDGED] == (n_published if release > 1 else 0)
