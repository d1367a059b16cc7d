"""Targets that the baseline does not know are refused, or count as the one it names for them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.command_line import seriatim

import seriatim as sr
from seriatim_gate.engine.attribute import Attribute
from seriatim_gate.engine.baseline import Baseline, baseline_from, baseline_from_json

AGES = ("young", "old")


def baseline(others: str = "") -> Baseline:
    ages, wards = ["young", "old"] * 200, ["north", "north", "south", "south"] * 100
    return baseline_from({"age": ages}, [Attribute("age", AGES)], "ward", wards, others=others)


def test_without_a_name_for_them_unknown_targets_are_refused() -> None:
    gate = sr.gate.Gate(baseline())
    assert gate.request("young", "east", id=1).state == "refused"
    assert "others" not in json.loads(baseline().to_json()), "baselines of before keep their version"


@pytest.mark.parametrize("others", ["elsewhere", "south"])
def test_unknown_targets_count_as_the_one_named_for_them(others: str) -> None:
    known = baseline(others)
    gate = sr.gate.Gate(known)
    asked = [("young", "east"), ("old", "west"), ("young", others), ("old", "north")]
    states = [gate.request(age, ward, id=number).state for number, (age, ward) in enumerate(asked)]
    assert "refused" not in states
    held = gate.counts + gate.waiting_counts
    assert held[:, known.targets.index(others)].tolist() == [2, 1]
    assert gate.request("young", None, id="nobody").state == "refused", "a missing target is no target"


def test_a_list_is_answered_as_one_by_one() -> None:
    rng = np.random.default_rng(3)
    ages = rng.choice(AGES, 300).tolist()
    wards = [*rng.choice(["north", "south", "east", "west"], 299).tolist(), None]
    gate = sr.gate.Gate(baseline("elsewhere"))
    for number, (age, ward) in enumerate(zip(ages, wards, strict=True)):
        gate.request(age, ward, id=number)
    found = sr.gate.replay(ages, wards, baseline("elsewhere"))
    assert (tuple(found.released), tuple(found.waiting)) == (gate.released, gate.waiting)
    codes = baseline("elsewhere").target_codes(wards)
    assert codes[-1] == -1
    assert (codes[:-1] >= 0).all()


def test_a_baseline_file_says_it() -> None:
    known = baseline("elsewhere")
    read = baseline_from_json(known.to_json())
    assert (read.others, read.version) == ("elsewhere", known.version)
    assert known.version != baseline().version
    changed = json.loads(known.to_json()) | {"others": "nowhere"}
    with pytest.raises(sr.InputError):
        baseline_from_json(json.dumps(changed))


def test_the_command(tmp_path: Path) -> None:
    lines = [f"{('young', 'old')[i % 2]},{('north', 'south')[i // 2 % 2]}" for i in range(400)]
    (tmp_path / "known.csv").write_text("age,ward\n" + "\n".join(lines) + "\n")
    (tmp_path / "asked.csv").write_text("age,ward\nyoung,east\nold,east\nyoung,north\n")
    question = ("--x", "age", "--y", "ward")
    saved = seriatim(tmp_path, "gate", "baseline", "known.csv", *question, "--others", "else", "--out", "b.json")
    assert saved.code == 0, saved.err
    told = seriatim(tmp_path, "gate", "replay", "asked.csv", *question, "--baseline", "b.json", "--json")
    assert told.code == 0, told.err
    assert json.loads(told.out)["requests"] == 3
    other = seriatim(tmp_path, "gate", "baseline", "known.csv", "--baseline", "b.json", "--others", "north")
    assert other.code == 2
