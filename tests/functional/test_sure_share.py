"""Bounds on what someone believes who knows how values follow each other, judged before each release."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.api import attack_report
from seriatim.ledger.sql_ledger import SqlLedger
from seriatim.usecases.publish import followed_people
from seriatim.usecases.publish.belief_memory import BeliefMemory

VALUES = tuple("abcdefgh")


def months(n_months: int, n_people: int = 60, stay: float = 0.8, seed: int = 1) -> list[pa.Table]:
    """Tables of people who mostly keep their value, with ages that spread them over groups."""
    rng = np.random.default_rng(seed)
    value = rng.integers(0, len(VALUES), n_people)
    tables = []
    for _ in range(n_months):
        moved = rng.random(n_people) > stay
        value = np.where(moved, rng.integers(0, len(VALUES), n_people), value)
        age = 20 + np.arange(n_people) + rng.integers(-6, 7, n_people)
        ids, held = [f"p{i}" for i in range(n_people)], [VALUES[v] for v in value]
        tables.append(pa.table({"id": ids, "age": age.tolist(), "job": held}))
    return tables


def policy(**adversary: Any) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "id"},
            "columns": {"age": {"role": "quasi", "kind": "number"}, "job": {"role": "sensitive"}},
            "promise": {"k": 3, "l": 2},
            "defence": {"method": "median"},
            "adversary": adversary,
        }
    )


def test_a_bound_is_judged_before_each_release_and_refuses_one(tmp_path: Path) -> None:
    ledger, asked = sr.Ledger.open(tmp_path / "l.db"), policy(sure_share=0.05)
    verdicts = [sr.publish(view, asked, ledger).verdict for view in months(6)]
    findings = [next(f for f in verdict.findings if f.rule == "sure_share") for verdict in verdicts]
    assert findings[0].kept
    assert not all(finding.kept for finding in findings)
    refused = next(at for at, finding in enumerate(findings) if not finding.kept)
    assert not verdicts[refused].released
    assert verdicts[refused].reasons[0].startswith("sure_share: found")
    estimate = next(e for e in verdicts[refused].estimates if e.attack == "sequence")
    detail = estimate.detail
    assert detail["belief_before"] < detail["belief_one_release"] < detail["belief_looking_back"]
    assert 0.8 <= detail["hit_rate"] <= 1.0


def test_without_a_file_the_worst_of_the_attackers_counts_and_is_named(tmp_path: Path) -> None:
    """Values that follow a rule hardly ever stay: whoever mines the releases sees the rule."""
    views, rng = months(7, n_people=120, stay=1.0), np.random.default_rng(3)
    for at in range(1, len(views)):
        before = [VALUES.index(value) for value in views[at - 1]["job"].to_pylist()]
        moved = [VALUES[(v + 1) % 8] if rng.random() < 0.85 else VALUES[rng.integers(0, 8)] for v in before]
        views[at] = views[at].set_column(2, "job", pa.array(moved))
    found = {}
    for name, known in {"own": {}, "stay": {"sequence": {"stay": 0.02}}, "1": {"sequence": {"order": 1}}}.items():
        ledger = sr.Ledger.open(tmp_path / f"{name}.db")
        verdicts = [sr.publish(view, policy(sure_share=1.0, **known), ledger).verdict for view in views]
        estimates = [next(e for e in verdict.estimates if e.attack == "sequence") for verdict in verdicts]
        finding = next(f for f in verdicts[-1].findings if f.rule == "sure_share")
        assert ("; worst of stay " in finding.detail) == (name == "own")
        found[name] = estimates[-1]
        for attacker in found[name].detail.get("by_knowledge", {}):  # each has a memory of its own
            shares = [e.detail["by_knowledge"].get(attacker, 0.0) for e in estimates if "by_knowledge" in e.detail]
            assert shares == sorted(shares)
    assert found["own"].share >= found["1"].share > found["stay"].share + 0.1
    by = found["own"].detail["by_knowledge"]
    assert set(by) >= {"stay", "order 1"}
    assert by["stay"] < by["order 1"] - 0.1
    assert found["own"].share == max(by.values())
    assert found["own"].detail["knowledge"].startswith("mined, order")


def test_what_the_ledger_keeps_gives_the_same_verdict_as_the_whole_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short window with a memory counts nearly the people of a window over everything, and nobody twice."""
    shares = {}
    for window in (3, 100):
        monkeypatch.setattr(followed_people, "WINDOW", window)
        ledger, asked = sr.Ledger.open(tmp_path / f"l{window}.db"), policy(sure_share=1.0)
        made = [sr.publish(view, asked, ledger).verdict for view in months(7)]
        found = [next(e for e in verdict.estimates if e.attack == "sequence") for verdict in made]
        assert [e.detail["releases"] for e in found] == [min(at + 1, window) for at in range(7)]
        shares[window] = [e.share for e in found]
        assert shares[window] == sorted(shares[window])  # cumulated
    assert shares[3][:3] == shares[100][:3]
    assert shares[3][-1] == pytest.approx(shares[100][-1], abs=0.1)


