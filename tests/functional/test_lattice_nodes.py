"""Every minimal node of a lattice can be listed: none is allowed below it, and all of them pass."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from support.command_line import write_policy, write_view

from seriatim import api
from seriatim.errors import PolicyError

POLICY = """
[series]
name = "ward"
respondent = "who"
[columns]
age = { role = "quasi", kind = "number", hierarchy = { interval = [4, 8] } }
zip = { role = "quasi", kind = "category", hierarchy = { prefix = [4, 2, 0] } }
ill = { role = "sensitive" }
note = { role = "drop" }
name = { role = "drop" }
[promise]
k = 3
[defence]
method = "lattice"
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    write_view(tmp_path)
    (tmp_path / "lattice.toml").write_text(POLICY)
    return tmp_path


def label(row: tuple[int, int], heights: tuple[int, int]) -> tuple[object, object]:
    age, code = row
    ages = (age, age // 4, age // 8, "*")
    codes = (code, str(code)[:4], str(code)[:2], "*")
    return ages[heights[0]], codes[heights[1]]


def test_they_are_the_lowest_that_keep_k_by_hand(desk: Path) -> None:
    rows = [(20 + i % 12, 10100 + i % 7) for i in range(24)]
    passing = set()
    for heights in product(range(4), range(4)):
        labels = [label(row, heights) for row in rows]
        if min(labels.count(one) for one in labels) >= 3:
            passing.add(heights)
    lowest = {node for node in passing if not any(o != node and o[0] <= node[0] and o[1] <= node[1] for o in passing)}
    found = api.compare_lattice_nodes(desk / "view.csv", api.load_policy(desk / "lattice.toml"))
    assert {(node["age"], node["zip"]) for node in found} == lowest
    assert lowest


def test_another_method_has_none(desk: Path) -> None:
    write_policy(desk)
    with pytest.raises(PolicyError, match="lattice"):
        api.compare_lattice_nodes(desk / "view.csv", api.load_policy(desk / "policy.toml"))
    assert not (desk / "ledger.db").exists()
