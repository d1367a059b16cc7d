"""The officer's page in a real browser: it draws, asks nobody else for anything, and lets no one else in."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.browsers import ARGUMENTS, CHROMIUM, picture
from support.gate_services import served_journal, serving
from support.gates import AT, GATE, ask, drawn, rules

from seriatim.report.html import rendered_file
from seriatim_gate.usecases.officer_view import drawn_page, exposure_curves, officer_view
from seriatim_gate.usecases.request_book import RequestBook
from seriatim_papers.safe_release_counts import AGES, LOCATIONS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed; ./dev system installs it"),
]


def test_curves_stay_below_the_critical_value() -> None:
    book, (xs, ys) = RequestBook(rules), drawn(3_000, 4)
    book.ask([ask(i, xs[i], ys[i]) for i in range(3_000)], AT)
    view = officer_view(book, GATE, "v", AT, 1_000)
    marks, standings = exposure_curves(view, view.parts[0])
    assert marks[-1] == book.intake.n_out
    assert all(one.safe for standing in standings for one in standing)
    page = drawn_page(view)
    assert len(page.sections) == 4
    for later, said in ((5_000, "less than a minute"), (5_400_000, "1.5 hours"), (3 * 86_400_000, "3.0 days")):
        assert f"oldest: {said}" in rendered_file(drawn_page(officer_view(book, GATE, "v", AT + later, 1_000)))
    few = rendered_file(drawn_page(replace(view, charted=2)))
    assert "Of 5 targets the 2 with most records waiting are drawn; /officer?targets=5 draws all." in few
    assert "are drawn" not in rendered_file(page)
    nothing = drawn_page(officer_view(RequestBook(rules), GATE, "v", AT, 1_000))
    assert len(nothing.sections) == 4


def test_the_page_draws_and_lets_only_officers_in(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    url = f"sqlite:///{tmp_path / 'journal.db'}"
    journal = served_journal(url)
    book, writer, (xs, ys) = RequestBook(rules), journal.writer(GATE), drawn(4_000, 4)
    writer.append(book.ask([ask(i, xs[i], ys[i]) for i in range(4_000)], AT)[1])
    writer.append([entry for i in book.intake.waiting[:20].tolist() for entry in book.withdraw(i, AT, 1)])
    writer.close()
    with serving(url, tmp_path, "--expire-days", "100000") as running, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=60_000)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        said: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        home = f"http://127.0.0.1:{running.port}/officer"
        page.goto(home)
        assert page.locator("svg").count() == 0
        page.fill("#token", running.tokens["requester"])
        page.click("button")
        assert "Not the token of an officer" in page.inner_text("body")
        said.clear()  # the browser itself notes the 401
        page.fill("#token", running.tokens["officer"])
        page.click("button")
        page.wait_for_selector("svg")
        text = page.inner_text("body")
        assert said == []
        assert {url.split("?")[0] for url in asked} == {home}
        assert page.locator("figure svg").count() >= 5
        for words in ("Kullback-Leibler distance and its critical value", "By target", "Why records wait", "Waiting"):
            assert words in text
        assert not any(word in text for word in (*AGES, *LOCATIONS, "person 1"))
        waiting = len(book.intake.waiting)
        assert re.search(rf"Waiting\s+{waiting:,}", text)
        picture(page, path=str(tmp_path / "officer.png"), full_page=True)
        assert (tmp_path / "officer.png").stat().st_size > 50_000
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        (cookie,) = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/officer")
        journal.token_book.revoke_token(GATE, 2)
        page.wait_for_timeout(2_500)
        page.goto(home)
        assert page.locator("svg").count() == 0
        browser.close()
