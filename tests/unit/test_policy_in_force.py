"""The policy that a ledger knows is read as values, in one place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from seriatim.model.adversary import Adversary
from seriatim.model.policy import SeriesTerms
from seriatim.model.policy_in_force import PolicyInForce, policy_in_force
from seriatim.policies import policy_from_dict
from seriatim.usecases.deliver import delivery_bound

SOURCE = Path(__file__).parents[2] / "src" / "seriatim"
READERS = {"policy_in_force.py", "epochs.py", "canonical.py"}
"""Who may look into the canonical text: as values, section by section, and its writer."""


def made(promise: dict[str, Any], adversary: dict[str, Any], sensitive: tuple[str, ...] = ("d",)) -> PolicyInForce:
    policy = policy_from_dict(
        {
            "series": {"name": "s", "respondent": "id"},
            "columns": {"a": {"role": "quasi"}, **{name: {"role": "sensitive"} for name in sensitive}},
            "promise": promise,
            "defence": {"method": "historical"},
            "adversary": adversary,
        }
    )
    return policy_in_force(policy.canonical)


def test_it_is_what_the_policy_said() -> None:
    found = made({"m": 4, "n": 2, "e": {"m": 3}}, {"breach_share": 1, "harmless": [0], "times": [1, 3]}, ("e", "d"))
    assert (found.method, found.sensitive, found.has_priors) == ("historical", ("d", "e"), False)
    assert found.series == found.series_of("d") == found.series_of(None) == SeriesTerms(m=4, n=2)
    assert found.series_of("e") == SeriesTerms(m=3, n=2)
    assert found.adversary == Adversary(breach_share=1, harmless=("0",), times=(1, 3))
    assert found.row is not None


def test_what_only_the_steward_has_is_not_in_it() -> None:
    found = made({"m": 2}, {"priors": {"p1": ["x", "y"]}, "sequence": {"stay": 0.5}, "breach_share": 0.1})
    assert found.has_priors
    assert found.adversary == Adversary(breach_share=0.1)


def test_older_ledgers_have_odds_by_its_old_name() -> None:
    text = json.dumps({"promise": {"further": {"m": 3, "common": 2.0}}})
    assert policy_in_force(text).series == SeriesTerms(m=3, odds=2.0)


def test_nothing_is_known_of_an_imported_series() -> None:
    for text in (None, "", "{}"):
        assert policy_in_force(text) == PolicyInForce()
        assert delivery_bound(text) is None
    assert PolicyInForce().row is None


@pytest.mark.parametrize(("stated", "together"), [({}, 1), ({"collusion": 1}, 1), ({"collusion": 3}, 3)])
def test_a_delivery_is_bounded_by_it(stated: dict[str, int], together: int) -> None:
    found = made({"m": 2}, {"breach_share": 0.1, **stated})
    bound = delivery_bound(
        policy_from_dict(
            {
                "series": {"name": "s", "respondent": "id"},
                "columns": {"d": {"role": "sensitive"}},
                "promise": {"m": 2},
                "adversary": {"breach_share": 0.1, **stated},
            }
        ).canonical
    )
    assert bound is not None
    assert (bound.together, bound.compromised, bound.columns) == (together, 0.0, ("d",))
    assert found.adversary.together == together


def test_nobody_else_digs_in_the_text() -> None:
    digging = re.compile(r"json\.loads\([^)]*\b(policy|canonical)\b")
    found = {path.name for path in SOURCE.rglob("*.py") if digging.search(path.read_text(encoding="utf-8"))}
    assert found <= READERS
