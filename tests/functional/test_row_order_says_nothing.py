"""Extracts come sorted by id. Groups must not follow that order, or the same neighbours meet month after month."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from seriatim import api

POLICY = {
    "series": {"name": "sorted", "respondent": "who"},
    "columns": {"town": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    "promise": {"m": 3},
}


@pytest.mark.parametrize("defence", [{"method": "invariant"}, {"method": "historical", "sticky": False}])
def test_people_of_one_place_meet_others_next_month(tmp_path: Path, defence: dict[str, Any]) -> None:
    """All live in one town: who is grouped with whom is a matter of order alone."""
    policy = api.policy_from_dict({**POLICY, "defence": defence})
    ledger = api.open_ledger(tmp_path / "ledger.db")
    people = [f"{number:04d}" for number in range(600)]
    groups = []
    for month in (people, [who for who in people if int(who) % 10]):
        ill = [f"ill {int(who) % 3}" for who in month]
        view = pa.table({"who": month, "town": ["A"] * len(month), "ill": ill})
        made = api.publish(view, policy, ledger)
        assert made.verdict.released, made.verdict.reasons
        rows = [row for row in made.groups.to_pylist() if not row["suppressed"] and not row["counterfeit"]]
        groups.append({row["respondent"]: row["group"] for row in rows})
    before, after = groups
    pairs = Counter((before[who], group) for who, group in after.items())
    again = sum(n >= 2 for n in pairs.values())
    assert again < 0.05 * len(set(after.values()))  # by chance it is about two groups in a hundred
