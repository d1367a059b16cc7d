"""Canaries in headers, hierarchy files, priors, lists of people and options: none in any output but the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.command_line import Ran, seriatim

CANARY = re.compile(r"canary|quartz", re.IGNORECASE)
CODEBOOK = "codebook.json"
N = 24
POLICY = """
[series]
name = "songs"
respondent = "who"
[columns]
age = { role = "quasi", kind = "number" }
town = { role = "quasi", hierarchy = "town.csv" }
ill = { role = "sensitive" }
[promise]
k = 3
[defence]
method = "median"
suppress = 0.5
[adversary]
breach_share = 0.9
"""
HIERARCHY = "".join(f"quartz{n},quartz-north,*\n" for n in range(4))


def lay_out(folder: Path) -> None:
    rows = [f"canary-who-{n},{30 + n % 6},quartz{n % 4},canary-ill-{n % 3}" for n in range(N)]
    (folder / "view.csv").write_text("who,age,town,ill\n" + "\n".join(rows) + "\n")
    (folder / "headless.csv").write_text("\n".join(rows) + "\n")
    (folder / "town.csv").write_text(HIERARCHY)
    (folder / "policy.toml").write_text(POLICY)


def quiet(folder: Path, ran: Ran) -> None:
    """No canary in what was printed, nor in any file that is not a table or a steward's own input."""
    own = {
        "view.csv",
        "headless.csv",
        "town.csv",
        "policy.toml",
        "priors.csv",
        "who.csv",
        "adversary.toml",
        "register.csv",
    }
    texts = {"printed": ran.out + ran.err}
    for path in folder.rglob("*"):
        part = path.relative_to(folder).parts
        if path.suffix in (".html", ".json") and path.name not in own and "monthly" not in part:
            text = path.read_text(errors="replace")
            # a codebook explains the labels of a hierarchy file, whoever is in the table
            named = re.sub("quartz(-north|[0-3])", "", text) if path.name == CODEBOOK else text
            texts[str(path.relative_to(folder))] = named
    found = {name: CANARY.search(text) for name, text in texts.items()}
    sang = {name: texts[name][max(0, one.start() - 150) : one.end() + 60] for name, one in found.items() if one}
    assert sang == {}


def publish(folder: Path, *more: str, table: str = "view.csv") -> Ran:
    return seriatim(folder, "publish", table, "-p", "policy.toml", *more)


@pytest.mark.parametrize("command", ["publish", "audit", "compare", "init"])
def test_a_file_whose_header_line_is_a_record(tmp_path: Path, command: str) -> None:
    lay_out(tmp_path)
    more = ["--out", "guess.toml"] if command == "init" else ["-p", "policy.toml"]
    ran = seriatim(tmp_path, command, "headless.csv", *more)
    assert ran.code == 2
    quiet(tmp_path, ran)


def test_releases_whose_header_line_is_a_record(tmp_path: Path) -> None:
    lay_out(tmp_path)
    (tmp_path / "monthly").mkdir()
    for month in (1, 2):
        (tmp_path / f"monthly/{month}.csv").write_text((tmp_path / "headless.csv").read_text())
    lines = [f"{month},{row},canary-who-{row}" for month in (1, 2) for row in range(N)]
    (tmp_path / "who.csv").write_text("release,row,respondent\n" + "\n".join(lines) + "\n")
    ran = seriatim(tmp_path, "attack", "--history", "monthly", "--respondents", "who.csv", "--out", "attack.html")
    assert ran.code == 2
    quiet(tmp_path, ran)


HIERARCHIES = {
    "a row too short": HIERARCHY + "quartz9,*\n",
    "a value twice": HIERARCHY + "quartz1,quartz-south,*\n",
    "two parents": HIERARCHY.replace("quartz1,quartz-north,*", "quartz1,quartz-north,quartz-top"),
    "a value missing": "quartz0,quartz-north,*\n",
    "an empty label": HIERARCHY.replace("quartz1,quartz-north", "quartz1,"),
    "no rows": "",
    "an open quote": HIERARCHY + '"quartz9,quartz-north,*\n',
}


@pytest.mark.parametrize("name", HIERARCHIES)
def test_a_hierarchy_file(tmp_path: Path, name: str) -> None:
    lay_out(tmp_path)
    (tmp_path / "town.csv").write_text(HIERARCHIES[name])
    ran = publish(tmp_path)
    assert ran.code in (0, 2, 3)
    quiet(tmp_path, ran)


PRIORS = {
    "of everyone": [(f"canary-who-{n}", f"canary-ill-{n % 3}") for n in range(N)],
    "that excludes the truth": [("canary-who-0", "canary-ill-2")],
    "of nobody here": [("canary-stranger", "canary-ill-1")],
    "of no value here": [("canary-who-0", "canary-unheard")],
    "with a gap": [("canary-who-0", "")],
}


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("head", ["respondent,value", "canary-a,canary-b"])
def test_priors(tmp_path: Path, name: str, head: str) -> None:
    lay_out(tmp_path)
    lines = [f"{who},{value}" for who, value in PRIORS[name]]
    (tmp_path / "priors.csv").write_text(head + "\n" + "\n".join(lines) + "\n")
    (tmp_path / "policy.toml").write_text(POLICY + 'priors = "priors.csv"\n')
    ran = publish(tmp_path)
    assert ran.code in (0, 2, 3)
    quiet(tmp_path, ran)
    (tmp_path / "policy.toml").write_text(POLICY)
    publish(tmp_path)
    (tmp_path / "adversary.toml").write_text('priors = "priors.csv"\n')
    for command in (("attack", "--series", "songs", "--out", "attack.html"), ("forecast", "songs", "--releases", "1")):
        quiet(tmp_path, seriatim(tmp_path, *command, "--adversary", "adversary.toml"))


OPTIONS = {
    "erase someone unknown": ("ledger", "erase", "songs", "canary-nobody"),
    "erase someone": ("ledger", "erase", "songs", "canary-who-3"),
    "a recipient who is a person": ("attack", "--series", "songs", "--recipient", "canary-who-3"),
    "any two of nobody": ("attack", "--series", "songs", "--adversary", "collusion = 2"),
    "a register": ("attack", "--history", "monthly", "--respondents", "who.csv", "--register", "register.csv"),
    "a list with strangers": ("ledger", "import", "who.csv", "-p", "policy.toml"),
    "a private list": ("publish", "view.csv", "-p", "policy.toml", "--private", "exposed.csv", "--allow", "again"),
    "a private list of an audit": ("audit", "view.csv", "-p", "policy.toml", "--private", "exposed.csv"),
    "suggestions": ("publish", "view.csv", "-p", "strict.toml", "--suggest", "--allow", "again"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(tmp_path: Path, name: str) -> None:
    lay_out(tmp_path)
    assert publish(tmp_path).code == 0
    (tmp_path / "strict.toml").write_text(POLICY.replace("k = 3", "k = 99").replace('"songs"', '"strict"'))
    (tmp_path / "monthly").mkdir()
    table = next((tmp_path / "releases").glob("*/public/table.csv")).read_text()
    (tmp_path / "monthly/1.csv").write_text(table)
    lines = [f"1,{row},canary-who-{row}" for row in range(N)]
    (tmp_path / "who.csv").write_text("release,row,respondent\n" + "\n".join(lines) + "\n")
    (tmp_path / "register.csv").write_text("respondent,town\ncanary-who-1,quartz1\n")
    ran = seriatim(tmp_path, *OPTIONS[name])
    assert ran.code in (0, 2, 3), ran.err
    quiet(tmp_path, ran)
