"""Baselines from a table with declared ranges, from a file written by hand, and what they say before they serve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seriatim as sr
from seriatim import api
from seriatim_gate.engine.attribute import Attribute, declared_ranges
from seriatim_gate.engine.baseline import baseline_from, baseline_from_json

BY_HAND = {
    "schema": "seriatim.gate.baseline/1",
    "attributes": [{"name": "age", "edges": ["-inf", 40, "inf"]}],
    "probabilities": [0.4, 0.6],
    "target": "ward",
    "targets": ["north", "south"],
    "n_records": 5_000,
}


def table(tmp_path: Path, n: int = 400) -> Path:
    rows = [f"{20 + i % 60},{'north' if i % 3 else 'south'}" for i in range(n)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,ward", *rows]), encoding="utf-8")
    return path


@pytest.mark.parametrize("ranges", [{"age": [30, 50.5]}, ["age: 30, 50.5"]])
def test_numbers_are_cut_where_it_is_declared(tmp_path: Path, ranges: Any) -> None:
    (found,) = api.gate_baseline(table(tmp_path), "age", "ward", ranges=ranges).baselines
    assert found.attributes[0].edges == (-np.inf, 30.0, 50.5, np.inf)
    assert baseline_from_json(found.to_json()).version == found.version
    assert found.place_of(30) == 1, "a range begins with its number"


@pytest.mark.parametrize(
    "ranges",
    [["age"], ["age:"], ["age: 5, 3"], ["age: x"], ["age: 1", "age: 2"], ["ward: 1, 2"], {"age": 5}, ["age: nan"]],
)
def test_ranges_that_cannot_be_are_refused(tmp_path: Path, ranges: Any) -> None:
    with pytest.raises(sr.InputError, match="ranges: "):
        api.gate_baseline(table(tmp_path), "age", "ward", ranges=ranges)
    with pytest.raises(sr.InputError, match="ranges of its own"):
        api.gate_baseline(table(tmp_path), baseline=baseline_from_json(json.dumps(BY_HAND)), ranges={"age": [3]})


def test_a_baseline_may_be_written_by_hand() -> None:
    found = baseline_from_json(json.dumps(BY_HAND))
    assert found.target_shares.tolist() == [0.5, 0.5]
    assert sr.gate.Gate(found).request(41, "south", id=1).state == "released"
    again = baseline_from_json(found.to_json())
    assert again.version == found.version
    changed = json.loads(found.to_json()) | {"n_records": 1_000_000}
    with pytest.raises(sr.InputError, match="changed after it was written"):
        baseline_from_json(json.dumps(changed))
    for missing in ("schema", "attributes", "probabilities", "target", "targets", "n_records"):
        with pytest.raises(sr.InputError, match="baseline"):
            baseline_from_json(json.dumps({name: value for name, value in BY_HAND.items() if name != missing}))


def test_the_next_version_is_counted_anew_with_the_same_ranges_and_targets(tmp_path: Path) -> None:
    first = api.gate_baseline(table(tmp_path), "age", "ward", ranges={"age": [30, 50]})
    later = tmp_path / "later.csv"
    later.write_text("\n".join(["age,ward", *["25,north"] * 300, *["60,east"] * 50]), encoding="utf-8")
    (old,), (new,) = first.baselines, api.gate_baseline(later, baseline=first).baselines
    assert (new.attributes, new.targets) == (old.attributes, old.targets)
    assert new.probabilities.tolist() == [1.0, 0.0, 0.0]
    assert (new.n_records, new.version == old.version) == (300, False)
    with pytest.raises(sr.InputError, match="x, y: other columns"):
        api.gate_baseline(later, "ward", "age", baseline=first)
    (tmp_path / "other.csv").write_text("years\n1\n", encoding="utf-8")
    with pytest.raises(sr.InputError, match="'ward'"):
        api.gate_baseline(tmp_path / "other.csv", baseline=first)


def test_targets_that_the_worst_direction_does_not_serve_are_counted_beforehand() -> None:
    wards = ["north"] * 3_000 + ["south"] * 99 + ["east"] * 29 + ["west"]
    ages = (["young", "old"] * len(wards))[: len(wards)]
    found = baseline_from({"age": ages}, [Attribute("age", ("young", "old"))], "ward", wards)
    assert found.advice(("kld",)) == ()
    assert found.advice(("wdt",)) == (
        "wdt does not serve 2 of 4 targets: fewer than 30 records",
        "wdt releases little of 1 of 4 targets: fewer than 100 records",
    )


def test_dixons_test_alone_is_replayed_but_never_served(tmp_path: Path) -> None:
    requests = api.gate_requests(table(tmp_path), "age", "ward")
    report = api.gate_replay(requests, "dqt")
    with pytest.raises(sr.InputError, match="dqt alone"):
        api.gate_store(report, requests, tmp_path / "journal.db", "g")
    assert api.gate_store(api.gate_replay(requests, ["dqt", "kld"]), requests, tmp_path / "journal.db", "g") == 1


def test_no_ranges_are_no_attributes() -> None:
    assert declared_ranges(()) == {}
