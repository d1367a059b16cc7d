"""Whatever the table: a release keeps every promise, checked in plain Python, and a re-run gives the same rows."""

from __future__ import annotations

import math
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from support import plain_promises as plain
from support.random_tables import tables_and_policies

import seriatim as sr

ORDER = ["s0", "s1", "s2", "s3", "s4", "s5"]


def check_release(table: pa.Table, policy: dict[str, Any]) -> None:
    quasi = [name for name, rule in policy["columns"].items() if rule["role"] == "quasi"]
    promise = policy["promise"]
    for members in plain.classes(table, quasi):
        assert len(members) >= promise["k"]
        for column, asked in promise.items():
            if not isinstance(asked, dict):
                continue
            values = [row[column] for row in members]
            everyone = table.column(column).to_pylist()
            if asked.get("l_kind") == "distinct":
                assert plain.distinct(values) >= asked["l"]
            elif asked.get("l_kind") == "entropy":
                assert plain.entropy(values) >= math.log(asked["l"]) - 1e-9
            elif asked.get("l_kind") == "recursive":
                assert plain.recursive_holds(values, asked["l_c"], asked["l"])
            if asked.get("t_distance") == "equal":
                domain = list(dict.fromkeys(everyone))
                apart = plain.equal_distance(plain.shares(values, domain), plain.shares(everyone, domain))
                assert apart <= asked["t"] + 1e-9
            if asked.get("t_distance") == "ordered":
                domain = (
                    [*ORDER, None]
                    if policy["columns"][column].get("missing") == "value" and None in everyone
                    else ORDER
                )
                apart = plain.ordered_distance(plain.shares(values, domain), plain.shares(everyone, domain))
                assert apart <= asked["t"] + 1e-9
            if asked.get("t_distance") == "hierarchical":
                assert tree_apart(values, everyone) <= asked["t"] + 1e-7


def tree_apart(values: list[Any], everyone: list[Any]) -> float:
    """Pairs s0 s1, s2 s3, s4 s5 under one top; a missing value hangs under the top alone."""
    domain = list(dict.fromkeys(everyone))
    pair = [None if value is None else int(value[1]) // 2 for value in domain]
    cost = [
        [0.0 if a == b else 0.5 if pair[a] == pair[b] else 1.0 for a in range(len(domain))] for b in range(len(domain))
    ]
    return plain.transport_distance(plain.shares(values, domain), plain.shares(everyone, domain), cost)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables_and_policies())
def test_every_promise_holds_on_every_release(made: tuple[pa.Table, dict[str, Any]]) -> None:
    table, asked = made
    policy = sr.Policy.from_dict(asked)
    with tempfile.TemporaryDirectory() as folder:
        ledger = sr.Ledger.open(Path(folder) / "ledger.db")
        release = sr.publish(table, policy, ledger, empty=True)
        if not release.verdict.released:
            assert release.verdict.reasons
            assert release.table is None
            assert ledger.records() == [] or not ledger.records()
            return
        out = release.table
        check_release(out, asked)
        groups = release.groups.to_pylist()
        assert len(groups) == table.num_rows
        assert sum(not row["suppressed"] for row in groups) == out.num_rows
        assert sum(row["suppressed"] for row in groups) <= asked["defence"]["suppress"] * table.num_rows + 1e-9
        # plain columns travel with their records untouched
        assert set(out.column("note").to_pylist()) <= set(table.column("note").to_pylist())
        assert "who" not in out.column_names
        assert ledger.verify().sound


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables_and_policies())
def test_published_labels_cover_what_they_stand_for(made: tuple[pa.Table, dict[str, Any]]) -> None:
    table, asked = made
    policy = sr.Policy.from_dict(asked)
    with tempfile.TemporaryDirectory() as folder:
        release = sr.publish(table, policy, sr.Ledger.open(Path(folder) / "ledger.db"), empty=True)
        if release.table is None:
            return
        truth = {row["note"]: row for row in table.to_pylist()}
        for row in release.table.to_pylist():
            for name, rule in asked["columns"].items():
                if rule["role"] == "quasi":
                    assert covers(row[name], truth[row["note"]][name], rule), (name, row[name])


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables_and_policies())
def test_the_same_view_ledger_and_secret_give_the_same_bytes(made: tuple[pa.Table, dict[str, Any]]) -> None:
    table, asked = made
    policy = sr.Policy.from_dict(asked)
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "first", Path(folder) / "second"
        first.mkdir()
        if sr.publish(table, policy, sr.Ledger.open(first / "ledger.db"), empty=True).table is None:
            return
        shutil.copytree(first, second)
        files = []
        for home in (first, second):
            release = sr.publish(
                table, policy, sr.Ledger.open(home / "ledger.db"), out=home / "out", again=True, empty=True
            )
            assert release.number == 2
            files.append(
                {
                    f"{path.parent.name}/{path.name}": path.read_bytes()
                    for path in (home / "out").glob("*/*/*")
                    if path.name != "to-sign.html"
                }  # it has the date
            )
        public = {f"public/{name}" for name in ("table.csv", "codebook.json", "report.html", "manifest.json")}
        assert set(files[0]) == public | {f"private/{name}" for name in ("report.html", "report.json", "manifest.json")}
        for name in files[0]:
            assert files[0][name] == files[1][name], name


def covers(label: str | None, value: Any, rule: dict[str, Any]) -> bool:
    if label == "*":
        return True
    if value is None or label is None:
        return label is None and value is None
    if value in ("odd", "other"):
        return False  # unknown to its hierarchy or order: published as everything or not at all
    text = (
        f"{value:g}"
        if isinstance(value, float) and abs(value) < 1e6
        else str(int(value))
        if isinstance(value, float)
        else str(value)
    )
    if label == text:
        return True
    if "hierarchy" in rule and "prefix" in rule["hierarchy"]:
        return text.startswith(label.rstrip("*"))
    if label.startswith("["):
        low, high = label[1:-1].split(",")
        if isinstance(value, str):
            return low <= text <= high
        return float(low) <= value <= float(high)
    if label.startswith("{"):
        return text in parse_set(label)
    return False


def parse_set(label: str) -> list[str]:
    import csv
    import io

    return next(csv.reader(io.StringIO(label[1:-1])))
