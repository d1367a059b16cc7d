"""Cohorts of a table in which most people share a value: published with ``odds``, refused with a remedy without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import seriatim as sr

GRADES = np.array([12, 8, 10, 14, 16])


def months(share: float, releases: int = 4, people: int = 1_000) -> list[pa.Table]:
    """A tenth of the people leave every month; ``share`` of all have grade 12."""
    chance = np.random.default_rng(5)
    n = people + releases * people // 10
    grade = chance.choice(GRADES, n, p=[share, *[(1 - share) / 4] * 4])
    age, here, views = chance.integers(18, 60, n), np.arange(people), []
    for release in range(releases):
        views.append(pa.table({"who": here, "age": age[here], "grade": grade[here]}))
        stay = chance.permutation(here)[people // 10 :]
        here = np.sort(np.concatenate((stay, people + release * people // 10 + np.arange(people // 10))))
    return views


def asked(epoch: int = 1, **promise: float) -> sr.Policy:
    shape: dict[str, Any] = {
        "series": {"name": "panel", "respondent": "who", "epoch": epoch},
        "columns": {"age": {"role": "quasi", "kind": "number"}, "grade": {"role": "sensitive"}},
        "promise": {"m": 3, **promise},
        "defence": {"method": "cohort"},
    }
    return sr.Policy.from_dict(shape)


def test_most_share_a_value_and_everyone_is_published(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    for view in months(0.6):
        made = sr.publish(view, asked(odds=1.5), ledger)
        assert made.verdict.released, made.verdict.reasons
        rules = [finding.rule for finding in made.verdict.findings if finding.kept]
        assert rules[0] == "fair_cells"
        fair = made.verdict.findings[0]
        assert 1 / 3 < fair.worst <= fair.threshold < 0.75
        shown = made.table["grade"].to_numpy()
        assert abs((shown == 12).mean() - (view["grade"].to_numpy() == 12).mean()) < 0.03
        waiting = made.groups.filter(made.groups["suppressed"])
        assert len(waiting) < 0.02 * len(view), "fewer than a batch of newcomers may wait together"
    found = sr.attack(ledger, {"compromised": 0.1}, series="panel")
    assert found.iterated.share == 0


def test_without_common_the_refusal_says_what_would_pass(tmp_path: Path) -> None:
    view = months(0.6, releases=1)[0]
    made = sr.publish(view, asked(), sr.Ledger.open(tmp_path / "ledger.db"), suggest=True)
    share = (view["grade"].to_numpy() == 12).mean()
    (reason,) = [one for one in made.verdict.reasons if one.startswith("suppress")]
    assert f"the most frequent value of 'grade' has {share:.1%}, m = 3 allows 33.3%: " in reason
    assert "[promise] odds = 2 would pass" in reason
    assert any("tried and passes: [promise] odds = 2" in remedy for remedy in made.verdict.remedies)


def test_a_running_series_goes_on_with_common(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    views = months(0.22)
    for at, view in enumerate(views):
        made = sr.publish(view, asked() if at < 2 else asked(2, odds=1.5), ledger)
        assert made.verdict.released, made.verdict.reasons


def test_cohorts_above_one_mth_do_not_go_on_without_common(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    first, second = months(0.6, releases=2)
    assert sr.publish(first, asked(odds=1.5), ledger).verdict.released
    made = sr.publish(second, asked(2), ledger)
    assert not made.verdict.released
    assert any(reason.startswith("fair_cells") for reason in made.verdict.reasons)


def test_nearly_everyone_alike_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sr.TableError, match="carries no information"):
        sr.publish(months(0.98, releases=1)[0], asked(odds=1.5), sr.Ledger.open(tmp_path / "ledger.db"))


def test_recipients_see_no_share_of_the_view_to_the_person(tmp_path: Path) -> None:
    """A cap in millionths gives the count of the common value back, and so what somebody holds who was withheld."""
    made = sr.publish(months(0.6)[0], asked(odds=1.5), sr.Ledger.open(tmp_path / "ledger.db"))
    own = next(one.threshold for one in made.verdict.findings if one.rule == "fair_cells")
    (told,) = [one["asked"] for one in made.codebook["promises"] if one["promise"] == "fair_cells"]
    assert own <= told <= own + 0.01
    assert round(100 * told, 9) == round(100 * told)


def test_the_verdict_says_by_how_much_odds_grow_from_those_of_the_table(tmp_path: Path) -> None:
    """They were said to grow from the largest share that a value ever had, and so to grow less than the table shows."""
    chance, ledger = np.random.default_rng(2), sr.Ledger.open(tmp_path / "ledger.db")
    value = chance.choice(list("abcdef"), 2_000, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
    stay = np.flatnonzero((value != "a") | (chance.random(2_000) < 0.2))
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "panel", "respondent": "who"},
            "columns": {"age": {"role": "quasi"}, "value": {"role": "sensitive"}},
            "promise": {"m": 3, "odds": 2},
            "defence": {"method": "cohort"},
        }
    )
    for here in (np.arange(1_200), np.intersect1d(stay, np.arange(1_200)), stay):
        view = pa.table({"who": here, "age": chance.integers(18, 60, 2_000)[here], "value": value[here]})
        made = sr.publish(view, policy, ledger)
        (cells,) = [one for one in made.verdict.findings if one.rule == "fair_cells"]
        said = float(cells.detail.partition("grow at most ")[2].partition("-fold")[0])
        shown = made.verdict.measure("odds_in_group").value
        assert shown <= said + 1e-9 <= shown + 0.1