def test_a_memory_is_read_as_it_was_written() -> None:
    beliefs = np.array([[0.2, 0.0, 0.8], [0.0, 0.0, 0.0], [0.5, 0.25, 0.25]])
    kept = BeliefMemory(
        people=pa.array(["p", "q", "r"]),
        upto=3,
        sure=np.array([True, False, False]),
        last=np.array([3, 0, 2]),
        values=pa.array(["a-b", None, "ü\0"]),
        beliefs=beliefs,
    )
    found = BeliefMemory.read(kept.table())
    assert found is not None
    assert (found.upto, found.people.to_pylist(), found.sure.tolist()) == (3, ["p", "q", "r"], [True, False, False])
    order = [found.values.to_pylist().index(value) for value in kept.values.to_pylist()]
    np.testing.assert_array_equal(found.beliefs[:, order], beliefs)
    assert BeliefMemory.upto_of(kept.table()) == 3


def test_late_releases_read_the_newest_ones_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a memory that goes on; a series that was not followed before is read whole, once."""
    asked_for, whole = [], SqlLedger.history

    def history(self: SqlLedger, series: str, sensitive: str | None = None, newest: int | None = None) -> Any:
        asked_for.append(newest)
        return whole(self, series, sensitive, newest)

    monkeypatch.setattr(followed_people, "WINDOW_OF_J", 2)
    monkeypatch.setattr(followed_people, "WINDOW", 2)
    monkeypatch.setattr(SqlLedger, "history", history)
    ledger, views = sr.Ledger.open(tmp_path / "l.db"), months(6)
    for at, view in enumerate(views):
        sr.publish(view, replace(policy(sure_share=1.0), epoch=2) if at > 2 else policy(), ledger)
    assert asked_for == [1, 1, 2, None, 2, 2]  # two count who changed; the fourth finds no memory


@pytest.mark.parametrize("known", [{"breach_share": 1.0}, {}])
def test_people_who_change_are_counted_where_nothing_follows_them(tmp_path: Path, known: dict[str, float]) -> None:
    ledger, asked = sr.Ledger.open(tmp_path / "l.db"), policy(**known)
    first, second = months(2)
    sr.publish(first, asked, ledger)
    changed = sum(a != b for a, b in zip(first["job"].to_pylist(), second["job"].to_pylist(), strict=True))
    notes = sr.publish(second, asked, ledger).verdict.notes
    assert any(note.startswith(f"the value of {changed} people changed, and they were not judged") for note in notes)


def test_a_common_value_names_nobody_unless_the_releases_raised_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    view = pa.table(
        {
            "id": [f"p{i}" for i in range(200)],
            "age": rng.integers(20, 60, 200).tolist(),
            "job": np.where(rng.random(200) < 0.93, "none", "one").tolist(),
        }
    )
    shares = []
    for known in ({"raised": 1.0}, {"raised": 10.0}, {"raised": 1.0, "harmless": ["none"]}):
        ledger = sr.Ledger.open(tmp_path / f"l{len(shares)}.db")
        verdict = sr.publish(view, policy(sure_share=1.0, **known), ledger).verdict
        shares.append(next(e for e in verdict.estimates if e.attack == "sequence").share)
    assert shares[0] > 0.3
    assert shares[1:] == [0.0, 0.0]


def test_a_release_that_publishes_nobody_is_judged_all_the_same(tmp_path: Path) -> None:
    ledger, view = sr.Ledger.open(tmp_path / "l.db"), months(1)[0].slice(0, 2)
    asked = sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "id"},
            "columns": {"age": {"role": "quasi", "kind": "number"}, "job": {"role": "sensitive"}},
            "promise": {"k": 4},
            "defence": {"method": "sequence", "suppress": 1.0},
            "adversary": {"sure_share": 0.0},
        }
    )
    for _ in range(2):
        made = sr.publish(view, asked, ledger, again=True)
        assert made.verdict.released, made.verdict.reasons
        assert made.table.num_rows == 0
        assert next(e for e in made.verdict.estimates if e.attack == "sequence").share == 0.0
        assert sr.attack(ledger, {"sure": 0.8}, series="s").sequence is None
    more = sr.publish(months(1)[0], asked, ledger).verdict
    assert next(e for e in more.estimates if e.attack == "sequence").detail["releases"] == 3


def test_harmless_values_that_nobody_ever_had_are_bad_input(tmp_path: Path) -> None:
    """A misspelt value would spare nobody, and the steward would think that it does."""
    ledger = sr.Ledger.open(tmp_path / "l.db")
    with pytest.raises(sr.AdversaryError, match=r"harmless: none of 2 values is in the view") as found:
        sr.publish(months(1)[0], policy(sure_share=1.0, harmless=["secretly", "none"]), ledger)
    assert "secretly" not in str(found.value)
    assert ledger.records() == []
    history = sr.History.from_frame(
        pa.table({"release": [1, 1, 2, 2], "respondent": list("abab"), "group": [0] * 4, "sensitive": list("xyyx")})
    )
    with pytest.raises(sr.AdversaryError, match="harmless: none of 1 values"):
        sr.attack(history, {"harmless": ["z"]})


def test_some_harmless_values_may_be_unknown_and_are_counted(tmp_path: Path) -> None:
    verdict = sr.publish(
        months(1)[0], policy(sure_share=1.0, harmless=["a", "later"]), sr.Ledger.open(tmp_path / "l.db")
    ).verdict
    assert any(note.startswith("[adversary] harmless: 1 of 2 values is") for note in verdict.notes)


@pytest.mark.parametrize("told_by", ["knowledge", "priors", "order", "history"])
def test_harmless_values_may_come_later_or_have_gone(
    tmp_path: Path, told_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the knowledge, a prior, the column's order or any release tells is no misspelling."""
    monkeypatch.setattr(followed_people, "WINDOW", 2)
    monkeypatch.setattr(followed_people, "WINDOW_OF_J", 2)
    names, ledger = [*VALUES, "later"], sr.Ledger.open(tmp_path / "l.db")
    stated: dict[str, Any] = {
        "knowledge": {"sequence": {"values": names, "matrix": (np.eye(9) / 2 + 1 / 18).tolist()}},
        "priors": {"value_priors": dict.fromkeys(names, 1.0)},
    }.get(told_by, {})
    asked = policy(sure_share=1.0, harmless=["later"], **stated)
    if told_by == "order":
        job = replace(asked.columns["job"], order=tuple(names))
        asked = replace(asked, columns={**asked.columns, "job": job})
    views = months(5)
    if told_by == "history":
        held = ["later" if value == "a" else value for value in views[0]["job"].to_pylist()]
        views[0] = views[0].set_column(2, "job", pa.array(held))
    for view in views:
        verdict = sr.publish(view, asked, ledger).verdict
        assert verdict.released
        assert not any("harmless" in note for note in verdict.notes)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"sequence": "nowhere.toml"}, "no such knowledge file"),
        ({"sequence": {"step": 1}}, "stay = 0.77"),
        ({"sequence": {"values": ["a"], "matrix": [[0.5, 0.5]]}}, "a row and a column for every value"),
    ],
)
def test_knowledge_that_cannot_be_read_is_bad_input(tmp_path: Path, known: dict[str, Any], said: str) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    with pytest.raises(sr.AdversaryError, match=said):
        sr.publish(months(1)[0], policy(sure_share=0.1, **known), ledger)
    assert ledger.records() == []


