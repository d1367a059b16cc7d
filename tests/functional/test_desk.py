"""The desk's door, without a browser: who gets in, what a change must bring along, and what answers and logs hold."""

from __future__ import annotations

import html
import json
import logging
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command_line import seriatim, write_policy, write_view
from support.desks import HOME, Answer, ask, signed_in, token_on

import seriatim as sr
from seriatim import api
from seriatim.ledger.shelf import slug
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger
from seriatim.report.words import format_percent
from seriatim.web.desk import jobs, lines, policy_form
from seriatim.web.desk.application import application
from seriatim.web.desk.book import Book
from seriatim.web.desk.rights import EVERYBODY, RIGHTS

DOCS = Path(__file__).parents[2] / "docs"
KEY = "0123456789abcdef"


@pytest.fixture
def ledger(tmp_path: Path) -> SqlLedger:
    ledger = open_ledger(tmp_path / "ledger.db")
    policy = sr.Policy.load(write_policy(tmp_path))
    sr.publish(write_view(tmp_path), policy, ledger, recipients=["Dr Weber"])
    sr.publish(write_view(tmp_path, 36, "next.csv"), policy, ledger, recipients=["Dr Weber"], draft="A. Ortiz")
    return ledger


def made(ledger: SqlLedger, tmp_path: Path, user: str = "B. Li") -> tuple[Any, Any]:
    return application(ledger, f"sqlite:///{tmp_path / 'ledger.db'}", user, tmp_path)


def paths(ledger: SqlLedger) -> dict[str, tuple[str, str]]:
    """Each route with a path that is there."""
    digest, here = ledger.drafts()[-1].digest, "/series/ward-visits"
    return {
        "show_work": ("GET", "/"),
        "show_table_form": ("GET", "/new"),
        "send_table": ("POST", "/new"),
        "show_job": ("GET", "/jobs/none"),
        "cancel_job": ("POST", "/jobs/none/cancel"),
        "repeat_job": ("POST", "/jobs/none/again"),
        "guess_policy": ("POST", "/policies"),
        "show_policy": ("GET", "/policies/policy.toml"),
        "change_policy": ("POST", "/policies/policy.toml"),
        "show_report": ("GET", "/jobs/none/report"),
        "show_attack_form": ("GET", "/attack"),
        "send_attack": ("POST", "/attack"),
        "forecast_series": ("POST", f"{here}/forecast"),
        "show_draft": ("GET", f"/drafts/{digest}"),
        "approve_draft": ("POST", f"/drafts/{digest}/approve"),
        "decline_draft": ("POST", f"/drafts/{digest}/decline"),
        "show_series": ("GET", here),
        "show_release": ("GET", f"{here}/1"),
        "show_receipt": ("GET", f"{here}/1/receipt"),
        "deliver_release": ("POST", f"{here}/1/deliver"),
        "show_ledger": ("GET", "/ledger"),
        "verify_ledger": ("POST", "/ledger/verify"),
        "show_trail": ("GET", "/trail"),
    }


def test_no_route_answers_without_a_session_or_the_role_for_it(ledger: SqlLedger, tmp_path: Path) -> None:
    app, door = made(ledger, tmp_path)
    routes = paths(ledger)
    assert set(routes) == set(RIGHTS)
    entries = len(ledger.entries())
    for method, path in routes.values():
        assert ask(app, method, path, origin=HOME).status == 401, path
        assert ask(app, method, path, "seriatim_desk=x", origin=HOME).status == 401, path
    cookie = signed_in(app, door)
    for role in EVERYBODY:
        door.roles = frozenset({role})
        for name, (method, path) in routes.items():
            refused = role not in RIGHTS[name][1]
            answer = ask(app, method, path, cookie, origin=HOME)
            assert (answer.status == 403 and "roles" in answer.text) == refused, (role, name)
    assert len(ledger.entries()) == entries


def test_the_address_works_once_and_only_under_its_own_name(ledger: SqlLedger, tmp_path: Path) -> None:
    app, door = made(ledger, tmp_path)
    once = door.path
    assert ask(app, "GET", "/enter?key=").status == ask(app, "GET", "/enter?key=guess").status == 401
    answer = ask(app, "GET", once)
    assert answer.status == 200
    for word in ("HttpOnly", "SameSite=strict", "Max-Age=28800"):
        assert word in answer.headers["set-cookie"]
    cookie = answer.headers["set-cookie"].partition(";")[0]
    assert ask(app, "GET", once).status == ask(app, "GET", door.path).status == 401
    assert ask(app, "GET", "/", cookie).status == 200
    assert ask(app, "GET", "/", cookie, host="evil.example:8900").status == 421
    with door.book.database.writing() as connection:
        connection.exec_driver_sql("UPDATE sessions SET until = 1")
    assert ask(app, "GET", "/", cookie).status == 401


