"""``method = "auto"`` looks ahead: it releases what a k that was fixed beforehand cannot, and says what it chose."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import seriatim as sr
from seriatim.errors import PolicyError
from seriatim.model.policy import Policy
from seriatim.model.view import View
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of
from seriatim.testing.hospital import hospital_months
from seriatim.usecases.publish import publish as publish_module
from seriatim.usecases.publish.later_views import later_views, leaving_so_far, respondents_of

BOUND = 0.02
MONTHS = 4


def policy(defence: dict[str, Any], promise: dict[str, Any] | None = None, bound: float | None = BOUND) -> Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "patient"},
            "columns": {
                "age": {"role": "quasi", "kind": "number"},
                "sex": {"role": "quasi"},
                "postcode": {"role": "quasi", "hierarchy": {"prefix": [4, 3, 2, 0]}},
                "ward": {"role": "drop"},
                "disease": {"role": "sensitive"},
            },
            "promise": promise or {"k": 5},
            "defence": defence,
            "adversary": {} if bound is None else {"breach_share": bound},
        }
    )


AUTO = {"method": "auto", "releases": MONTHS}


@pytest.fixture(autouse=True)
def known_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish_module.secrets, "token_bytes", lambda n: bytes(range(n)))


def views() -> list[Any]:
    return hospital_months(800, MONTHS, churn=0.05)


def choice(made: Any) -> str:
    (told,) = [note for note in made.verdict.notes if note.startswith("auto: ")]
    return str(told)


def test_every_month_is_released_where_the_least_k_is_refused(tmp_path: Path) -> None:
    fixed, ledger = sr.Ledger.open(tmp_path / "fixed.db"), sr.Ledger.open(tmp_path / "auto.db")
    least = [sr.publish(view, policy({"method": "median"}), fixed).verdict.released for view in views()]
    assert not all(least)
    for view in views():
        made = sr.publish(view, policy(AUTO), ledger)
        assert made.verdict.released, made.verdict.reasons
        (judged,) = [one for one in made.verdict.findings if one.rule == "breach_share"]
        assert judged.kept  # the bound of the policy, and not what was foreseen
        (crowd,) = [one for one in made.verdict.findings if one.rule == "k"]
        assert f"median with k = {crowd.threshold:g} " in choice(made)
    assert {past.method for past in ledger.history("s", "disease")} == {"median"}


def test_the_choice_is_the_same_for_the_same_view_in_any_order_and_is_in_the_ledger(tmp_path: Path) -> None:
    ledger, first = sr.Ledger.open(tmp_path / "l.db"), views()[0]
    tried = sr.publish(first, policy(AUTO), ledger, dry_run=True)
    made = sr.publish(first.take(list(reversed(range(len(first))))), policy(AUTO), ledger)
    assert choice(tried) == choice(made)
    assert ledger.history("s", "disease").releases[-1].method == "median"


def test_a_series_that_no_k_protects_begins_with_cohorts_and_stays_with_them(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for view in hospital_months(400, 2, churn=0.05):
        values = [("a", "b", "c")[sum(map(ord, who)) % 3] for who in view["patient"].to_pylist()]
        few = view.set_column(view.column_names.index("disease"), "disease", [values])
        made = sr.publish(few, policy({"method": "auto"}, bound=0.0), ledger)
        assert made.verdict.released, made.verdict.reasons
        assert "cohort" in choice(made)
        assert {one.rule for one in made.verdict.findings} >= {"k", "fair_cells"}
    assert {past.method for past in ledger.history("s", "disease")} == {"cohort"}


def test_without_a_bound_there_is_nothing_to_choose_for(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="breach_share"):
        sr.publish(views()[0], policy(AUTO, bound=None), sr.Ledger.open(tmp_path / "l.db"))


def test_later_views_keep_their_size_and_lose_as_many_people_as_left_so_far(tmp_path: Path) -> None:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    first, second = hospital_months(800, 2, churn=0.2)
    large = policy({"method": "median"}, {"k": 100}, bound=1.0)
    assert sr.publish(first, large, ledger).verdict.released
    view: View = view_of(read_table(second), large)
    leaving = leaving_so_far(view, ledger.history("s", "disease"))
    assert 0.1 < leaving < 0.3
    chain = [view, *later_views(view, leaving, 3)]
    people = [set(respondents_of(one).to_pylist()) for one in chain]
    assert {len(one) for one in people} == {800}
    for before, after in pairwise(people):
        assert abs(len(before - after) / 800 - leaving) < 0.06
    assert not (people[0] - people[1]) & people[3]  # nobody comes back
