"""Many return at once, or leave with one value: fewer wait, fewer counterfeits stand, and every promise is kept."""

from __future__ import annotations

import numpy as np
import pytest
from support.lineages import remembered
from support.random_series import OneWorker, assert_complete, plain_view, published

from seriatim.attacks._exclusion import exclusion
from seriatim.defences.series.contract import SerialDraw, SerialGrouping, SerialRules
from seriatim.defences.series.lineage import grouping
from seriatim.defences.series.lineage.slots import SlotMemory
from seriatim.model.history import History
from seriatim.model.judged import JudgedHistory
from seriatim.promises.series.capped_lineages import CapsAsked, capped_lineages
from seriatim.promises.series.lineages import closed_lineages
from seriatim.promises.series.slots import SlotsAsked, lasting_slots

M, N_VALUES = 3, 6


def played(value: np.ndarray, present: list[np.ndarray]) -> tuple[list[SerialGrouping], History]:
    memory, made, history = SlotMemory(), [], []
    for release, who in enumerate(present):
        view = plain_view(value, who, N_VALUES)
        made.append(
            grouping.lineage_groups(view, SerialRules(M, odds=1.5), memory, SerialDraw(b"s", release), OneWorker())
        )
        assert_complete(view, made[-1])
        history.append(published(view, made[-1]))
        memory.remember(history[-1])
    return made, remembered(history)


def assert_kept(history: History) -> None:
    judged, asked = JudgedHistory(history), CapsAsked(M, 1.5)
    slots = SlotsAsked(M, asked.caps(judged)[0], asked.drop_strangers)
    for found in (closed_lineages(judged), capped_lineages(judged, asked), lasting_slots(judged, slots)):
        assert found.kept, found.detail


def a_crowd_returns(seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """A fifth of 1,600 people stay away for two releases, some others come, and nearly all return at once, twice."""
    chance = np.random.default_rng(seed)
    value = chance.choice(N_VALUES, 2_800, p=[0.55, 0.15, 0.1, 0.1, 0.05, 0.05]).astype(np.int32)
    present, came, away = [], 1_600, np.zeros(2_800, dtype=np.bool_)
    for release in range(7):
        here = np.arange(2_800) < came
        away = away & (chance.random(2_800) < 0.1) if release % 3 == 0 else away | (chance.random(2_800) < 0.12)
        present.append(np.flatnonzero(here & ~away))
        came += 60
    return value, present


def leavers_hold_one_value(seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Leavers hold the commonest value more often than those who come."""
    chance = np.random.default_rng(seed)
    value = chance.choice(N_VALUES, 6_000, p=[0.6, 0.1, 0.1, 0.1, 0.05, 0.05]).astype(np.int32)
    value[2_000:] = chance.choice(N_VALUES, 4_000, p=[0.5, 0.14, 0.12, 0.12, 0.06, 0.06])
    here, next_one, present = np.arange(2_000), 2_000, []
    for _ in range(6):
        present.append(here)
        stays = chance.random(len(here)) > np.where(value[here] == 0, 0.14, 0.1)
        here = np.concatenate((here[stays], next_one + np.arange(np.count_nonzero(~stays))))
        next_one += np.count_nonzero(~stays)
    return value, present


def n_withheld(made: list[SerialGrouping]) -> int:
    return sum(one.n_withheld() for one in made)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_crowd_that_returns_rejoins_its_lineage(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    value, present = a_crowd_returns(seed)
    made, history = played(value, present)
    assert sum(one.counters["rejoined"] for one in made) > 50
    assert_kept(history)
    known = np.random.default_rng(seed).choice(1_600, 160, replace=False).tolist()
    assert not exclusion(history, known).breached
    monkeypatch.setattr(grouping, "rejoin_together", lambda *_: None)
    waited, _ = played(value, present)
    assert n_withheld(made) < 0.8 * n_withheld(waited)


@pytest.mark.parametrize("seed", [1, 2])
def test_idle_slots_are_dropped_beside_slots_that_are_given_back(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    value, present = leavers_hold_one_value(seed)
    made, history = played(value, present)
    assert_kept(history)
    assert not exclusion(history, range(0, 2_000, 10)).breached
    monkeypatch.setattr(grouping, "free_idle_slots", lambda *_: 0)
    idle, _ = played(value, present)
    freed, before = (sum(one.counters["counterfeits"] for one in some) for some in (made, idle))
    assert freed < 0.8 * before
    assert n_withheld(made) <= n_withheld(idle) + 5
