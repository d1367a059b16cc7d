"""A data user counts the people who hold each value; the answers are compared with the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.panels import nlswork

import seriatim as sr
from seriatim.errors import TableError
from seriatim.reading import PublishedRelease


def policy(who: str, value: str, *quasi: str) -> sr.Policy:
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in quasi}
    return sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": who},
            "columns": {**columns, value: {"role": "sensitive", "kind": "category"}},
            "promise": {"m": 3, "odds": 1.5},
            "defence": {"method": "cohort"},
        }
    )


def read(made: Any) -> PublishedRelease:
    """What a recipient has: the table and the counterfeits in each box."""
    return PublishedRelease(made.release.draft.table, made.release.draft.counterfeits, {})


def test_on_a_real_panel_the_counts_are_near_the_truth(tmp_path: Path) -> None:
    frame = nlswork().frame[["id", "year", "age", "race", "south", "grade"]]
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for _, year in frame[frame.year < 72].groupby("year"):
        view = year.drop(columns="year")
        made = sr.publish(view, policy("id", "grade", "age", "race", "south"), ledger)
        assert made.verdict.released, made.verdict.reasons
        told = read(made).count_values("grade", people=len(view))
        truth = view["grade"].astype(str).value_counts()
        assert sum(told.values()) == pytest.approx(len(view))
        assert sum(abs(told.get(value, 0.0) - n) for value, n in truth.items()) / 2 < 0.02 * len(view)


def test_over_many_draws_the_counts_have_no_bias(tmp_path: Path) -> None:
    """Leavers stand as counterfeits with their values; ten are too few to be given up."""
    wrong, naive = [], []
    for seed in range(6):
        chance = np.random.default_rng(seed)
        ill = chance.choice(list("abcdef"), 360, p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
        age = chance.integers(18, 90, 360)
        ledger = sr.Ledger.open(tmp_path / f"{seed}.db")
        stays = np.sort(chance.choice(360, 350, replace=False))
        for rows in (np.arange(360), stays):
            view = pa.table({"who": rows.astype(str), "age": age[rows], "ill": ill[rows]})
            made = sr.publish(view, policy("who", "ill", "age"), ledger)
            assert made.verdict.released
        told = read(made).count_values("ill")
        assert sum(told.values()) == pytest.approx(len(stays))
        truth = int((ill[stays] == "a").sum())
        wrong.append(told["a"] - truth)
        naive.append(made.release.draft.table.column("ill").to_pylist().count("a") - truth)
    error = np.std(wrong, ddof=1) / np.sqrt(len(wrong))
    assert abs(np.mean(wrong)) < 3 * error + 0.5
    assert np.mean(naive) > abs(np.mean(wrong)) + 3


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(TableError, match="not in the release"):
        PublishedRelease(pa.table({"a": ["x"]}), None, {}).count_values("b")
    assert PublishedRelease(pa.table({"a": ["x", None, "x"]}), None, {}).count_values("a") == {"x": 2.0, None: 1.0}
