"""Promises about numbers under methods that look back: values of all releases stand on one scale."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.defences.series.shuffle import value_scale
from seriatim.model import CodedColumn, scale_of

DAY = datetime.date(2026, 1, 1)


def people(first: int, dated: bool) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    n = 160
    pay: Any = rng.integers(1, 400, n) * 10
    if dated:
        pay = [DAY + datetime.timedelta(days=int(days)) for days in pay]
    frame = pd.DataFrame({"person": [f"p{i}" for i in range(n)], "age": rng.integers(18, 80, n), "pay": pay})
    return frame.iloc[first : first + 120]


def largest_share(groups: pd.DataFrame, width: float) -> float:
    """The largest share of a group within a window, in plain Python."""
    worst = 0.0
    for _, group in groups.groupby("group"):
        values = group.pay.tolist()
        worst = max(worst, *(sum(a <= b <= a + width for b in values) / len(values) for a in values))
    return worst


@pytest.mark.parametrize("method", ["invariant", "historical", "cohort"])
def test_every_serial_method_is_judged_by_hit_chances(tmp_path: Path, method: str) -> None:
    columns = {"age": {"role": "quasi", "kind": "number"}, "pay": {"role": "sensitive", "kind": "number"}}
    promise = {"m": 3, "pay": {"max_hit_chance_at": {"300": 1.0}, "hit_chance_kind": "chance"}}
    series = {"name": "pay", "respondent": "person"}
    shape = {"series": series, "columns": columns, "promise": promise, "defence": {"method": method}}
    if method == "historical":  # a group that would force people to be equal is left out
        shape["defence"]["suppress"] = 0.6
    ledger = sr.Ledger.open(tmp_path / "ledger.db")
    for first in (0, 40):
        release = sr.publish(people(first, False), sr.Policy.from_dict(shape), ledger)
        assert release.verdict.released, release.verdict.reasons
        (found,) = [one for one in release.verdict.findings if one.rule == "max_hit_chance_at"]
        assert found.worst == pytest.approx(largest_share(release.table, 300))


def test_dates_are_judged_in_days(tmp_path: Path) -> None:
    columns = {"age": {"role": "quasi", "kind": "number"}, "pay": {"role": "sensitive", "kind": "date"}}
    promise = {"m": 3, "pay": {"max_hit_chance_at": {"300": 1.0}, "hit_chance_kind": "chance"}}
    series = {"name": "pay", "respondent": "person"}
    shape = {"series": series, "columns": columns, "promise": promise, "defence": {"method": "invariant"}}
    release = sr.publish(people(0, True), sr.Policy.from_dict(shape), sr.Ledger.open(tmp_path / "ledger.db"))
    (found,) = [one for one in release.verdict.findings if one.rule == "max_hit_chance_at"]
    days = release.table.assign(pay=pd.to_datetime(release.table.pay).map(lambda day: day.toordinal()))
    assert found.worst == pytest.approx(largest_share(days, 300))


def test_a_scale_of_old_and_new_values() -> None:
    column = CodedColumn("pay", np.zeros(1, dtype=np.int32), scale_of("interval", pa.array(["5"]), np.array([5.0])))
    scale, place = value_scale(column, pa.array([30, 5, None, -2]))
    assert scale.texts.to_pylist() == ["-2", "5", "30", None]
    assert scale.positions[:3].tolist() == [-2, 5, 30]
    assert place.tolist() == [2, 1, 3, 0]
    scale, place = value_scale(column, pa.array(["30", "x"]))
    assert (scale.form, place.tolist()) == ("set", [0, 1]), "a code that is no number has no distances"
