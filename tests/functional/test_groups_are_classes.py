"""What the ledger remembers as a group is what a reader of the table can tell apart: no more."""

from __future__ import annotations

from pathlib import Path

import pytest

import seriatim as sr
from seriatim import api
from seriatim.testing.hospital import POLICY, hospital


@pytest.mark.parametrize("method", ["median", "curve", "lattice"])
def test_groups_that_are_published_alike_are_one(tmp_path: Path, method: str) -> None:
    """Ages tie, so that a cut leaves two groups with the same box; an attack on two of them knew too much."""
    (tmp_path / "policy.toml").write_text(POLICY.replace("median", method))
    policy = api.load_policy(tmp_path / "policy.toml")
    made = api.publish(hospital(1500), policy, api.open_ledger(tmp_path / "ledger.db"))
    quasi = ["age", "sex", "postcode"]
    boxes = made.table.group_by(quasi).aggregate([([], "count_all")])
    held = made.groups.filter(made.groups.column("group").is_valid()).group_by("group").aggregate([([], "count_all")])
    assert sorted(held.column("count_all").to_pylist()) == sorted(boxes.column("count_all").to_pylist())
    assert made.release.draft.grouping.n_groups == boxes.num_rows
    for column in made.release.draft.generalised:
        assert len(column.label_of_group) == len(column.loss_of_group) == boxes.num_rows


def test_groups_that_are_published_alike_are_measured_as_one(tmp_path: Path) -> None:
    """Two pieces under one label of the hierarchy: every figure of the merged group has one entry."""
    columns = {
        "age": {"role": "drop"},
        "sex": {"role": "quasi"},
        "postcode": {"role": "quasi", "kind": "category", "hierarchy": {"prefix": [4, 3, 2, 0]}},
        "ward": {"role": "plain"},
        "disease": {"role": "sensitive"},
    }
    asked = {
        "series": {"name": "s", "respondent": "patient"},
        "columns": columns,
        "promise": {"k": 3},
        "defence": {"method": "median"},
    }
    made = sr.publish(hospital(300), sr.Policy.from_dict(asked), sr.Ledger.open(tmp_path / "l.db"))
    draft = made.release.draft
    for shown in draft.generalised:
        assert len(shown.label_of_group) == len(shown.loss_of_group) == draft.grouping.n_groups
        assert shown.low is None or len(shown.low) == len(shown.high) == draft.grouping.n_groups