def test_a_change_needs_the_desks_own_origin_and_token(ledger: SqlLedger, tmp_path: Path) -> None:
    app, door = made(ledger, tmp_path)
    cookie, entries = signed_in(app, door), len(ledger.entries())
    token = token_on(ask(app, "GET", "/ledger", cookie).text)
    changes = [(name, path) for name, (method, path) in paths(ledger).items() if method == "POST"]
    assert len(changes) == 11
    good = {"token": token, "key": KEY, "reason": "wrong extract"}
    for name, path in changes:
        for form, origin in (
            (good, ""), (good, "null"), (good, "http://evil.example"), (good, "https://127.0.0.1:8900"),
            ({**good, "token": ""}, HOME), ({**good, "token": "0" * 64}, HOME), ({"key": KEY}, HOME),
        ):  # fmt: skip
            answer = ask(app, "POST", path, cookie, form, origin=origin)
            assert (answer.status, "not sent by a page of the desk" in answer.text) == (403, True), (name, origin)
    for key in ("", "short", "../../../../etc/passwd", "x" * 65):
        assert ask(app, "POST", "/ledger/verify", cookie, {**good, "key": key}, origin=HOME).status == 422
    assert len(ledger.entries()) == entries
    assert door.book.newest_jobs(9) == []


def approve(ledger: SqlLedger, app: Any, cookie: str, key: str = KEY) -> Answer:
    path = paths(ledger)["approve_draft"][1]
    token = token_on(ask(app, "GET", "/ledger", cookie).text)
    return ask(app, "POST", path, cookie, {"token": token, "key": key}, origin=HOME)


def test_the_author_cannot_approve_and_a_form_sent_twice_does_one_thing(ledger: SqlLedger, tmp_path: Path) -> None:
    app, door = made(ledger, tmp_path, "a.  ORTIZ")
    refused = approve(ledger, app, signed_in(app, door))
    assert (refused.status, "the author of the draft" in refused.text) == (422, True)
    assert [one.number for one in ledger.records()] == [1]
    app, door = made(ledger, tmp_path)
    cookie = signed_in(app, door)
    first, second = approve(ledger, app, cookie), approve(ledger, app, cookie)
    assert first.status == second.status == 303
    assert first.headers["location"] == second.headers["location"] == "/series/ward-visits/2"
    assert [(one.number, one.approval and one.approval.by) for one in ledger.records()] == [(1, None), (2, "B. Li")]
    assert approve(ledger, app, cookie, KEY[::-1]).status == 409  # another form: it was approved already


def test_a_draft_whose_series_moved_must_be_judged_again(ledger: SqlLedger, tmp_path: Path) -> None:
    app, door = made(ledger, tmp_path)
    cookie = signed_in(app, door)
    assert "Approve and release" in ask(app, "GET", paths(ledger)["show_draft"][1], cookie).text
    policy = sr.Policy.load(tmp_path / "policy.toml")
    sr.publish(write_view(tmp_path, 30, "other.csv"), policy, ledger)
    page = ask(app, "GET", paths(ledger)["show_draft"][1], cookie).text
    assert "Approve and release" not in page
    assert "Have the table judged again" in page
    answer = approve(ledger, app, cookie)
    assert (answer.status, "series moved" in answer.text) == (409, True)
    assert len(ledger.records()) == 2


