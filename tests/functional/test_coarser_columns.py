"""A quasi-identifier may be made coarser before anything else: ``rounding`` and ``level``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.testing.hospital import hospital_months

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "number"},
    "sex": {"role": "quasi"},
    "postcode": {"role": "quasi", "hierarchy": {"prefix": [4, 3, 2, 0]}},
    "ward": {"role": "plain"},
    "disease": {"role": "sensitive"},
}


def policy(**changes: dict[str, Any]) -> sr.Policy:
    columns = {name: {**rule, **changes.get(name, {})} for name, rule in COLUMNS.items()}
    return sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "patient"},
            "columns": columns,
            "promise": {"k": 5},
            "defence": {"method": "median", "suppress": 0.1},
        }
    )


@pytest.fixture(scope="module")
def view() -> pa.Table:
    return hospital_months(400, 1)[0]


def published(view: pa.Table, asked: sr.Policy, tmp_path: Path) -> Any:
    made = sr.publish(view, asked, sr.Ledger.open(tmp_path / "l.db"))
    assert made.verdict.released
    return made


def test_a_rounded_column_shows_multiples_only(view: pa.Table, tmp_path: Path) -> None:
    made = published(view, policy(age={"rounding": 10}), tmp_path)
    ages = {int(text) for label in made.table.column("age").to_pylist() for text in re.findall(r"\d+", label)}
    assert ages
    assert all(age % 10 == 0 for age in ages)
    told = {column["name"]: column.get("coarser") for column in made.codebook["columns"]}
    assert told["age"] == "values were replaced by multiples of 10 first"
    assert told["sex"] is None


def test_a_column_at_a_level_shows_no_finer_label(view: pa.Table, tmp_path: Path) -> None:
    finer = published(view, policy(), tmp_path)
    (tmp_path / "coarse").mkdir()
    made = published(view, policy(postcode={"level": 2}), tmp_path / "coarse")
    labels = set(made.table.column("postcode").to_pylist())
    assert any(re.fullmatch(r"\d{4}\*", text) for text in finer.table.column("postcode").to_pylist())
    assert labels
    assert all(re.fullmatch(r"\d{0,3}\*+", text) for text in labels), labels
    coarser = {column["name"]: column.get("coarser") for column in made.codebook["columns"]}["postcode"]
    assert coarser == "values were replaced by level 2 of its hierarchy first"


def test_the_last_level_and_other_columns_are_refused(view: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(sr.TableError, match="at most 3"):
        sr.publish(view, policy(postcode={"level": 4}), sr.Ledger.open(tmp_path / "l.db"))
    for wrong in (
        {"sex": {"level": 1}},
        {"disease": {"level": 1}},
        {"postcode": {"rounding": 5}},
        {"age": {"bands": [1.0]}},
    ):
        with pytest.raises(sr.PolicyError, match="another kind"):
            policy(**wrong)


def test_a_policy_without_them_keeps_its_digest() -> None:
    assert policy().digest != policy(age={"rounding": 10}).digest
    assert "rounding" not in policy().canonical
    assert "level" not in policy().canonical
