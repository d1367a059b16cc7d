"""Canaries in every cell, published twice by every method: none in any output but the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.command_line import Ran, seriatim

from seriatim.model.methods import installed_rows

CANARY = re.compile(r"canary|quartz", re.IGNORECASE)
N = 420
COLUMNS = """
[series]
name = "songs"
respondent = "who"
[columns]
age = { role = "quasi", kind = "number" }
town = { role = "quasi", hierarchy = { group = [["quartz0", "quartz1"], ["quartz2", "quartz3"]] } }
ill = { role = "sensitive" }
"""
CROWD, TIME = "[promise]\nk = 5\n", "[promise]\nm = 2\n"
DEFENCES = {
    "median": CROWD + "[adversary]\nbreach_share = 0.9\n",
    "lattice": CROWD,
    "curve": CROWD,
    "invariant": TIME,
    "historical": TIME + "n = 1\n",
    "distinct": TIME,
    "cohort": TIME + "odds = 1.5\n",
    "sequence": CROWD + "[adversary]\nsure_share = 0.9\n",
    "sample": "[promise]\nk = 1\n",
    "noise": "[promise]\nk = 1\n",
}
OPTIONS = {"sample": "rate = 0.5", "noise": 'noise = { age = "2" }'}


def lay_out(folder: Path, method: str) -> None:
    for month in (1, 2):
        rows = [
            f"canary-who-{n},{30 + (n * 7) % 40},quartz{n % 4},canary-ill-{(n * 5 + n // 7) % 5}"
            for n in range(20 * month, N + 20 * month)
        ]
        (folder / f"month-{month}.csv").write_text("who,age,town,ill\n" + "\n".join(rows) + "\n")
    settings = f'[defence]\nmethod = "{method}"\nsuppress = 0.5\n{OPTIONS.get(method, "")}\n'
    (folder / "policy.toml").write_text(COLUMNS + DEFENCES[method] + settings)


def quiet(folder: Path, ran: Ran) -> None:
    texts = {"printed": ran.out + ran.err}
    texts |= {str(path): path.read_text() for path in folder.rglob("*") if path.suffix in (".html", ".json")}
    assert [name for name, text in texts.items() if CANARY.search(text)] == []


@pytest.mark.parametrize("method", ["cohort", "historical"])
def test_no_cell_leaves_but_in_the_tables_of_several_columns(tmp_path: Path, method: str) -> None:
    lay_out(tmp_path, method)
    for month in (1, 2):
        table = tmp_path / f"month-{month}.csv"
        head, *rows = table.read_text().splitlines()
        further = [f"{row},canary-drug-{(n + month) % 4}" for n, row in enumerate(rows)]
        table.write_text("\n".join([f"{head},drug", *further]))
    policy = (tmp_path / "policy.toml").read_text()
    (tmp_path / "policy.toml").write_text(policy.replace("ill = {", 'drug = { role = "sensitive" }\nill = {'))
    made = seriatim(tmp_path, "publish", "month-1.csv", "-p", "policy.toml", "--private", "exposed.csv")
    assert made.code == 0, made.out + made.err
    quiet(tmp_path, made)
    made = seriatim(tmp_path, "publish", "month-2.csv", "-p", "policy.toml")  # everyone has another drug
    assert made.code == 2
    quiet(tmp_path, made)


def test_every_method_is_here() -> None:
    assert set(DEFENCES) == set(installed_rows())


@pytest.mark.parametrize("method", DEFENCES)
def test_no_cell_leaves_but_in_the_table(tmp_path: Path, method: str) -> None:
    lay_out(tmp_path, method)
    for month, form in ((1, ()), (2, ("--json",))):
        made = seriatim(tmp_path, "publish", f"month-{month}.csv", "-p", "policy.toml", *form)
        assert made.code in (0, 3), made.err
        quiet(tmp_path, made)
    assert list((tmp_path / "releases").glob("*/private/report.html")), made.out  # at least one was released
    if method in ("median", "cohort"):  # the same attack for all
        ran = seriatim(tmp_path, "attack", "--series", "songs", "--out", "attack.html")
        assert ran.code == 0, ran.err
        quiet(tmp_path, ran)
