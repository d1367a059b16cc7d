"""A forecast says when the first person breaks, what lasts longer, and respects what is known beforehand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.command_line import seriatim

from seriatim import api
from seriatim.errors import AdversaryError, InputError
from seriatim.model import History, PastRelease
from seriatim.policies.questions import AdversaryKeysUnread
from seriatim.testing.hospital import POLICY, SERIES, hospital_months

VIEWS = hospital_months(300, 3, churn=0.2)


def ledger_of(folder: Path, text: str, n: int = 2) -> Any:
    (folder / "policy.toml").write_text(text)
    ledger = api.open_ledger(folder / "ledger.db")
    for view in VIEWS[:n]:
        assert api.publish(view, api.load_policy(folder / "policy.toml"), ledger).verdict.released
    return ledger


def test_where_somebody_breaks_it_is_tried_what_lasts_longer(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, SERIES.replace("cohort", "invariant"))
    found = api.forecast(ledger, "ward-visits", 4, {"m": 3, "compromised": 0.1})
    labels = [course.way.label for course in found.courses]
    assert labels[:4] == [
        "cohort, m = 3, odds = 2, a new series",
        "distinct, m = 3",
        "historical, m = 3, n = 1",
        "invariant, m = 3, as now",
    ]
    base = found.courses[3]
    assert base.first_break is not None
    assert base.numbers == (3, 4, 5, 6)
    half = next(course for course in found.courses if course.method == "invariant" and course.way.every == 2)
    assert half.numbers == (4, 6)
    # m cannot be raised in a series whose groups hold three values
    assert "invariant, m = 4, a new series" in labels
    page = api.forecast_report(found, "ward-visits")
    assert "release" in page.advice
    assert page.to_html().count("every second time") >= 2


def test_a_series_of_a_one_release_method_is_exposed_today_and_continued_by_none(tmp_path: Path) -> None:
    ledger_of(tmp_path, POLICY, 3)
    done = seriatim(tmp_path, "forecast", "ward-visits", "--releases", "2", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["today"] > 0
    now, *others = found["courses"]
    assert (now["as_now"], now["new_series"], now["m"]) == (True, False, None)
    assert now["breached"][-1] >= found["today"]  # what was published cannot be called back
    assert not any(course["as_now"] for course in others)
    assert all(course["new_series"] for course in others if course["m"] is not None)
    shown = seriatim(tmp_path, "forecast", "ward-visits", "--releases", "2")
    assert "breached by the releases so far" in shown.out
    assert found["advice"] in shown.out
    written = seriatim(tmp_path, "forecast", "ward-visits", "--releases", "2", "--out", "f.html")
    assert written.code == 0, written.err
    assert json.loads((tmp_path / "f.json").read_text())["courses"] == found["courses"]
    assert "ward-visits" in (tmp_path / "f.html").read_text()


def test_a_key_that_a_forecast_does_not_know_is_an_error_and_one_it_does_not_read_is_heard_of(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, SERIES)
    with pytest.raises(AdversaryError, match=r"adversary: unknown: compromisd; allowed: .*compromised"):
        api.forecast(ledger, "ward-visits", 1, adversary={"compromisd": 0.3})
    with pytest.raises(InputError, match="rules: a list"):
        api.forecast(ledger, "ward-visits", 1, [3])  # type: ignore[arg-type]
    with pytest.warns(AdversaryKeysUnread, match="adversary: not read here: collusion"):
        found = api.forecast(ledger, "ward-visits", 1, adversary={"breach_share": 0.1, "collusion": 2})
    assert found.courses == api.forecast(ledger, "ward-visits", 1, adversary={"breach_share": 0.1}).courses


@pytest.mark.filterwarnings("default::seriatim.policies.questions.AdversaryKeysUnread")
def test_a_command_notes_what_it_does_not_read(tmp_path: Path) -> None:
    ledger_of(tmp_path, SERIES)
    (tmp_path / "adversary.toml").write_text("compromised = 0.04\nlifespan = 24\n")
    told = seriatim(tmp_path, "forecast", "ward-visits", "-r", "1", "--adversary", "adversary.toml")
    assert (told.code, told.err) == (0, "note: adversary: not read here: lifespan\n")


def test_values_that_change_are_forecast_as_episodes() -> None:
    """Half of those who stay have another value in the second release: cohorts take that as other people."""
    from dataclasses import replace

    from seriatim.defences.series.contract import SerialRules
    from seriatim.engines.threads import Threads
    from seriatim.usecases.forecast.forecast import OutlookQuestion, forecast

    chance = np.random.default_rng(3)
    people, groups = np.arange(240, dtype=np.int32), np.repeat(np.arange(40, dtype=np.int32), 6)
    first = np.tile(np.arange(6, dtype=np.int32), 40)
    second = np.where(np.arange(240) % 2, first, (first + 1) % 6).astype(np.int32)
    shuffled = chance.permutation(240)
    history = History(
        pa.array([f"p{n}" for n in range(240)]),
        pa.array(list("uvwxyz")),
        (
            PastRelease(1, person=people, group=groups, value=first),
            PastRelease(2, person=people[shuffled], group=groups, value=second[shuffled]),
        ),
    )
    found = forecast(history, OutlookQuestion(2, rules=SerialRules(3, 1), compromised=0.04), Threads())
    assert (found.leaving, found.joining, found.changing) == (0.0, 0.0, 0.5)
    now, cohort = found.courses[0], next(one for one in found.courses if one.method == "cohort")
    assert now.way.label == "as now, in groups of 6 or more"
    assert now.numbers == (3, 4)
    assert "an episode per value" in cohort.way.label
    assert cohort.way.anew
    assert not cohort.stopped
    assert all(one.estimates[-1].wrong == 0 for one in found.courses if one.estimates)
    steady = replace(history, releases=(history.releases[0], replace(history.releases[0], number=2)))
    assert forecast(steady, OutlookQuestion(1, rules=SerialRules(3, 1)), Threads()).changing == 0.0


def priors_but(history: History, never: str) -> dict[str, set[str]]:
    """Of everyone who does not have it, one value is known to be impossible."""
    values, domain = {}, set(history.values.to_pylist())
    for past in history:
        for who, value in zip(past.person.tolist(), past.value.tolist(), strict=True):
            if who >= 0:
                values[history.respondents[who].as_py()] = history.values[value].as_py()
    return {who: domain - {never} for who, value in values.items() if value != never}


def test_priors_are_respected_and_newcomers_are_like_those_named(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, SERIES.replace("cohort", "invariant"))
    priors = priors_but(ledger.history("ward-visits"), "influenza")
    rules = {"m": 3, "compromised": 0.05}
    plain = api.forecast(ledger, "ward-visits", 2, rules)
    told = api.forecast(ledger, "ward-visits", 2, rules | {"priors": priors})
    assert plain.today is not None
    assert told.today is not None
    # whoever stands with a case of influenza and cannot have it has two values left, and soon one
    assert told.today.share > plain.today.share
    # only people with influenza can stand with it: nobody to mix with, so they wait or are joined by counterfeits
    cohort = [found.courses[0] for found in (plain, told)]
    assert cohort[1].withheld + cohort[1].counterfeits > cohort[0].withheld + cohort[0].counterfeits
    assert cohort[1].estimates[-1].wrong == 0
    with pytest.raises(AdversaryError, match="other columns"):
        api.forecast(ledger, "ward-visits", 2, {"impossible": {"sex": {"male": ["influenza"]}}})


def test_priors_below_m_stop_a_course_with_the_reason(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, SERIES)
    history = ledger.history("ward-visits")
    last = history.releases[-1]
    at = int(last.person[last.person >= 0][0])
    own = history.values[int(last.value[last.person == at][0])].as_py()
    other = next(value for value in history.values.to_pylist() if value != own)
    found = api.forecast(ledger, "ward-visits", 1, {"priors": {history.respondents[at].as_py(): [own, other]}})
    assert all("fewer than m = 3" in course.stopped for course in found.courses if not course.estimates)
    assert any(course.stopped for course in found.courses)


def test_people_known_by_name_stop_no_course_and_are_not_counted(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, SERIES)
    history = ledger.history("ward-visits")
    last = history.releases[-1]
    real = np.flatnonzero(last.person >= 0)[:5]
    known = {
        history.respondents[int(last.person[row])].as_py(): history.values[int(last.value[row])].as_py() for row in real
    }
    found = api.forecast(ledger, "ward-visits", 1, {"known": known, "compromised": 0.0})
    assert not any("fewer than m" in course.stopped for course in found.courses)
    assert any(course.estimates for course in found.courses)
    assert found.today.share == 0


def test_the_room_of_common_values_is_that_of_the_series(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    policy = api.policy_from_dict(
        {
            "series": {"name": "skewed", "respondent": "who"},
            "columns": {"age": {"role": "quasi", "kind": "number"}, "grade": {"role": "sensitive"}},
            "promise": {"m": 3, "odds": 1.5},
            "defence": {"method": "cohort"},
        }
    )
    ledger = api.open_ledger(tmp_path / "ledger.db")
    grade = chance.choice([12, 8, 10, 14], 1300, p=[0.55, 0.2, 0.15, 0.1])
    age = chance.integers(18, 60, 1300)
    for first in (0, 100):
        who = np.arange(first, first + 1200)
        view = pa.table({"who": who, "age": age[who], "grade": grade[who]})
        assert api.publish(view, policy, ledger).verdict.released
    (course,) = [one for one in api.forecast(ledger, "skewed", 1).courses if one.way.now]
    assert course.way.label == "cohort, m = 3, odds = 1.5, as now"
    assert course.withheld < 0.05  # without odds about half of the people would be
    with pytest.raises(AdversaryError, match="odds"):
        api.forecast(ledger, "skewed", 1, {"odds": 0.5})


def test_larger_groups_are_tried_where_each_release_is_made_alone(tmp_path: Path) -> None:
    found = api.forecast(ledger_of(tmp_path, POLICY), "ward-visits", 2)
    alone = [course for course in found.courses if course.way.alone is not None]
    least = alone[0].way.alone
    assert alone[0].first_break is not None
    assert least is not None
    assert [course.way.label for course in alone[1:]] == [
        f"{alone[0].method}, in groups of {least.people * times} or more" for times in (2, 4, 8)
    ]
    shares = [course.estimates[-1].share for course in alone]
    assert shares[-1] < shares[0]
