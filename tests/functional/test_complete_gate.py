"""A small historical series is refused once the complete solver exceeds the bound, though rules find nobody or few."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.attacks import complete_share, prepare
from seriatim.attacks.complete_search import complete_sample
from seriatim.engines.threads import Threads
from seriatim_papers.cor_split import METHODS, CorSplitSetting, play_cor_split
from seriatim_papers.worlds.census import CensusChurn

BOUND = 0.02


def views(seed: int, n: int = 200, churn: float = 0.12, releases: int = 8) -> Iterator[pa.Table]:
    """200 people, of whom 12 % are replaced before each release."""
    chance = np.random.default_rng(seed)
    who, ill = np.arange(n), chance.integers(0, 8, n)
    age, place = chance.integers(18, 90, n), chance.integers(0, 50, n)
    for release in range(releases):
        yield pa.table({"who": who.astype(str), "age": age, "place": place, "ill": np.char.add("v", ill.astype(str))})
        out = chance.choice(n, int(churn * n), replace=False)
        who, ill, age, place = who.copy(), ill.copy(), age.copy(), place.copy()
        who[out] = n + release * len(out) + np.arange(len(out))
        ill[out], age[out] = chance.integers(0, 8, len(out)), chance.integers(18, 90, len(out))
        place[out] = chance.integers(0, 50, len(out))


def policy() -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "who"},
            "columns": {"age": {"role": "quasi"}, "place": {"role": "quasi"}, "ill": {"role": "sensitive"}},
            "promise": {"m": 3, "n": 2},
            "defence": {"method": "historical"},
            "adversary": {"compromised": 0.02, "breach_share": BOUND},
        }
    )


def test_the_solver_stops_a_series_before_the_bound_is_exceeded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("secrets.token_bytes", lambda n: b"s" * n)
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for view in views(2):
        made = sr.publish(view, policy(), ledger)
        (found,) = [one for one in made.verdict.estimates if one.attack == "exclusion"]
        assert found.detail["asked"] == found.detail["left_by_rules"]  # so few people are all asked about
        if not made.verdict.released:
            break
    assert not made.verdict.released
    assert found.detail["certain_by_solver"] > 0
    assert f"{found.detail['certain_by_solver']} certain" in next(
        one.detail for one in made.verdict.findings if one.rule == "breach_share"
    )
    # what was released before keeps the bound, judged anew by the solver
    kept = complete_share(prepare(ledger.history("s")), 0.02, (1, 2, 3, 4, 5))
    assert kept.high <= BOUND < found.high
    assert kept.wrong == 0


def test_clauses_decide_about_people_whom_exchanges_leave() -> None:
    setting = CorSplitSetting(CensusChurn(2_000, 0.12, 6), m=6, n=2, n_queries=1, query_every=6)
    ground = prepare(play_cor_split(METHODS[0], setting, Threads(1)).history())
    found = ground.compromise(ground.draw(0.02, 1), keep_log=False)
    asked = complete_sample(found, 60)
    assert asked.left >= 100
    assert len(asked.certain) > 0
    assert len(asked.undecided) == 0