def test_a_person_twice_is_bad_input(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    view = months(1)[0]
    with pytest.raises(sr.TableError, match="1 respondents with more than one record, up to 2"):
        sr.publish(pa.concat_tables([view, view.slice(0, 1)]), policy(sure_share=0.5), ledger)
    assert ledger.records() == []


def test_people_may_be_erased_between_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_people, "WINDOW", 2)
    ledger, asked = sr.Ledger.open(tmp_path / "l.db"), policy(sure_share=1.0)
    views = months(4)
    for at, view in enumerate(views):
        left = view.slice(2 if at > 1 else 0)
        assert sr.publish(left, asked, ledger).verdict.released
        if at == 1:
            ledger.erase("s", "p0")
            ledger.erase("s", "p1")


def test_releases_are_as_far_apart_as_the_adversary_says(tmp_path: Path) -> None:
    """Steps are dates: after long gaps people have changed more often, and old releases say less."""
    belief = {}
    for name, times in (("close", None), ("far", [10, 20, 30])):
        ledger = sr.Ledger.open(tmp_path / f"{name}.db")
        known = {"sure_share": 1.0, "sequence": {"stay": 0.8}} | ({} if times is None else {"times": times})
        for view in months(3):
            verdict = sr.publish(view, policy(**known), ledger).verdict
        belief[name] = next(e for e in verdict.estimates if e.attack == "sequence").detail["belief_series"]
        known.pop("sure_share")
        belief[f"{name}, attacked"] = sr.attack(ledger, known, series="s").sequence.series
    assert belief["far, attacked"] < belief["close, attacked"] - 0.02
    assert belief["far"] < belief["close"] - 0.02


