"""A data user opens the folder of a release and asks it; the answers are compared with the truth."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from seriatim import api
from seriatim.errors import TableError
from seriatim.reading import Axis, open_release

LANDS = {"fr": "Europe", "de": "Europe", "it": "Europe", "jp": "Asia", "cn": "Asia", "in": "Asia"}
BORN = date(1950, 1, 1)
DAYS = 18_000
POLICY = """
[series]
name = "asked"
respondent = "who"

[columns.age]
role = "quasi"
{age}
[columns.born]
role = "quasi"
kind = "date"
{born}
[columns.land]
role = "quasi"
hierarchy = "land.csv"
[columns.ill]
role = "sensitive"

[promise]
m = 3
{degree}
[defence]
method = "{method}"
"""
AXES = {
    "age": Axis.whole_numbers(18, 89),
    "born": Axis.dates(BORN, BORN + timedelta(days=DAYS - 1)),
    "land": Axis.ordered(list(LANDS), {"Europe": ("fr", "it"), "Asia": ("jp", "in")}),
}


def people(n: int, first: int, chance: np.random.Generator) -> pa.Table:
    return pa.table(
        {
            "who": [f"p{number}" for number in range(first, first + n)],
            "age": chance.integers(18, 90, n),
            "born": pa.array([BORN + timedelta(days=int(day)) for day in chance.integers(0, DAYS, n)]),
            "land": chance.choice(list(LANDS), n),
            "ill": chance.choice(list("abcdefgh"), n, p=[0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.05, 0.05]),
        }
    )


@pytest.mark.parametrize("method", ["cohort", "historical", "invariant"])
@pytest.mark.parametrize("ladders", [False, True])
def test_answers_are_near_the_truth(tmp_path: Path, method: str, ladders: bool) -> None:
    """With hierarchies, too, whose labels reach beyond the values there are ([15,19] of people from 18 on)."""
    chance = np.random.default_rng(5)
    (tmp_path / "land.csv").write_text("".join(f"{land};{part}\n" for land, part in LANDS.items()))
    text = POLICY.format(
        age="hierarchy = { interval = [5, 10, 20] }" if ladders else "",
        born='hierarchy = { date = ["month", "year"] }' if ladders else "",
        degree="n = 2" if method == "historical" else "",
        method=method,
    )
    (tmp_path / "policy.toml").write_text(text)
    policy, ledger = api.load_policy(tmp_path / "policy.toml"), api.open_ledger(tmp_path / "ledger.db")
    first = people(900, 0, chance)
    view = pa.concat_tables([first.slice(200), people(200, 900, chance)])
    for table in (first, view):
        made = api.publish(table, policy, ledger, out=tmp_path / "out")
        assert made.verdict.released, made.verdict.reasons
    asked = open_release(tmp_path / "out" / "asked-0002", AXES)
    real = made.groups.filter(pa.compute.invert(pa.compute.or_(made.groups["counterfeit"], made.groups["suppressed"])))
    # counterfeits are out: everyone published is counted, once
    assert asked.count({}) == pytest.approx(real.num_rows)
    assert sum(asked.count({}, {"ill": ill}) for ill in "abcdefgh") == pytest.approx(real.num_rows)
    age, land = view["age"].to_numpy(), np.array(view["land"].to_pylist())
    born, ill = np.array(view["born"].to_pylist()), np.array(view["ill"].to_pylist())
    wrong = []
    for low in range(20, 55, 5):
        begin = BORN + timedelta(days=100 * low)
        inside = (age >= low) & (age <= low + 30) & (born >= begin) & (land == "jp")
        told = asked.count({"age": (low, low + 30), "born": (begin, AXES["born"].values[-1]), "land": "jp"})
        wrong.append(abs(told - inside.sum()) / inside.sum())
        inside = (age >= low) & (age <= low + 30) & (ill == "a")
        wrong.append(abs(asked.count({"age": (low, low + 30)}, {"ill": "a"}) - inside.sum()) / inside.sum())
    assert np.median(wrong) < 0.2


def test_a_table_without_groups_is_counted_row_by_row(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text('age,ill\n"[20,23]",a\n"[20,23]",b\n25,a\n"[24,29]",a\n')
    asked = open_release(tmp_path, {"age": Axis.whole_numbers(20, 29)})
    assert asked.count({"age": (20, 21)}) == pytest.approx(1.0)
    assert asked.count({"age": (22, 25)}, {"ill": "a"}) == pytest.approx(0.5 + 1 + 2 / 6)
    with pytest.raises(TableError, match="no axis"):
        asked.count({"height": 1})
    with pytest.raises(TableError, match="not in the release"):
        asked.count({}, {"colour": "red"})
    with pytest.raises(TableError, match="not on its axis"):
        asked.count({"age": "young"})
    with pytest.raises(TableError, match="no table"):
        open_release(tmp_path / "elsewhere", {})


def test_labels_of_all_spellings_find_their_place() -> None:
    ages, codes = Axis.whole_numbers(18, 29), Axis.ordered(["10701", "10702", "11201"])
    days = Axis.dates(date(2024, 1, 30), date(2024, 3, 2))
    assert ages.span("[15,19]") == (0, 1)
    assert ages.span("[20, 25[") == (2, 6)
    assert ages.span("<20") == (0, 1)
    assert ages.span("[90,95]") is None
    assert codes.span("1070*") == (0, 1)
    assert codes.span("23***") is None
    assert days.span("2024-02") == (2, 30)
    assert days.span("[2023-12-24,2024-01-31]") == (0, 1)
    assert days.span("2024") == (0, 32)


@pytest.mark.parametrize(("method", "promise"), [("cohort", "m = 3"), ("median", "k = 5"), ("lattice", "k = 5")])
def test_a_folder_says_all_that_its_reader_needs(tmp_path: Path, method: str, promise: str) -> None:
    """Without axes: labels, sets and the values of a hierarchy come from the codebook; the relation from the cells."""
    (tmp_path / "land.csv").write_text("".join(f"{land};{part};*\n" for land, part in LANDS.items()))
    text = POLICY.format(age="hierarchy = { interval = [5, 20] }", born="", degree="", method=method)
    text = text.replace("m = 3\n", f"{promise}\n").replace('kind = "date"', 'hierarchy = { date = ["year"] }')
    (tmp_path / "policy.toml").write_text(text + "suppress = 0.2")
    view = people(4000, 0, np.random.default_rng(6))
    policy, ledger = api.load_policy(tmp_path / "policy.toml"), api.open_ledger(tmp_path / "l.db")
    made = api.publish(view, policy, ledger, out=tmp_path / "out")
    assert made.verdict.released, made.verdict.reasons
    asked = open_release(tmp_path / "out" / "asked-0001")
    assert {*asked.axes} == {"age", "born", "land"}
    assert {*LANDS} == {*asked.axes["land"].values}
    truth = np.array(view["land"].to_pylist()) == "jp"
    assert asked.count({"land": "jp"}) == pytest.approx(truth.sum(), rel=0.25)
    told = asked.relation("ill").share("a", {"land": "jp"})
    assert told.low <= (np.array(view["ill"].to_pylist())[truth] == "a").mean() <= told.high
    table = asked.relation("ill").two_way("land")
    assert sum(table["people"].to_pylist()) == pytest.approx(made.release.draft.table.num_rows, rel=0.02)
    (tmp_path / "out" / "asked-0001" / "public" / "codebook.json").unlink()
    with pytest.raises(TableError, match=r"no codebook\.json"):
        open_release(tmp_path / "out" / "asked-0001")


def test_an_earlier_release_may_have_labels_that_a_later_one_has_not(tmp_path: Path) -> None:
    """Without axes the relation is read on those that the labels of all releases span."""
    for name, labels in {"first": {"10*": ["101", "102"]}, "second": {"2*": ["201", "202"]}}.items():
        (tmp_path / name).mkdir()
        column = {"name": "code", "role": "quasi", "labels": labels}
        (tmp_path / name / "codebook.json").write_text(json.dumps({"columns": [column]}))
        (label,) = labels
        rows = "".join(f"{n % 4},{label if n % 4 < 2 else 300},{'a' if n % 4 < 2 else 'b'}\n" for n in range(80))
        (tmp_path / name / "table.csv").write_text(f"group,code,ill\n{rows}")
    first, second = (open_release(tmp_path / name) for name in ("first", "second"))
    told = second.relation("ill", earlier=[first])
    assert told.share("a", {"code": "2*"}).value > 0.9
    assert told.share("a", {"code": "300"}).value < 0.1
    assert second.count({"code": "2*"}) == pytest.approx(40)


def test_the_values_of_buckets_are_in_a_table_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("group,age\n" + "".join(f"{n % 3},{20 + n % 3}\n" for n in range(60)))
    values = "".join(f"{n % 3},{'a' if n < 15 * (n % 3) else 'b'}\n" for n in range(60))
    (tmp_path / "values.csv").write_text("group,ill\n" + values)
    asked = open_release(tmp_path, {"age": Axis.whole_numbers(20, 22)})
    held = {(one["age"], one["ill"]): one["people"] for one in asked.relation("ill").two_way("age").to_pylist()}
    assert [held[str(age), "a"] for age in (20, 21, 22)] == pytest.approx([0, 5, 10])
