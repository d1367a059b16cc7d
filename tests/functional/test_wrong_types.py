"""What nobody should hand in: each is told in one line of ours, never as a bare error from somewhere below."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim_papers.degree import breach_probability, choose_n

ROWS = {
    "release": [1, 1, 2, 2],
    "respondent": ["a", "b", "a", "c"],
    "group": [1] * 4,
    "sensitive": ["x", "y", "x", "z"],
}
NAN = float("nan")


@pytest.fixture(scope="module")
def history() -> Any:
    return sr.History.from_frame(pa.table(ROWS))


def told(call: Callable[[], object]) -> str:
    with pytest.raises(sr.InputError) as caught:
        call()
    assert len(str(caught.value).splitlines()) == len(caught.value.faults)
    return str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (("x", 24, 6, 0.1), "compromised"),
        ((None, 24, 6, 0.1), "compromised"),
        ((NAN, 24, 6, 0.1), "compromised"),
        ((0.04, 2.5, 6, 0.1), "lifespan"),
        ((0.04, "a", 6, 0.1), "lifespan"),
        ((0.04, True, 6, 0.1), "lifespan"),
        ((0.04, 24, "6", 0.1), "m: a str"),
        ((0.04, 24, 6, None), "breach"),
        ((0.04, 24, 6, NAN), "breach"),
    ],
)
def test_choosing_a_degree(arguments: tuple[Any, ...], where: str) -> None:
    assert where in told(lambda: choose_n(*arguments))


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (("x", 24, 6, 1), "compromised:"),
        ((0.04, 24, 6, None), "n:"),
        ((0.04, 24, 6, 1.5), "n:"),
        ((0.04, 10**400, 6, 2), "lifespan:"),
        ((0.04, 24, 6, 9), "n:"),
    ],
)
def test_the_breach_probability(arguments: tuple[Any, ...], where: str) -> None:
    assert told(lambda: breach_probability(*arguments)).startswith(where)


def test_all_faults_of_the_adversary_at_once() -> None:
    assert told(lambda: choose_n(2.0, 0, 1, 0.1)).splitlines() == [
        "compromised: 2.0; allowed: a share from 0 to 1",
        "lifespan: 0; allowed: a whole number from 1 to 2^31 - 1",
        "m: 1; allowed: a whole number from 2 to 2^31 - 1",
    ]


@pytest.mark.parametrize(("share", "seeds"), [(0.1, 3), (0.1, ["a"]), (0.1, [-1]), (0.1, []), (None, [1]), (2, [1])])
def test_the_draws_of_an_attack(history: Any, share: Any, seeds: Any) -> None:
    where = {0.1: "seeds:", 2: "compromised:", None: "share:"}[share]
    assert told(lambda: sr.attacks.exclusion_share(history, share, seeds)).startswith(where)


@pytest.mark.parametrize("key", ["compromised", "least", "repetitions"])
@pytest.mark.parametrize("value", ["a", [1], NAN, -1, 2.5, True])
def test_the_adversary_of_an_attack(history: Any, key: str, value: Any) -> None:
    assert key in told(lambda: sr.attack(history, {key: value}))


@pytest.mark.parametrize("key", ["sure", "raised", "harmless", "times"])
@pytest.mark.parametrize("value", ["none", 5, -1, 2.5, [], {}, {"a": 1}, True, NAN, [None], [[1]], b"x"])
def test_the_knowledge_of_an_attack(history: Any, key: str, value: Any) -> None:
    """Numbers and lists; what is neither is never a bare error, and a word is no list of letters."""
    fine = (key == "raised" and value in (5, 2.5)) or (key in ("harmless", "times") and value == [])
    if fine:
        assert sr.attack(history, {key: value}).wrong == 0
    else:
        assert key in told(lambda: sr.attack(history, {key: value}))


@pytest.mark.parametrize("wrong", [None, "h", [1]])
def test_what_is_attacked_is_a_history(wrong: Any) -> None:
    for attack in (sr.attacks.intersection, sr.attacks.exclusion, sr.attacks.twins):
        assert "sr.History.from_frame" in told(lambda attack=attack: attack(wrong))


@pytest.mark.parametrize("adversary", [[1], "x", 0.5])
def test_an_adversary_is_a_mapping(history: Any, adversary: Any) -> None:
    assert "a mapping" in told(lambda: sr.attack(history, adversary))


def test_a_policy_and_a_ledger_are_what_they_are(tmp_path: Path) -> None:
    columns = {"a": {"role": "quasi"}}
    asked = {"series": {"name": "s"}, "columns": columns, "promise": {"k": 1}, "defence": {"method": "median"}}
    policy, ledger, table = sr.Policy.from_dict(asked), sr.Ledger.open(tmp_path / "l.db"), pa.table({"a": [1, 2]})
    wrong: Any = asked
    for call in (
        lambda: sr.publish(table, wrong, ledger),
        lambda: sr.compare(table, wrong),
        lambda: sr.audit(table, wrong),
    ):
        assert "policy: a dict" in told(call)
    path: Any = "l.db"
    for call in (
        lambda: sr.publish(table, policy, path),
        lambda: sr.forecast(path, "s", 3),
        lambda: sr.attack(path, {}, series="s"),
        lambda: sr.attack(path),
    ):
        assert "sr.Ledger.open" in told(call)
    assert "a whole number" in told(lambda: sr.forecast(ledger, "s", path))
    assert "sr.Approval" in told(lambda: sr.publish(table, policy, ledger, approval=path))
    for odd in (None, 3):
        told(lambda odd=odd: sr.Ledger.open(odd))
        told(lambda odd=odd: sr.Policy.load(odd))
    assert ledger.records() == []
    made = sr.publish(table, policy, ledger, recipients="Dr Weber")
    assert made.number == 1
    assert ledger.records()[0].recipients == ("Dr Weber",)


def test_an_empty_frame_is_a_history_without_releases() -> None:
    for frame in (pd.DataFrame({name: [] for name in ROWS}), pa.table(ROWS).slice(0, 0)):
        assert len(sr.History.from_frame(frame)) == 0


@pytest.mark.parametrize("wrong", [3, "carl", None, object()])
def test_the_compromised_are_a_list_of_people(history: Any, wrong: Any) -> None:
    assert told(lambda: sr.attacks.exclusion(history, wrong)).startswith("compromised: ")


@pytest.mark.parametrize("ids", [["7"], [7], [[1]], [True], [uuid.UUID(int=7)]])
def test_ids_of_another_type_are_unknown_people_not_a_bare_error(history: Any, ids: list[Any]) -> None:
    numbers = sr.History.from_frame(pa.table({**ROWS, "respondent": [1, 2, 1, 3]}))
    for target in (history, numbers):
        text = told(lambda target=target: sr.attacks.exclusion(target, ids))
        assert text == "compromised: 1 ids are not in the history; allowed: respondents of the history"
        found = sr.attacks.exclusion(target)
        assert told(lambda found=found: found.chain(ids[0])) == text


def test_an_id_is_the_same_as_a_number_and_as_text() -> None:
    """A ledger keeps ids as texts; who publishes numbers asks for numbers."""
    who = uuid.UUID(int=5)
    for ids, asked in (([1, 2, 1, 3], "1"), (["1", "2", "1", "3"], 1), ([who, "b", who, "c"], who)):
        rows = pd.DataFrame({**ROWS, "respondent": pd.Series(ids, dtype=object)})
        found = sr.attacks.exclusion(sr.History.from_frame(rows), [asked])
        assert sorted(found.breached.values()) == ["y", "z"]
        assert found.chain(asked)


def test_the_groups_of_releases_are_a_history_with_people_who_were_withheld() -> None:
    """``release.groups`` says null for the group of who was withheld: such a row was published nowhere."""
    told = pd.DataFrame({**ROWS, "respondent": ["a", "b", "a", None]})
    more = pd.DataFrame({"release": [1, 2], "respondent": ["w", "b"], "group": [None, None], "sensitive": ["x", "y"]})
    history = sr.History.from_frame(pd.concat([told, more], ignore_index=True))
    assert sr.attacks.intersection(history) == {"a": {"x"}, "b": {"x", "y"}}
    assert sr.attacks.exclusion(history).breached == sr.attacks.exclusion(sr.History.from_frame(told)).breached
    assert len(history) == 2