def test_headers_logs_and_the_desks_own_files_give_nothing_away(
    ledger: SqlLedger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    app, door = made(ledger, tmp_path)
    cookie = signed_in(app, door)
    for method, path in (*paths(ledger).values(), ("GET", "/own/htmx.js"), ("GET", "/own/desk.css"), ("GET", "/none")):
        answer = ask(app, method, path, cookie, origin=HOME)
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'; ")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        for cell in ("p1,", "flu", "gout", "n11", "N11", "10101"):
            assert cell not in answer.text or path.startswith("/own"), (path, cell)
    said = "".join(str(vars(record)) for record in caplog.records if record.name == "seriatim.desk")
    assert "/series/{short}" in said
    assert "ward-visits" not in said
    assert cookie.partition("=")[2] not in said
    folder = tmp_path / "ledger.db.desk"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"looked at a draft" in kept
    assert not any(cell in kept for cell in (b"flu", b"gout", cookie.partition("=")[2].encode()))


def test_the_approver_sees_every_series_that_has_these_people(ledger: SqlLedger, tmp_path: Path) -> None:
    other = sr.Policy.load(write_policy(tmp_path, series="labs", name="labs.toml"))
    sr.publish(write_view(tmp_path, 30, "labs.csv"), other, ledger, recipients=["Dr Kim"])
    people = ledger.draft_people("ward-visits", ledger.drafts()[-1].digest)
    n = people.n_published
    assert n + people.n_withheld == 36
    assert (people.n_left, people.n_joined) == (24 - (n - people.n_joined), people.n_new)
    assert 24 <= people.n_elsewhere["labs"] <= 30
    app, door = made(ledger, tmp_path)
    page = ask(app, "GET", paths(ledger)["show_draft"][1], signed_in(app, door)).text
    for words in ("labs", "Dr Kim", "Dr Weber", "Waits for approval", "What changed since the last release"):
        assert words in page
    assert "Released" not in page


@pytest.fixture
def board(tmp_path: Path) -> Iterator[jobs.Jobs]:
    (tmp_path / "desk").mkdir()
    board = jobs.Jobs(tmp_path / "desk" / "jobs", Book.opened(tmp_path / "desk"), f"sqlite:///{tmp_path}/ledger.db")
    yield board
    for child in board._children:
        child.wait(60)


def settled(board: jobs.Jobs, name: str, until: Callable[[str], bool] = lambda state: state != jobs.RUNNING) -> Any:
    for _ in range(3_000):
        found = board.settled(board.book.job(name))  # type: ignore[arg-type]
        if until(found.state) and found.ended:
            return found
        time.sleep(0.05)
    raise AssertionError(found)


def test_a_job_ends_as_its_command_did(board: jobs.Jobs, ledger: SqlLedger, tmp_path: Path) -> None:
    board.start("a" * 16, lines.VERIFY, "", "B. Li", ("ledger", "verify"))
    absent = lines.publishing(lines.TRY, tmp_path / "none.csv", tmp_path / "policy.toml", (), "B. Li")
    board.start("b" * 16, lines.TRY, "ward-visits", "B. Li", absent)
    again = jobs.Jobs(board.folder, board.book, board.ledger)  # another desk, which has not started them
    assert settled(again, "a" * 16).state == jobs.DONE
    failed = settled(again, "b" * 16)
    assert failed.state == jobs.FAILED
    told = again.told(failed)
    assert told is not None
    assert told["error"]["exit_code"] == 2


def test_a_job_whose_process_is_gone_says_so(board: jobs.Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = tmp_path / "endless"
    endless.write_text("#!/bin/sh\nexec sleep 600\n")
    endless.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(endless))
    killed = board.start("c" * 16, lines.VERIFY, "", "B. Li", ("ledger", "verify"))
    assert board.settled(killed).state == jobs.RUNNING
    assert killed.pid > 1  # 0 would be every process of this test
    os.kill(killed.pid, 9)
    assert settled(board, killed.id).state == jobs.INTERRUPTED
    ended = board.start("d" * 16, lines.VERIFY, "", "B. Li", ("ledger", "verify"))
    board.cancel(board.book.job(ended.id))  # type: ignore[arg-type]
    assert settled(board, ended.id).state == jobs.CANCELLED


@pytest.mark.parametrize("series", ["ward-visits", "-ward"])
def test_a_delivery_is_recorded_as_by_the_command(ledger: SqlLedger, tmp_path: Path, series: str) -> None:
    if series not in ledger.series():
        sr.publish(tmp_path / "view.csv", sr.Policy.load(write_policy(tmp_path, series=series, name="p.toml")), ledger)
    app, door = made(ledger, tmp_path)
    cookie, place = signed_in(app, door), f"/series/{slug(series)}/1/deliver"
    told = {"token": token_on(ask(app, "GET", "/ledger", cookie).text), "key": KEY, "recipients": "--to\n  Dr Kim"}
    answer = ask(app, "POST", place, cookie, told, origin=HOME)
    assert answer.status == 303
    page = ended_page(app, cookie, answer.headers["location"])
    assert "the command has done what was asked" in page.lower()
    (record,) = ledger.records(series)
    assert set(record.recipients) >= {"--to", "Dr Kim"}


def ended_page(app: Any, cookie: str, place: str) -> str:
    """The page of a job that is over."""
    for _ in range(3_000):
        page = ask(app, "GET", place, cookie).text
        if "What next" in page:
            return page
        time.sleep(0.05)
    raise AssertionError(place)


def test_an_attack_finds_what_the_command_finds_and_leaves_its_report(ledger: SqlLedger, tmp_path: Path) -> None:
    """On a series of the ledger, and on files of any tool; the report may run its own script and nothing else."""
    app, door = made(ledger, tmp_path)
    cookie = signed_in(app, door)
    token = token_on(ask(app, "GET", "/attack", cookie).text)
    (tmp_path / "monthly").mkdir()
    for month in "12":
        (tmp_path / f"monthly/{month}.csv").write_text("age,ill\n20-29,flu\n20-29,gout\n30-39,flu\n30-39,flu\n")
    who = [f"{month},{row},p{row}" for month in "12" for row in range(1, 5)]
    (tmp_path / "who.csv").write_text("\n".join(["release,row,respondent", *who]) + "\n")
    of_files = {"history": str(tmp_path / "monthly"), "respondents": str(tmp_path / "who.csv"), "sensitive": "ill"}
    for at, target in enumerate(({"series": "ward-visits", "known": "10"}, {**of_files, "known": ""})):
        told = {"token": token, "key": f"{at}" * 16, **target}
        answer = ask(app, "POST", "/attack", cookie, told, origin=HOME)
        assert answer.status == 303, answer.text
        page = ended_page(app, cookie, answer.headers["location"])
        (job,) = [one for one in door.book.newest_jobs(9) if one.id == f"{at}" * 16]
        found = seriatim(tmp_path, *job.words, "--json", "--ledger", f"sqlite:///{tmp_path / 'ledger.db'}")
        share = json.loads(found.out)["iterated"]["share"]
        assert ("Nobody breached" in page) == (share == 0)
        assert format_percent(share) in page
        report = ask(app, "GET", f"{answer.headers['location']}/report", cookie)
        assert report.status == 200
        assert "unsafe" not in report.headers["content-security-policy"]
        assert report.headers["content-security-policy"].count("sha256-") == 3
    assert share == 0.5  # the two who share a box with nobody of another value
    assert ask(app, "GET", "/jobs/none/report", cookie).status == 404


@pytest.mark.parametrize("place", ["/new", "/policies"])
def test_a_table_without_its_header_shows_nobodys_record(ledger: SqlLedger, tmp_path: Path, place: str) -> None:
    app, door = made(ledger, tmp_path)
    cookie = signed_in(app, door)
    rows = (tmp_path / "view.csv").read_text().splitlines()[1:]
    (tmp_path / "headless.csv").write_text("\n".join(["canary7,31,10101,canaryflu,canarynote,canaryname", *rows]))
    told = {"token": token_on(ask(app, "GET", "/new", cookie).text), "key": KEY, "kind": lines.TRY}
    told |= {"path": str(tmp_path / "headless.csv"), "policy": str(tmp_path / "policy.toml")}
    page = ended_page(app, cookie, ask(app, "POST", place, cookie, told, origin=HOME).headers["location"])
    assert "header" in page
    kept = b"".join(one.read_bytes() for one in tmp_path.rglob("*") if one.is_file() and one.name != "headless.csv")
    assert ("canary" in page, b"canary" in kept) == (False, False)


def test_what_was_typed_wrong_is_said_and_starts_nothing(ledger: SqlLedger, tmp_path: Path) -> None:
    app, door = made(ledger, tmp_path)
    cookie = signed_in(app, door)
    told = {"token": token_on(ask(app, "GET", "/attack", cookie).text), "key": KEY}
    for path, form, words in (
        ("/attack", {"series": "ward-visits", "known": "95"}, "a percentage from 0 to 90"),
        ("/attack", {"series": "ward-visits", "known": "many"}, "a percentage from 0 to 90"),
        ("/attack", {"history": str(tmp_path / "none")}, "there is no such folder"),
        ("/attack", {"history": str(tmp_path)}, "none was chosen"),
        ("/attack", {"series": "none"}, "there is no such series"),
        ("/series/ward-visits/forecast", {"releases": "0"}, "a whole number from 1 to 120"),
        ("/series/ward-visits/forecast", {"releases": "x"}, "a whole number from 1 to 120"),
    ):
        answer = ask(app, "POST", path, cookie, {**told, **form}, origin=HOME)
        assert answer.status in (404, 422)
        assert words in answer.text.replace("There", "there"), answer.text
    assert door.book.newest_jobs(9) == []


def test_a_first_policy_is_that_of_the_command_and_changes_line_by_line(ledger: SqlLedger, tmp_path: Path) -> None:
    app, door = made(ledger, tmp_path)
    cookie = signed_in(app, door)
    told = {"token": token_on(ask(app, "GET", "/new", cookie).text), "key": KEY}
    guess = {**told, "path": str(tmp_path / "view.csv"), "series": "wards"}
    answer = ask(app, "POST", "/policies", cookie, guess, origin=HOME)
    page = ended_page(app, cookie, answer.headers["location"])
    assert "/policies/wards.toml" in page
    path = tmp_path / "wards.toml"
    guessed = path.read_text()
    assert guessed == api.first_policy(tmp_path / "view.csv", "wards")
    page = ask(app, "GET", "/policies/wards.toml", cookie).text
    stated = policy_form.lines_of(guessed)
    assert all(html.escape(one.why) in page for one in stated)
    assert str(tmp_path / "view.csv") in page  # the table to try it on

    (at,) = [one.at for one in stated if one.key == "k"]
    changed = {**told, "key": "1" * 16, "seen": policy_form.digest(guessed), f"line-{at}": "7"}
    assert ask(app, "POST", "/policies/wards.toml", cookie, changed, origin=HOME).status == 303
    before, after = guessed.splitlines(), path.read_text().splitlines()
    assert [(one, other) for one, other in zip(before, after, strict=True) if one != other] == [(before[at], "k = 7")]
    assert sr.Policy.load(path).terms.least_people == 7

    for at_, form, words in (
        (2, changed, "has changed since this page was opened"),
        (3, {"seen": policy_form.digest(path.read_text()), f"line-{at}": "many"}, "wards.toml"),
        (4, {"seen": policy_form.digest(path.read_text()), f"line-{at}": "5\n[defence]"}, "not one value"),
        (5, {"seen": policy_form.digest(path.read_text()), "text": "[series]\nname = 1"}, "name"),
    ):
        answer = ask(app, "POST", "/policies/wards.toml", cookie, {**told, **form, "key": f"{at_}" * 16}, origin=HOME)
        assert (answer.status, words in answer.text) == (422, True), answer.text
    assert path.read_text().splitlines() == after
    assert sorted(one.name for one in tmp_path.glob("*.toml")) == ["policy.toml", "wards.toml"]
    for name in ("none.toml", "..%2Fpolicy.toml", ".wards.toml"):
        assert ask(app, "GET", f"/policies/{name}", cookie).status == 404


def test_nobody_releases_alone_who_may_not_approve(ledger: SqlLedger, tmp_path: Path) -> None:
    app, door = made(ledger, tmp_path)
    cookie = signed_in(app, door)
    told = {"token": token_on(ask(app, "GET", "/ledger", cookie).text), "key": KEY, "kind": "publish"}
    told |= {"path": str(tmp_path / "next.csv"), "policy": str(tmp_path / "policy.toml")}
    door.roles = frozenset({"steward"})
    answer = ask(app, "POST", "/new", cookie, told, origin=HOME)
    assert (answer.status, "Another person must approve" in answer.text) == (403, True)
    assert door.book.newest_jobs(9) == []


def test_an_uploaded_table_is_removed_after_a_week(board: jobs.Jobs) -> None:
    old, young = board.upload_folder("old"), board.upload_folder("young")
    (old / "view.csv").write_text("x")
    os.utime(old, (time.time() - jobs.DAYS * 86_400 - 60,) * 2)
    board.clear_old_uploads()
    assert (old.exists(), young.exists()) == (False, True)


def test_the_docs_have_the_states_of_jobs() -> None:
    text = (DOCS / "how-to/use-the-desk.md").read_text(encoding="utf-8")
    table = "\n".join(f"| {state} | {meaning} |" for state, meaning in jobs.STATES.items())
    assert table in text


@pytest.mark.parametrize(
    ("given", "kept"),
    [("a.csv", "a.csv"), ("../../etc/passwd", "passwd"),
     ("..\\x.csv", "x.csv"), (".hidden", "hidden"), ("/", "table.csv"),
     ("a\0b\n.csv", "a_b_.csv"), ("x" * 300 + ".csv", "x" * 116 + ".csv"), ("..", "table.csv")],
)  # fmt: skip
def test_the_name_of_an_upload_is_a_name_and_nothing_else(given: str, kept: str) -> None:
    assert lines.safe_name(given) == kept
