"""The public faces are types of what they make, and zero is never taken for 'not said'."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.policies.questions import forecast_question, stated_plan

POLICY = {
    "series": {"name": "s", "respondent": "p"},
    "columns": {"a": {"role": "quasi"}, "d": {"role": "sensitive"}},
    "promise": {"k": 2},
    "defence": {"method": "median"},
}


def test_isinstance_holds_for_what_the_faces_make(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('[series]\nname = "s"\n[columns.a]\nrole = "quasi"\n[promise]\nk = 2\n')
    assert isinstance(sr.Policy.load(tmp_path / "policy.toml"), sr.Policy)
    assert isinstance(sr.Policy.from_dict(POLICY), sr.Policy)
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    assert isinstance(ledger, sr.Ledger)
    assert isinstance(ledger.history("s"), sr.History)
    frame = pa.table({"release": [1, 1], "respondent": ["x", "y"], "group": [1, 1], "sensitive": ["u", "v"]})
    assert isinstance(sr.History.from_frame(frame), sr.History)
    for wrong in (POLICY, "policy.toml", None):
        assert not isinstance(wrong, sr.Policy | sr.Ledger | sr.History)


@pytest.mark.parametrize("key", ["least", "repetitions"])
def test_zero_is_a_fault_of_an_attack(key: str) -> None:
    with pytest.raises(sr.AdversaryError, match=f"{key}: 0"):
        stated_plan({key: 0})


@pytest.mark.parametrize(("rules", "fault"), [({"m": 0}, "m: 0"), ({"m": 1}, "m: 1"), ({"n": 0}, "n: 0")])
def test_zero_is_a_fault_of_a_forecast(rules: dict[str, int], fault: str) -> None:
    with pytest.raises(sr.AdversaryError, match=fault):
        forecast_question(3, rules)


def test_what_is_left_out_has_one_default_on_the_command_line_and_in_python() -> None:
    assert forecast_question(3, None) == forecast_question(3, {"m": 3, "n": 1, "compromised": 0.04})
    assert stated_plan(None) == stated_plan({"compromised": 0.0, "least": 3, "repetitions": 5})


def test_a_key_that_nothing_reads_is_a_fault() -> None:
    with pytest.raises(sr.AdversaryError, match="unknown: compromise"):
        forecast_question(3, {"compromise": 0.1})


def test_one_value_in_a_group_is_no_promise() -> None:
    with pytest.raises(sr.PolicyError, match="a whole number from 2"):
        sr.Policy.from_dict({**POLICY, "promise": {"m": 1}})


def test_a_degree_that_cannot_be_met_says_what_would_help(tmp_path: Path) -> None:
    asked = {
        **POLICY,
        "promise": {"m": 6, "n": "choose"},
        "defence": {"method": "historical"},
        "adversary": {"compromised": 0.04, "lifespan": 25, "breach": 0.1},
    }
    table = pa.table({"p": ["x", "y"], "a": [1, 2], "d": ["u", "v"]})
    with pytest.raises(sr.SeriatimError, match="lifespan at most 24, or m at least 7"):
        sr.publish(table, sr.Policy.from_dict(asked), sr.Ledger.open(tmp_path / "ledger.db"))
