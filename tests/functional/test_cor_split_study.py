"""The paper's experiment at reduced size: who is safe, what it costs, and that everything adds up."""

from __future__ import annotations

import numpy as np
import pytest
from small_series import OneWorker, unsafe_pairs

from seriatim.studies.cor_split import METHODS, SELECTIVITIES, Played, Setting, play
from seriatim.studies.worlds.census import Churn

SETTING = Setting(Churn(3_000, 0.33, 5), n_queries=300, query_every=2)


@pytest.fixture(scope="module")
def played() -> dict[str, Played]:
    return {method.name: play(method, SETTING, OneWorker()) for method in METHODS}


def test_m_invariance_leaves_unsafe_groups_and_the_others_none(played: dict[str, Played]):
    assert sum(f.unsafe for f in played["invariant"].figures) > 0
    for name in ("cor-split", "repaired", "repaired, sticky"):
        assert all(f.unsafe == 0 for f in played[name].figures)


def test_the_count_of_unsafe_groups_is_that_of_the_definition(played: dict[str, Played]):
    history = list(played["invariant"].published[:3])
    plain = unsafe_pairs(history, SETTING.n)
    assert plain >= played["invariant"].figures[2].unsafe > 0


def test_costs(played: dict[str, Played]):
    def error(name: str) -> float:
        asked = [f.errors for f in played[name].figures if f.errors]
        return float(np.mean([e[s] for e in asked for s in SELECTIVITIES]))

    assert error("repaired") < 1.15 * error("invariant")
    assert error("repaired, sticky") < 1.15 * error("invariant")
    assert error("lineage") < error("invariant") < error("cor-split")
    assert played["lineage"].share("counterfeits") < 0.1
    for name, one in played.items():
        assert one.share("withheld") < 0.01, name


def test_everyone_is_accounted_for(played: dict[str, Played]):
    for one in played.values():
        for figures, rows in zip(one.figures, one.published, strict=True):
            assert (rows.person >= 0).sum() + figures.withheld == SETTING.churn.size
            assert (rows.person < 0).sum() == figures.counterfeits


def test_history_for_attacks(played: dict[str, Played]):
    history = played["lineage"].history()
    told = played["lineage"].history_with_leavers()
    assert len(history) == len(told) == SETTING.churn.releases
    assert (history.releases[-1].person < 0).sum() == played["lineage"].figures[-1].counterfeits
    assert (told.releases[-1].person < 0).sum() == 0
