"""How much of the relation between columns and values a draft keeps: against plain loops, and where it is known."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim.usecases.publish.relation_kept import relation_kept

PEOPLE = 2400
SHAPE: dict[str, Any] = {
    "series": {"name": "s", "respondent": "who"},
    "columns": {
        "age": {"role": "quasi", "kind": "number"},
        "sex": {"role": "quasi"},
        "ill": {"role": "sensitive"},
    },
}


def people(seed: int, strength: float, n: int = PEOPLE) -> pa.Table:
    """Return people of 12 ages; the chance of a value follows age and sex as much as ``strength`` says."""
    chance = np.random.default_rng(seed)
    age, sex = chance.integers(0, 12, n), chance.integers(0, 2, n)
    often = 0.5 + strength * ((age - 5.5) / 12 + 0.4 * (sex - 0.5))
    ill = np.where(chance.random(n) < often, "flu", np.where(chance.random(n) < 0.5, "cold", "gout"))
    return pa.table({"who": np.arange(n), "age": age + 30, "sex": np.array(["f", "m"])[sex], "ill": ill})


def published(folder: Path, table: pa.Table, **sections: Any) -> Any:
    return sr.publish(table, sr.Policy.from_dict({**SHAPE, **sections}), sr.Ledger.open(folder / "ledger.db"))


def kept(made: Any) -> Any:
    return next((one for one in made.verdict.measures if one.name == "relation_kept"), None)


def plainly(table: pa.Table, made: Any, column: str) -> float:
    """Return what a reader of single cells keeps, where every label of the column is one value."""
    rows = made.table.to_pylist()
    cell = [(row["age"], row["sex"]) for row in rows]
    size, held = Counter(cell), Counter((at, row["ill"]) for at, row in zip(cell, rows, strict=True))
    told: Counter[tuple[str, str]] = Counter()
    for at, row in zip(cell, rows, strict=True):
        for value in ("flu", "cold", "gout"):
            told[row[column], value] += held[at, value] / size[at]
    truth = Counter((str(one[column]), one["ill"]) for one in table.to_pylist())
    first, second = Counter(str(one) for one in table[column].to_pylist()), Counter(table["ill"].to_pylist())
    seen = Counter(row[column] for row in rows)
    off = alone = 0.0
    for x in first:
        for v in second:
            off += abs(told[x, v] / seen[x] * first[x] - truth[x, v])
            alone += abs(first[x] * second[v] / PEOPLE - truth[x, v])
    return 1 - off / alone


def test_the_formula() -> None:
    truth = np.array([[300.0, 100.0], [100.0, 300.0]])
    half = np.array([[250.0, 150.0], [150.0, 250.0]])
    assert relation_kept(truth, truth) == 1.0
    assert relation_kept(np.full((2, 2), 200.0), truth) == pytest.approx(0.0)
    assert relation_kept(half, truth) == pytest.approx(0.5)
    assert relation_kept(half * [[3], [1]], truth) == pytest.approx(0.5)  # how many are in a row is another measure
    assert relation_kept(truth, np.array([[201.0, 199.0], [199.0, 201.0]])) is None  # chance makes as much


@pytest.mark.parametrize("seed", range(3))
def test_a_reader_of_single_cells_is_a_plain_loop(tmp_path: Path, seed: int) -> None:
    table = people(seed, 0.7)
    made = published(tmp_path, table, promise={"k": 2}, defence={"method": "median"})
    found = kept(made).detail["columns"]["sex"]["naive"]
    labels = set(made.table["sex"].to_pylist())
    assert labels == {"f", "m"}
    assert found == pytest.approx(plainly(table, made, "sex"), abs=1e-9)


def test_nothing_generalised_keeps_everything(tmp_path: Path) -> None:
    made = published(tmp_path, people(4, 0.7), promise={"k": 1}, defence={"method": "median"})
    assert made.verdict.released
    assert kept(made).detail["naive"] == pytest.approx(1.0)
    assert kept(made).detail["columns"]["age"] == {"naive": pytest.approx(1.0), "joined": pytest.approx(1.0, abs=0.05)}


def test_cells_that_no_value_moves_are_read_by_joining_them(tmp_path: Path) -> None:
    table = people(5, 0.8, 8000)
    series = {"promise": {"m": 2, "odds": 2}, "defence": {"method": "cohort", "cohort_size": 180}}
    made = published(tmp_path, table, **series)
    assert made.verdict.released
    assert kept(made).detail["naive"] < 0.3 < kept(made).value


def test_without_a_relation_there_is_none_to_keep(tmp_path: Path) -> None:
    made = published(tmp_path, people(6, 0.0), promise={"k": 5}, defence={"method": "median"})
    assert kept(made) is None


def test_a_table_of_counts_alone_says_so(tmp_path: Path) -> None:
    series = {"promise": {"m": 2, "odds": 2}, "defence": {"method": "cohort", "cohort_size": PEOPLE}}
    made = published(tmp_path, people(7, 0.8), **series)
    assert kept(made).value < 0.25
    assert any("number of groups 1:" in note for note in made.verdict.notes)


def test_a_command_says_it_and_compare_puts_the_best_first(tmp_path: Path) -> None:
    policy = (
        '[series]\nname = "s"\nrespondent = "who"\n[columns]\nage = { role = "quasi", kind = "number" }\n'
        'sex = { role = "quasi" }\nill = { role = "sensitive" }\n[promise]\nk = 40\n[defence]\nmethod = "median"\n'
    )
    (tmp_path / "p.toml").write_text(policy)
    rows = "\n".join(",".join(map(str, one.values())) for one in people(8, 0.7).to_pylist())
    (tmp_path / "view.csv").write_text(f"who,age,sex,ill\n{rows}\n")
    shown = seriatim(tmp_path, "publish", "view.csv", "-p", "p.toml")
    assert ", relation kept " in shown.out
    compared = json.loads(seriatim(tmp_path, "compare", "view.csv", "-p", "p.toml", "--json").out)["methods"]
    relations = [one["relation"] for one in compared if one["released"]]
    assert len(relations) > 1
    assert relations == sorted(relations, reverse=True)
