"""``leftovers = "withhold"`` withholds until the rest passes, or says why it cannot."""

from __future__ import annotations

from typing import Any

import pytest

import seriatim as sr
from seriatim.testing.hospital import hospital_months
from seriatim.usecases.publish import publish as publish_module


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Publish six months of which the third breaches too many people for a few classes to matter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish_module.secrets, "token_bytes", lambda n: bytes(range(n)))
        policy = sr.Policy.from_dict(
            {
                "series": {"name": "s", "respondent": "patient"},
                "columns": {
                    "age": {"role": "quasi", "kind": "number"},
                    "sex": {"role": "quasi"},
                    "postcode": {"role": "quasi", "hierarchy": {"prefix": [4, 3, 2, 0]}},
                    "ward": {"role": "plain"},
                    "disease": {"role": "sensitive"},
                },
                "promise": {"k": 20},
                "defence": {"method": "median", "leftovers": "withhold", "suppress": 0.15},
                "adversary": {"breach_share": 0.02},
            }
        )
        ledger = sr.Ledger.open(tmp_path_factory.mktemp("withheld") / "l.db")
        return [sr.publish(view, policy, ledger) for view in hospital_months(1500, 6, churn=0.05)]


def withheld(release: Any) -> float:
    return next(float(one.value) for one in release.verdict.measures if one.name == "suppressed_share")


def test_a_month_is_rescued_as_long_as_suppress_has_room(made: list[Any]) -> None:
    """It stopped where the rules of exclusion found nobody further, although the verdict's solver did."""
    rescued = [one for one in made if one.verdict.released and withheld(one)]
    assert rescued
    assert all(0 < withheld(one) <= 0.15 for one in rescued)


def test_what_cannot_be_rescued_is_left_whole_and_says_why(made: list[Any]) -> None:
    refused = [one for one in made if not one.verdict.released]
    assert refused
    for one in refused:
        assert withheld(one) == 0
        (why,) = [note for note in one.verdict.notes if "withheld nothing" in note]
        assert "suppress allows 15.0%" in why