def test_a_release_without_a_time_is_bad_input(tmp_path: Path) -> None:
    ledger, asked = sr.Ledger.open(tmp_path / "l.db"), policy(sure_share=1.0, times=[2001])
    first, second = months(2)
    assert sr.publish(first, asked, ledger).verdict.released
    with pytest.raises(sr.SeriatimError, match="1 for a series of 2 releases"):
        sr.publish(second, asked, ledger)
    assert ledger.state("s").n_releases == 1
    with pytest.raises(sr.SeriatimError, match="times"):
        policy(sure_share=1.0, times=[3, 2])


def test_compromised_people_are_evidence(tmp_path: Path) -> None:
    """Whose values are known is drawn by id: the same people in every release, none of them counted."""
    found = {}
    for share in (0.0, 0.3):
        ledger = sr.Ledger.open(tmp_path / f"l{share}.db")
        for view in months(3):
            verdict = sr.publish(view, policy(sure_share=1.0, compromised=share), ledger).verdict
        found[share] = next(e for e in verdict.estimates if e.attack == "sequence").detail
    assert found[0.3]["belief_looking_back"] > found[0.0]["belief_looking_back"] + 0.03


def test_a_share_of_people_nobody_followed_is_no_green_zero(tmp_path: Path) -> None:
    """Everybody's value changes: breach_share has nobody to judge, and verdict, page and JSON say so."""
    ledger, asked = sr.Ledger.open(tmp_path / "l.db"), policy(breach_share=0.01)
    first, _ = months(2)
    moved = [VALUES[(VALUES.index(job) + 1) % len(VALUES)] for job in first["job"].to_pylist()]
    one = sr.publish(first, asked, ledger).verdict
    assert next(f for f in one.findings if f.rule == "breach_share").result == "kept"  # nobody was there before
    made = sr.publish(first.set_column(2, "job", pa.array(moved)), asked, ledger, out=tmp_path / "out")
    found = next(f for f in made.verdict.findings if f.rule == "breach_share")
    assert (found.result, found.n_unjudged) == ("not judged", 60)
    assert np.isnan(found.worst)
    assert "the value of 60 of 60 people published more than once changed" in found.detail
    assert "3 of 4 promises kept, 1 not judged for everyone" in repr(made.verdict)
    (page,) = (tmp_path / "out").rglob("private/report.html")
    assert "breach_share: not judged; 60 people were not judged" in page.read_text()
    assert "Every promise of the policy is kept" not in page.read_text()
    told = json.loads(page.with_suffix(".json").read_text())["findings"]
    assert next(f for f in told if f["rule"] == "breach_share")["result"] == "not judged"
    (codebook,) = (tmp_path / "out").rglob("public/codebook.json")
    assert "breach_share" not in codebook.read_text()  # nothing that was not judged is promised to recipients


