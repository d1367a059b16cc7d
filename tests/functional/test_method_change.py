"""A series that goes on under another method works, or is refused with what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from seriatim import api
from seriatim.errors import TableError
from seriatim.testing.hospital import POLICY, SERIES, hospital_months

VIEWS = hospital_months(400, 3, churn=0.15)
SERIAL = ("invariant", "historical", "cohort")


def text_of(method: str, epoch: int) -> str:
    text = SERIES.replace('"cohort"', f'"{method}"') if method in SERIAL else POLICY
    text = text.replace("m = 3 ", "n = 2\nm = 3 ") if method == "historical" else text
    return text.replace('respondent = "patient"', f'respondent = "patient"\nepoch = {epoch}')


@pytest.mark.parametrize(
    ("first", "then"), [(first, then) for first in ("median", *SERIAL) for then in SERIAL if first != then]
)
def test_every_pair_works_or_says_what_to_do(tmp_path: Path, first: str, then: str) -> None:
    ledger = api.open_ledger(tmp_path / "ledger.db")
    for number, method in enumerate((first, first, then)):
        (tmp_path / "policy.toml").write_text(text_of(method, 1 if number < 2 else 2))
        policy = api.load_policy(tmp_path / "policy.toml")
        if number < 2:
            assert api.publish(VIEWS[number], policy, ledger).verdict.released
    made = api.publish(VIEWS[2], policy, ledger)
    if then == "cohort":
        assert made.verdict.released, made.verdict.reasons
        assert any(note.startswith("taken over after release 2") for note in made.verdict.notes)
    elif first == "median":
        assert not made.verdict.released
    if not made.verdict.released:
        said = (
            "start a new series under another name",
            "suppress = ",
        )  # another promise of the past, or too many withheld
        assert any(what in remedy for remedy in made.verdict.remedies for what in said)
    assert ledger.verify().sound


@pytest.mark.parametrize("method", ["median", "cohort"])
def test_several_records_of_a_person_are_told_with_a_remedy(tmp_path: Path, method: str) -> None:
    text = text_of(method, 1) + ("\n[adversary]\nbreach_share = 0.1\n" if method == "median" else "")
    (tmp_path / "policy.toml").write_text(text)
    ledger = api.open_ledger(tmp_path / "ledger.db")
    twice = pa.concat_tables([VIEWS[0], VIEWS[0].slice(0, 7)])
    with pytest.raises(TableError, match="keep one record per person") as caught:
        api.publish(twice, api.load_policy(tmp_path / "policy.toml"), ledger)
    assert "7 respondents with more than one record, up to 2" in str(caught.value)
    assert list(ledger.records()) == []


@pytest.mark.parametrize("seed", [2, 3])
def test_groups_of_cohorts_are_not_republished_by_a_method_whose_promise_they_break(tmp_path: Path, seed: int) -> None:
    """Sticky groups are taken as they were; a cohort's group may hold a value twice, which the promise refuses."""
    views = hospital_months(500, 4, churn=0.15, seed=seed)
    ledger = api.open_ledger(tmp_path / "ledger.db")
    for number, view in enumerate(views):
        (tmp_path / "policy.toml").write_text(text_of("cohort", 1) if number < 3 else text_of("historical", 2))
        made = api.publish(view, api.load_policy(tmp_path / "policy.toml"), ledger)
        assert number == 3 or made.verdict.released, made.verdict.reasons
    (invariance,) = [one for one in made.verdict.findings if one.rule == "weak_m_uniqueness"]
    assert invariance.kept


def returning(releases: int = 5) -> list[pa.Table]:
    """A sixth of 500 people leave every time, and half of those who were away return."""
    chance = np.random.default_rng(4)
    age, kids = chance.integers(20, 60, 1_500), chance.choice(5, 1_500, p=[0.3, 0.3, 0.2, 0.1, 0.1])
    here, away, views, new = np.arange(500), np.empty(0, dtype=np.int64), [], 500
    for _ in range(releases):
        views.append(pa.table({"who": here, "age": age[here], "kids": kids[here]}))
        leaves, back = chance.random(len(here)) < 0.17, chance.random(len(away)) < 0.5
        came = np.arange(new, new + max(int(leaves.sum()) - int(back.sum()), 0))
        new += len(came)
        here, away = (
            np.concatenate((here[~leaves], away[back], came)),
            np.concatenate((away[~back], here[leaves])),
        )
    return views


def kids_by(method: str, epoch: int, **promise: float) -> api.Policy:
    return api.policy_from_dict(
        {
            "series": {"name": "kids", "respondent": "who", "epoch": epoch},
            "columns": {"age": {"role": "quasi"}, "kids": {"role": "sensitive"}},
            "promise": {"m": 2, **promise},
            "defence": {"method": method},
        }
    )


def test_a_table_of_counterfeits_is_noted(tmp_path: Path) -> None:
    ledger, views = api.open_ledger(tmp_path / "ledger.db"), returning()
    for view in views[:4]:
        assert api.publish(view, kids_by("cohort", 1), ledger).verdict.released
    made = api.publish(views[4], kids_by("historical", 2, n=1), ledger)
    counterfeits = int(made.groups["counterfeit"].to_numpy(zero_copy_only=False).sum())
    noted = any(note.startswith(f"{counterfeits:,} rows are counterfeits, beside ") for note in made.verdict.notes)
    assert noted == (counterfeits > 0.1 * made.groups.num_rows)
    assert counterfeits > 100
