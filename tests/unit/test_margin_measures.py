"""Honest figures: how far the published values are from the truth, and how well people with a value are counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim.tables.writer import write_csv


def view(n: int = 900) -> pa.Table:
    chance = np.random.default_rng(5)
    grade = chance.choice([12, 8, 10, 14, 16], n, p=[0.55, 0.15, 0.1, 0.1, 0.1])
    return pa.table({"who": np.arange(n), "age": chance.integers(18, 60, n), "grade": grade})


def published(tmp_path: Path, method: str, promise: dict[str, Any], **defence: Any) -> Any:
    policy = sr.Policy.from_dict(
        {
            "series": {"name": "panel", "respondent": "who"},
            "columns": {"age": {"role": "quasi", "kind": "number"}, "grade": {"role": "sensitive"}},
            "promise": promise,
            "defence": {"method": method, **defence},
        }
    )
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    return sr.publish(view(), policy, ledger, approved_by="A. Ortiz", override="what it costs")


def test_a_table_without_withheld_people_tells_the_truth(tmp_path: Path) -> None:
    made = published(tmp_path, "median", {"k": 5})
    assert made.verdict.measure("margin_error").value == 0
    assert made.verdict.measure("margin_worst_ratio").value == 1
    assert made.verdict.measure("value_query_error_5%").value < 0.5


def test_withholding_a_value_shows_in_the_margin(tmp_path: Path) -> None:
    made = published(tmp_path, "cohort", {"m": 3}, suppress=0.9)
    assert made.verdict.reasons[0].startswith("eligible_table")
    truth, shown = view()["grade"].to_numpy(), np.array(made.table["grade"].to_pylist())
    values = np.unique(truth)
    p, q = (np.array([(part == value).mean() for value in values]) for part in (truth, shown))
    assert made.verdict.measure("margin_error").value == pytest.approx(abs(p - q).sum() / 2)
    assert made.verdict.measure("margin_worst_ratio").value == pytest.approx(np.maximum(p / q, q / p).max())
    assert "12" not in str(made.verdict.measure("margin_worst_ratio").detail)


def test_cohorts_with_common_values_stay_near_the_truth(tmp_path: Path) -> None:
    made = published(tmp_path, "cohort", {"m": 3, "odds": 1.5})
    assert made.verdict.measure("margin_error").value == 0
    (tmp_path / "other").mkdir()
    skewed = published(tmp_path / "other", "cohort", {"m": 3}, suppress=0.9)
    errors = [one.verdict.measure("value_query_error_5%").value for one in (made, skewed)]
    assert errors[0] < errors[1]


def test_the_command_line_says_it_when_values_are_off(tmp_path: Path) -> None:
    write_csv(view(), tmp_path / "panel.csv")
    (tmp_path / "policy.toml").write_text(
        '[series]\nname = "panel"\nrespondent = "who"\n[columns]\nage = { role = "quasi", kind = "number" }\n'
        'grade = { role = "sensitive" }\n[promise]\nm = 3\n[defence]\nmethod = "cohort"\nsuppress = 0.9\n'
    )
    told = seriatim(tmp_path, "publish", "panel.csv", "-p", "policy.toml")
    assert told.code == 3
    assert "values off by" in told.out
