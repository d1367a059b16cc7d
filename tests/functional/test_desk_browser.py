"""The monthly path at the desk in a real browser, with names that would run if anything let them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.browsers import ARGUMENTS, CHROMIUM
from support.command_line import seriatim
from support.desks import served_desk

from seriatim.ledger.sql_ledger import SqlLedger, open_ledger

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed; ./dev system installs it"),
]
SERIES = 'ward "><script>alert(1)</script>'
COLUMN = "<img src=x onerror=alert(2)>"
TO = "Dr <b onmouseover=alert(3)>Weber"
FILE = "july'><svg onload=alert(4)>.csv"
CANARY = "canary"
POLICY = f"""
[series]
name = '{SERIES}'
respondent = "who"
[columns]
age = {{ role = "quasi", kind = "number" }}
'{COLUMN}' = {{ role = "sensitive" }}
[promise]
k = 3
['promise'.'{COLUMN}']
l = 2
[defence]
method = "median"
suppress = 0.1
"""
JOB_ENDS = 120_000
"""Milliseconds; a busy machine takes long to begin a process."""


def write_month(path: Path, first: int) -> Path:
    rows = [f"{CANARY}-p{i},{20 + i % 12},{CANARY}-{('flu', 'gout', 'cold')[i % 3]}" for i in range(first, first + 36)]
    path.write_text(f"who,age,{COLUMN}\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "office"
    folder.mkdir()
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    write_month(folder / "june.csv", 0)
    ran = seriatim(folder, "publish", "june.csv", "--policy", "policy.toml", "--to", TO)
    assert ran.code == 0, ran.err
    write_month(tmp_path / FILE, 9)
    return folder


@pytest.fixture
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=60_000)
        yield browser
        browser.close()


class Person:
    """Somebody at the desk; what their browser complains about is kept."""

    def __init__(self, browser: Any, address: str) -> None:
        self.context = browser.new_context(viewport={"width": 1440, "height": 900})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.home = "{0.scheme}://{0.netloc}".format(urlsplit(address))
        self.page.goto(address)
        self.page.wait_for_url(f"{self.home}/")

    def tab_to(self, text: str) -> None:
        """Go with the keyboard alone to what says this."""
        for _ in range(60):
            self.page.keyboard.press("Tab")
            if text in self.page.evaluate("document.activeElement.innerText || ''"):
                return
        raise AssertionError(f"the keyboard does not reach {text}")

    def check_page(self) -> None:
        """Nothing runs or leaks, and anyone can use it, at any width, by day and by night."""
        from axe_playwright_python.sync_playwright import Axe

        assert CANARY not in self.page.content()
        for scheme, width in (("light", 1440), ("dark", 320)):
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size({"width": width, "height": 900})
            wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, (self.page.url, width)
            found = Axe().run(self.page).response["violations"]
            assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], (self.page.url, scheme, width)
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 1440, "height": 900})
        assert self.page.evaluate("localStorage.length") == 0
        assert set(self.page.evaluate("Object.keys(sessionStorage)")) <= {"htmx-current-path-for-history"}
        assert self.complaints == []


def ledger_in(folder: Path) -> SqlLedger:
    return open_ledger(folder / "ledger.db", create=False)


def released_files(folder: Path) -> dict[str, bytes]:
    (release,) = (folder / "releases").glob("*-0002")
    return {str(path.relative_to(release)): path.read_bytes() for path in (release / "public").rglob("*.*")}


@pytest.mark.slow
def test_the_second_month_is_two_clicks_and_a_file_and_equals_the_commands(
    folder: Path, tmp_path: Path, browser: Any
) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    with served_desk(folder, "A. Ortiz") as first, served_desk(folder, "B. Li") as second:
        author = Person(browser, first)
        author.page.click(".card a")
        author.check_page()
        author.page.set_input_files("#upload", tmp_path / FILE)
        author.page.click("text=Judge and keep for approval")
        author.page.wait_for_selector("text=Look at the draft", timeout=JOB_ENDS)
        author.check_page()
        (draft,) = ledger_in(folder).drafts()
        assert (draft.state, draft.author, draft.recipients, draft.input_name) == ("waiting", "A. Ortiz", (TO,), FILE)
        (upload,) = (folder / "ledger.db.desk" / "uploads").glob("*/*")
        assert (upload.name, upload.stat().st_mode & 0o777) == (FILE, 0o600)
        author.page.click("text=Look at the draft")
        assert author.page.locator("text=You made this draft").count() == 1
        assert author.page.locator("text=Approve and release").count() == 0

        approver = Person(browser, second)
        approver.page.click(".card a")
        approver.check_page()
        shown = approver.page.inner_text("main")
        assert "Waits for approval".upper() in shown.upper()
        for words in ("What these people are in already", SERIES, TO, COLUMN, FILE):
            assert words in shown
        approver.tab_to("Approve and release")
        approver.page.evaluate(  # two sendings of one form, as a double click makes them
            "() => { const form = document.activeElement.form, told = new URLSearchParams(new FormData(form));"
            " return Promise.all([1, 2].map(() => fetch(form.action, {method: 'POST', body: told}))) }"
        )
        approver.page.keyboard.press("Enter")
        approver.page.wait_for_url("**/series/*/2")
        approver.check_page()
        assert [(one.number, one.state) for one in ledger_in(folder).records()] == [(1, "sealed"), (2, "sealed")]
        for place in ("/", "/new", "/policies/policy.toml", "/attack", "/ledger", "/trail"):
            approver.page.goto(approver.home + place)
            approver.check_page()
        approver.page.goto(approver.home)
        approver.page.click(".card a")
        approver.page.click("text=Attack the releases")
        approver.page.wait_for_selector("text=Open the report", timeout=JOB_ENDS)
        approver.check_page()
        approver.page.click("text=Open the report")
        approver.page.wait_for_selector("svg")  # drawn by the report's own script
        approver.check_page()
        asked = [*author.asked, *approver.asked]
        assert {urlsplit(url).hostname for url in asked} == {"127.0.0.1"}
        assert not [url for url in asked if CANARY in url]
    assert CANARY not in "".join(path.read_text() for path in folder.glob("desk-*.log"))

    clicked = folder.rename(tmp_path / "clicked")
    (tmp_path / "copy").rename(folder)  # one ledger at a time is known where releases go
    for words in (
        ("publish", str(tmp_path / FILE), "--policy", "policy.toml", "--to", TO, "--draft", "A. Ortiz"),
        ("ledger", "approve", SERIES, "--approved-by", "B. Li"),
    ):
        assert seriatim(folder, *words).code == 0
    assert [one.digest for one in ledger_in(folder).entries()] == [one.digest for one in ledger_in(clicked).entries()]
    assert released_files(folder) == released_files(clicked) != {}


@pytest.mark.slow
def test_a_job_outlives_the_desk_that_started_it(folder: Path, tmp_path: Path, browser: Any) -> None:
    with served_desk(folder, "A. Ortiz") as address:
        person = Person(browser, address)
        person.page.goto(f"{person.home}/new")
        person.page.set_input_files("#upload", tmp_path / FILE)
        person.page.dblclick("text=Try it")
        person.page.wait_for_url("**/jobs/*")
        job = urlsplit(person.page.url).path
    with served_desk(folder, "A. Ortiz", urlsplit(address).port or 0):
        person.page.goto(person.home + job)  # the session is in the desk's book, so it goes on
        person.page.wait_for_selector("text=Keep for approval", timeout=JOB_ENDS)
        assert "Would be released".upper() in person.page.inner_text("main").upper()
        person.page.goto(person.home)
        assert person.page.locator("#jobs ~ table tbody tr").count() == 1
        assert len(ledger_in(folder).records()) == 1