def test_people_whose_value_stayed_are_judged_and_the_others_counted(tmp_path: Path) -> None:
    ledger, asked = sr.Ledger.open(tmp_path / "l.db"), policy(breach_share=0.9)
    both = sr.Ledger.open(tmp_path / "both.db")
    for view in months(2):
        found = next(f for f in sr.publish(view, asked, ledger).verdict.findings if f.rule == "breach_share")
        followed_too = sr.publish(view, policy(breach_share=0.9, sure_share=0.9), both).verdict.findings
    assert found.result == "partly judged"
    assert 0 < found.n_unjudged < 30
    beside = next(f for f in followed_too if f.rule == "breach_share")
    assert (beside.result, beside.n_unjudged) == ("kept", 0)
    assert "sure_share judges them" in beside.detail


def test_beliefs_within_a_window_count_more_people(tmp_path: Path) -> None:
    """Numbers are in an order: someone may be sure of the neighbourhood without being sure of the number."""
    rng = np.random.default_rng(6)
    years = [rng.integers(0, 8, 80)]
    years.append(np.clip(years[0] + rng.integers(-1, 2, 80), 0, 7))
    shares = {}
    for window in (0, 1, 7):
        ledger = sr.Ledger.open(tmp_path / f"l{window}.db")
        for year in years:
            view = pa.table({"id": [f"p{i}" for i in range(80)], "age": rng.integers(20, 60, 80), "job": year})
            verdict = sr.publish(view, policy(sure_share=1.0, raised=2.0, sure=0.7, window=window), ledger).verdict
        shares[window] = next(e for e in verdict.estimates if e.attack == "sequence").share
    assert shares[0] < shares[1]
    assert shares[7] == 0.0  # everything is near: nothing was raised
    with pytest.raises(sr.SeriatimError, match="values without an order"):
        sr.publish(months(1)[0], policy(sure_share=1.0, window=1), sr.Ledger.open(tmp_path / "words.db"))


def test_an_attack_that_is_sure_of_people_is_no_green_page(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for view in months(5):
        sr.publish(view, policy(), ledger)
    found = sr.attack(ledger, series="s", adversary={"sure": 0.8, "raised": 2})
    assert found.sequence is not None
    assert found.sequence.sure.right > 0
    page = attack_report(found, "s").to_html()
    assert f"{found.sequence.sure.right} people are inferred with certainty" in page
    assert "Nobody exposed" not in page
    assert "ever inferred with certainty" in page


def earnings(n: int = 300) -> pa.Table:
    """Pay that goes with age, so that groups hold narrow ranges of it."""
    pay = np.sort(np.random.default_rng(4).integers(100, 900, n)) * 10
    return pa.table({"id": [f"p{i}" for i in range(n)], "age": 20 + np.arange(n) // 5, "pay": pay})


@pytest.mark.parametrize("serial", [False, True])
def test_numbers_without_a_window_are_not_judged_and_never_green(tmp_path: Path, serial: bool) -> None:
    """Nobody is certain of one number among hundreds, so the bound said nothing, and was green."""
    found = {}
    for window in (0, 100):
        shape = {
            "series": {"name": "s", "respondent": "id"},
            "columns": {"age": {"role": "quasi", "kind": "number"}, "pay": {"role": "sensitive", "kind": "number"}},
            "promise": {"m": 3, "odds": 2} if serial else {"k": 3},
            "defence": {"method": "cohort" if serial else "median"},
            "adversary": {"sure_share": 0.05, "raised": 1.01, "window": window},
        }
        verdict = sr.publish(earnings(), sr.Policy.from_dict(shape), sr.Ledger.open(tmp_path / f"{window}.db")).verdict
        found[window] = next(one for one in verdict.findings if one.rule == "sure_share")
    assert found[0].result == "not judged"
    assert "only exact values were judged" in found[0].detail
    assert "only exact values" not in found[100].detail
    assert found[100].result == ("kept" if serial else "broken")
