"""Forecasts of people believed right with certainty: larger groups hold longer, and constant values need none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
from support.command_line import seriatim
from support.joint_chains import history_of_arrays

import seriatim as sr
from seriatim import api
from seriatim.usecases.forecast import sure_people


def made(stay: float, n_people: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    value, values = rng.integers(0, 8, n_people), []
    for _ in range(3):
        value = np.where(rng.random(n_people) < stay, value, rng.integers(0, 8, n_people))
        values.append(value)
    place = np.arange(n_people)
    groups = [np.argsort(np.argsort(place + rng.normal(0, 4, n_people))) // 4 for _ in range(3)]
    return np.array(groups), np.array(values)


def test_larger_groups_hold_longer() -> None:
    history = history_of_arrays(*made(0.85), "abcdefgh")
    small, twice, large = sure_people.for_each_size(history, 4, (0.05, 0.05))
    assert (small.k, twice.k, large.k) == (4, 8, 16)
    assert small.numbers == (4, 5, 6, 7)
    assert small.shares == tuple(sorted(small.shares))
    assert small.shares[-1] > large.shares[-1]
    assert small.breaks(0.01) is not None
    assert small.breaks(1.0) is None
    assert 0.0 < small.before <= small.shares[-1]


def test_a_bound_that_is_broken_already_is_said(tmp_path: Path) -> None:
    """No k holds what the releases so far broke; episodes of one person are no comfort either."""
    groups, values = made(0.85)
    frame = [
        {"release": t + 1, "respondent": f"p{i}", "group": int(groups[t, i]), "wage": "abcdefgh"[values[t, i]]}
        for t in range(3)
        for i in range(120)
    ]
    ledger = sr.Ledger.open(tmp_path / "l.db")
    ledger.import_history(asked({}), pa.Table.from_pylist(frame))
    report = api.forecast_report(sr.forecast(ledger, "s", 2), "s")
    assert any(line.startswith("already ") and "no k brings that below 1% again" in line for line in report.sure)
    assert json.loads(report.to_json())["sure"][0]["today"] > 0.01
    if "an episode per value" in report.advice:
        assert "Episodes of one person are attacked separately" in report.advice


def test_values_that_never_change_are_left_to_the_other_attacks() -> None:
    assert sure_people.for_each_size(history_of_arrays(*made(1.0), "abcdefgh"), 4, (0.05, 0.05)) == ()


def many_values() -> list[pa.Table]:
    """Three tables of 150 people with 150 values, half of which change."""
    rng = np.random.default_rng(4)
    value, tables = np.arange(150), []
    for _ in range(3):
        held = {"id": [f"p{i}" for i in range(150)], "age": rng.integers(20, 60, 150), "wage": value.astype(str)}
        tables.append(pa.table(held))
        value = np.where(rng.random(150) < 0.5, value, rng.permutation(150))
    return tables


def asked(adversary: dict[str, object]) -> sr.Policy:
    return sr.Policy.from_dict(
        {
            "series": {"name": "s", "respondent": "id"},
            "columns": {"age": {"role": "quasi", "kind": "number"}, "wage": {"role": "sensitive"}},
            "promise": {"k": 5},
            "defence": {"method": "median"},
            "adversary": adversary,
        }
    )


def published(tmp_path: Path, adversary: dict[str, object]) -> sr.Ledger:
    ledger = sr.Ledger.open(tmp_path / "l.db")
    for view in many_values():
        assert sr.publish(view, asked(adversary), ledger).verdict.released
    return ledger


def test_people_with_too_many_values_are_not_left_out_silently(tmp_path: Path) -> None:
    """Forecast and attack say how many people changed and were not followed; knowledge of sequences follows them."""
    ledger = published(tmp_path, {"compromised": 0.0})
    found = sr.forecast(ledger, "s", 2)
    assert found.sure == ()
    assert found.n_unfollowed == sr.attack(ledger, series="s").n_unfollowed > 100
    report = api.forecast_report(found, "s")
    assert f"{found.n_unfollowed:,} people changed their value and were not judged" in report.to_html()
    assert report.record()["unfollowed"] == found.n_unfollowed
    told = seriatim(tmp_path, "forecast", "s", "--releases", "2", "--ledger", "sqlite:///l.db")
    assert told.code == 0, told.err
    assert "were not judged, since the column has more than 100 values" in " ".join(told.out.split())


def test_a_forecast_is_held_against_the_series_own_bound(tmp_path: Path) -> None:
    ledger = published(tmp_path, {"sure_share": 0.7, "sure": 0.8})
    assert sr.forecast(ledger, "s", 1).sure_share == 0.7
    assert sr.forecast(ledger, "s", 1, adversary={"sure_share": 0.2}).sure_share == 0.2


def test_a_forecast_judges_as_the_verdict_does(tmp_path: Path) -> None:
    """A series that kept its own sure_share was called not safe, since somebody is breached by exclusion."""
    groups, values = made(0.6)
    frame = [
        {"release": t + 1, "respondent": f"p{i}", "group": int(groups[t, i]), "wage": "abcdefgh"[values[t, i]]}
        for t in range(3)
        for i in range(120)
    ]
    said = {}
    for name, bound in {"sure": {"sure_share": 0.9}, "breach": {"breach_share": 0.001}, "none": {}}.items():
        ledger = sr.Ledger.open(tmp_path / f"{name}.db")
        ledger.import_history(asked(bound), pa.Table.from_pylist(frame))
        found = sr.forecast(ledger, "s", 2)
        assert found.today is not None
        assert found.today.share > 0
        said[name] = api.forecast_report(found, "s")
    assert said["sure"].stays_safe
    assert said["sure"].advice == "The series would keep its sure_share of 90% until release 5."
    assert "does not bound that" in said["sure"].today
    assert said["sure"].page().banner.tone == "good"
    assert not said["breach"].stays_safe
    assert not said["none"].stays_safe
