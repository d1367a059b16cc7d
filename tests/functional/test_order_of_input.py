"""The order of the extract's rows changes nothing that is published: a refused draft cannot be redrawn by shuffling."""

from __future__ import annotations

import random
import secrets
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import seriatim as sr
from seriatim.testing.hospital import hospital_months

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "kind": "number"},
    "sex": {"role": "quasi"},
    "postcode": {"role": "quasi", "kind": "category", "hierarchy": {"prefix": [4, 3, 2, 0]}},
    "ward": {"role": "plain"},
    "disease": {"role": "sensitive"},
}
INTERVALS = {**COLUMNS, "age": {**COLUMNS["age"], "hierarchy": {"interval": [5, 10, 20, 40]}}}
SINGLE = {"k": 5, "l": 3, "t": 0.5}
CASES: dict[str, dict[str, Any]] = {
    "median": {"promise": SINGLE, "defence": {"method": "median", "suppress": 0.05}},
    "median relaxed": {"promise": {"k": 7}, "defence": {"method": "median", "mode": "relaxed", "suppress": 0.05}},
    "median followed": {
        "promise": SINGLE, "defence": {"method": "median", "suppress": 0.05}, "adversary": {"breach_share": 0.9},
    },
    "curve": {"promise": SINGLE, "defence": {"method": "curve", "suppress": 0.05}},
    "lattice": {"promise": {"k": 3}, "defence": {"method": "lattice", "suppress": 0.1}, "columns": INTERVALS},
    "invariant": {"promise": {"m": 3}, "defence": {"method": "invariant", "suppress": 0.3}},
    "historical": {"promise": {"m": 4, "n": 2}, "defence": {"method": "historical", "suppress": 0.3}},
    "cohort": {"promise": {"m": 3}, "defence": {"method": "cohort", "suppress": 0.3}},
}  # fmt: skip


@pytest.fixture(autouse=True)
def fixed_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "token_bytes", lambda n=32: bytes(range(n)))


@pytest.fixture(scope="module")
def views() -> list[pa.Table]:
    return hospital_months(400, 3, churn=0.15)


def shuffled(table: pa.Table, seed: int) -> pa.Table:
    rows = list(range(len(table)))
    random.Random(seed).shuffle(rows)
    return table.take(rows)


def public_files(case: dict[str, Any], views: list[Any], folder: Path) -> list[dict[str, bytes]]:
    respondent = {} if case.get("nobody") else {"respondent": case.get("respondent", "patient")}
    sections = {name: case[name] for name in ("promise", "defence", "adversary") if name in case}
    columns = case.get("columns", COLUMNS)
    policy = sr.Policy.from_dict({**sections, "series": {"name": "s", **respondent}, "columns": columns})
    ledger = sr.Ledger.open(folder / "ledger.db")
    found = []
    for view in views:
        made = sr.publish(view, policy, ledger, out=folder / "out")
        assert made.number is not None, made.verdict.reasons
        public = folder / "out" / f"s-{made.number:04d}" / "public"
        found.append({path.name: path.read_bytes() for path in sorted(public.iterdir())})
        assert found[-1]
    return found


def assert_both_alike(case: dict[str, Any], one: list[Any], other: list[Any], tmp_path: Path) -> None:
    made = []
    for name, views in (("one", one), ("other", other)):
        (tmp_path / name).mkdir()
        made.append(public_files(case, views, tmp_path / name))
    for first, second in zip(*made, strict=True):
        assert first.keys() == second.keys()
        assert [name for name in first if first[name] != second[name] and name != "manifest.json"] == []


@pytest.mark.parametrize("name", CASES)
def test_shuffled_views_give_the_same_bytes(name: str, views: list[pa.Table], tmp_path: Path) -> None:
    months = views[:1] if name in ("median", "median relaxed", "curve", "lattice") else views
    assert_both_alike(CASES[name], months, [shuffled(view, at) for at, view in enumerate(months)], tmp_path)


@pytest.mark.parametrize("name", ["median relaxed", "curve"])
def test_without_a_respondent_the_content_decides(name: str, views: list[pa.Table], tmp_path: Path) -> None:
    view = views[0].drop(["patient"])
    assert_both_alike({**CASES[name], "nobody": True}, [view], [shuffled(view, 5)], tmp_path)


def test_values_are_told_apart_as_they_are_written(tmp_path: Path) -> None:
    """1 and 1.0 are one value of the column, but both spellings are published."""
    rows = [f"{20 + row % 5},{('1', '1.0', '2', '2.00')[row % 4]}" for row in range(80)]
    columns = {"age": {"role": "quasi"}, "cost": {"role": "sensitive", "kind": "number"}}
    case = {"promise": {"k": 2}, "defence": {"method": "median"}, "columns": columns, "nobody": True}
    paths = []
    for seed in (1, 2):
        random.Random(seed).shuffle(rows)
        (tmp_path / f"{seed}.csv").write_text("age,cost\n" + "\n".join(rows) + "\n")
        paths.append(tmp_path / f"{seed}.csv")
    assert_both_alike(case, paths[:1], paths[1:], tmp_path)


def test_several_records_of_a_person_stand_in_the_order_of_their_content(tmp_path: Path) -> None:
    people = [f"p{row % 9}" for row in range(90)]
    view = pa.table({"who": people, "age": [row % 7 for row in range(90)], "ill": ["a", "b", "c"] * 30})
    columns = {"age": {"role": "quasi"}, "ill": {"role": "plain"}}
    case = {"promise": {"k": 2}, "defence": {"method": "median"}, "columns": columns, "respondent": "who"}
    assert_both_alike(case, [view], [shuffled(view, 3)], tmp_path)


def test_csv_files_may_be_sorted_in_any_way(views: list[pa.Table], tmp_path: Path) -> None:
    pacsv.write_csv(views[0], tmp_path / "one.csv")
    pacsv.write_csv(shuffled(views[0], 9), tmp_path / "other.csv")
    assert_both_alike(CASES["median"], [tmp_path / "one.csv"], [tmp_path / "other.csv"], tmp_path)


def test_groups_come_back_in_the_order_of_the_view(views: list[pa.Table], tmp_path: Path) -> None:
    """Without a respondent nothing else says whose group it is."""
    for name in ("median", "cohort"):
        sections = {key: CASES[name][key] for key in ("promise", "defence")}
        series = {"name": name, "respondent": "patient"}
        policy = sr.Policy.from_dict({**sections, "series": series, "columns": COLUMNS})
        made = sr.publish(views[0], policy, sr.Ledger.open(tmp_path / "ledger.db"))
        own = made.groups.slice(0, len(views[0]))
        assert own.column("respondent").to_pylist() == views[0].column("patient").to_pylist()
        assert own.column("disease").to_pylist() == views[0].column("disease").to_pylist()
        assert made.groups.column("counterfeit").slice(len(views[0])).to_pylist().count(False) == 0
