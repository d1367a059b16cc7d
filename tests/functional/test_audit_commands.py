"""seriatim audit from end to end: exit codes, what is printed, and the page in a real browser."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.command_line import Ran, seriatim

CHROMIUM = shutil.which("chromium")
ROLES = """
[series]
name = "survey"
[columns.age]
role = "quasi"
kind = "number"
[columns.zip]
role = "quasi"
[columns.disease]
role = "sensitive"
"""
BEFORE = "age,zip,disease\n20,48101,flu\n21,48102,flu\n30,48201,cold\n38,48202,flu\n40,49001,cold\n60,49002,angina\n"
AFTER = (
    'age,zip,disease\n"[20, 30[",481**,flu\n"[20, 30[",481**,flu\n30-38,482**,cold\n30-38,482**,flu\n'
    ">=40,490**,cold\n>=40,490**,angina\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "roles.toml").write_text(ROLES)
    (tmp_path / "asked.toml").write_text(ROLES + "[promise]\nk = 3\nl = 2\nt = 0.5\n")
    (tmp_path / "before.csv").write_text(BEFORE)
    (tmp_path / "after.csv").write_text(AFTER)
    return tmp_path


def audit(folder: Path, *arguments: str | Path) -> Ran:
    return seriatim(folder, "audit", *map(str, arguments))


def test_figures_alone_end_well(folder: Path):
    done = audit(folder, "after.csv", "--policy", "roles.toml", "--json")
    assert done.code == 0
    record = json.loads(done.out)
    assert record["kept"] is True
    assert record["summary"]["disease"]["n_classes"] == 3


def test_a_broken_threshold_is_code_3_with_classes_people_and_a_way_out(folder: Path):
    done = audit(folder, "after.csv", "--policy", "asked.toml")
    assert done.code == 3
    text = " ".join(done.out.split())
    assert "broken k: 6 people in 3 classes (0, 1, 2) k = 2 would pass;" in text
    assert "broken l of 'disease': 2 people in 1 class (0) l = 1 would pass; withholding 1 class with 2 records" in text
    assert "flu" not in done.out


def test_the_original_adds_loss_and_what_leads_back(folder: Path):
    arguments = ("--original", "before.csv", "--aligned", "--sampled", "0.1", "--out", "audit.html")
    done = audit(folder, "after.csv", "--policy", "roles.toml", *arguments)
    assert done.code == 0
    record = json.loads((folder / "audit.json").read_text())
    found = {m["name"] for m in record["measures"]}
    assert {"gcp", "ncp", "precision", "distance_linkage", "query_error_5%", "untrue_share"} <= found
    assert record["original"] == "before.csv"
    page = (folder / "audit.html").read_text()
    assert "Compared with before.csv." in page
    assert "48101" not in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--aligned",), "needs the original table"),
        (("--sampled", "0"), "above 0 and up to 1"),
        (("--prior", "margin"), "no table to take it from"),
        (("--prior", "guess"), "choose one"),
        (("--original", "nowhere.csv"), "does not exist"),
    ],
)
def test_bad_options_are_code_2(folder: Path, arguments: tuple[str, ...], message: str):
    done = audit(folder, "after.csv", "--policy", "roles.toml", *arguments)
    assert done.code == 2
    assert message in done.err


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed; ./dev system installs it")
@pytest.mark.parametrize("width", [1280, 360])
def test_the_page_fits_a_screen_and_a_phone(folder: Path, width: int):
    from playwright.sync_api import sync_playwright

    page = folder / "audit.html"
    audit(folder, "after.csv", "--policy", "asked.toml", "--original", "before.csv",
        "--aligned", "--out", page)  # fmt: skip
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=flags, timeout=60_000)
        visit = browser.new_page(viewport={"width": width, "height": 900})
        said: list[str] = []
        visit.on("console", lambda message: said.append(message.text))
        visit.on("pageerror", lambda error: said.append(str(error)))
        visit.goto(page.as_uri(), timeout=30_000)
        over = visit.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        drawn = visit.locator(".plot > svg").count()
        browser.close()
    assert (said, over, drawn) == ([], 0, 6)
