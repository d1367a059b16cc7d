"""Corners in which a promise would be kept on paper only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support import plain_promises as plain
from support.publication import QUASI, publish


@pytest.mark.parametrize("rule", [{"kind": "number"}, {"kind": "number", "hierarchy": {"interval": [1000]}}])
def test_values_of_withheld_people_do_not_stretch_the_scale(tmp_path: Path, rule: dict[str, Any]) -> None:
    """The ordered distance counts steps between values; values nobody sees must not make each step look small."""
    table = pa.table({"q": [1, 1, 2, 2] * 5 + [None] * 80, "s": [1, 1, 2, 2] * 5 + list(range(3, 83))})
    columns = {"q": {**QUASI, "missing": "suppress"}, "s": {"role": "sensitive", **rule}}
    promise = {"s": {"t": 0.25, "t_distance": "ordered"}}
    release = publish(table, columns, tmp_path, promise=promise, defence={"suppress": 0.9})
    assert release.verdict.released
    everyone = release.table.column("s").to_pylist()
    domain = sorted(set(everyone))
    assert domain == [1, 2]
    for members in plain.classes(release.table, ["q"]):
        values = [row["s"] for row in members]
        apart = plain.ordered_distance(plain.shares(values, domain), plain.shares(everyone, domain))
        assert apart <= 0.25 + 1e-9
    assert release.verdict.findings[1].worst <= 0.25


@pytest.mark.parametrize("rule", [{"order": ["a"]}, {"hierarchy": {"group": [["a"], ["b"]]}}], ids=["order", "tree"])
def test_unseen_sensitive_values_stay_different_values(tmp_path: Path, rule: dict[str, Any]) -> None:
    """They are published as they are, so a class of one of them is not the same as a class of another."""
    table = pa.table({"q": [1, 1, 2, 2] * 5, "s": ["x", "x", "y", "y"] * 5})
    columns = {"q": QUASI, "s": {"role": "sensitive", "on_unseen": "top", **rule}}
    release = publish(table, columns, tmp_path, promise={"s": {"t": 0.25, "l": 2}})
    assert release.verdict.released
    for members in plain.classes(release.table, ["q"]):
        assert {row["s"] for row in members} == {"x", "y"}


def test_unseen_and_missing_values_hang_under_the_top(tmp_path: Path) -> None:
    """So the way between two of them is the longest there is."""
    table = pa.table({"q": [1, 1, 2, 2] * 5, "s": ["x", "x", None, None] * 5})
    groups = {"order": [*"abcd"], "hierarchy": {"group": [2]}}
    columns = {"q": QUASI, "s": {"role": "sensitive", "on_unseen": "top", "missing": "value", **groups}}
    promise = {"s": {"t": 0.4, "t_distance": "hierarchical"}}
    release = publish(table, columns, tmp_path, promise=promise)
    assert release.verdict.released
    assert len(plain.classes(release.table, ["q"])) == 1  # apart, each class would be 0.5 from the whole


def test_minus_nothing_is_nothing(tmp_path: Path) -> None:
    table = pa.table({"q": [0.0, -0.0, 0.0, -0.0]})
    assert publish(table, {"q": QUASI}, tmp_path).table.column("q").to_pylist() == ["0"] * 4


def test_short_floats_stay_short(tmp_path: Path) -> None:
    table = pa.table({"q": pa.array([0.1, 0.1, 2.5, 2.5], pa.float32())})
    assert set(publish(table, {"q": QUASI}, tmp_path).table.column("q").to_pylist()) == {"0.1", "2.5"}
