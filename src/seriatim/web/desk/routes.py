"""The routes of the desk: each shows a screen, or does what one command does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from seriatim import api
from seriatim.errors import Fault, InputError
from seriatim.ledger.shelf import slug
from seriatim.ledger.sql_ledger import SqlLedger
from seriatim.ports import DraftRecord, ReleaseRecord
from seriatim.web.desk import jobs, lines, policy_form, screens
from seriatim.web.desk.book import Book, Job
from seriatim.web.desk.door import Asking, Sending, Sent, Visitor, is_redrawn
from seriatim.web.desk.rights import may_release_alone

ENTRIES = 200
"""So many entries of the ledger, or lines of the trail, are on a page."""
RECENT = 8
MOST_KNOWN, MOST_AHEAD = 0.9, 120
"""The largest share of people whose value an attacker knows, and the most releases to look ahead."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What the routes work with."""

    ledger: SqlLedger
    address: str
    _: KW_ONLY
    folder: Path
    """Where policies are, and releases go: the folder in which the desk was started."""
    book: Book
    jobs: jobs.Jobs
    acting: Lock = field(default_factory=Lock)
    """Held while a form is acted on: sent twice, the second answer waits for what the first one does."""

    def page(self, screen: str, visitor: Visitor, /, **told: Any) -> HTMLResponse:
        common = {"visitor": visitor, "desk": self, "line": lambda *words: lines.typed(words, self.address)}
        return HTMLResponse(screens.drawn(screen, **common, **told))

    def series_names(self) -> dict[str, str]:
        """Return every series with a release or a draft, by the name that stands in addresses."""
        names = {*self.ledger.series(), *(one.series for one in self.ledger.drafts())}
        return {slug(name): name for name in sorted(names)}

    def series(self, short: str) -> str:
        found = self.series_names().get(short)
        if found is None:
            raise HTTPException(404, "there is no such series")
        return found

    def release(self, short: str, number: int) -> ReleaseRecord:
        found = self.ledger.record(self.series(short), number)
        if found is None:
            raise HTTPException(404, "there is no such release")
        return found

    def policy(self, name: str) -> Path:
        """Return a policy of the desk's folder by the name of its file."""
        for path in lines.policies_in(self.folder):
            if path.name == name:
                return path
        raise HTTPException(404, "there is no such policy in the desk's folder")

    def draft(self, digest: str) -> DraftRecord:
        for one in self.ledger.drafts():
            if one.digest == digest:
                return one
        raise HTTPException(404, "there is no such draft")

    def job(self, name: str) -> Job:
        found = self.book.job(name)
        if found is None:
            raise HTTPException(404, "there is no such job")
        return self.jobs.settled(found)

    def recent(self, series: str | None = None) -> list[Job]:
        return [self.jobs.settled(job) for job in self.book.newest_jobs(RECENT, series)]

    def policy_of(self, series: str) -> Path | None:
        """Return the policy that the desk used last for a series, or the one in its folder that names it."""
        for job in self.book.newest_jobs(100, series):
            for text in job.after("--policy"):
                if Path(text).is_file():
                    return Path(text)
        return next((path for path, name in lines.policies_in(self.folder).items() if name == series), None)

    def once(self, sent: Sent, place: str, act: Callable[[], object]) -> Response:
        """Do what a form asks for the first time it is sent, and lead to the place where that shows."""
        with self.acting:
            earlier = self.book.claim(sent.key, place)
            if earlier is None:
                try:
                    act()
                except Exception:
                    self.book.unclaim(sent.key)
                    raise
        return RedirectResponse(earlier or place, 303)

    def started(self, sent: Sent, kind: str, series: str, words: Callable[[], tuple[str, ...]]) -> Response:
        """Start a job whose name is the form's key."""
        if kind == lines.PUBLISH and not may_release_alone(sent.visitor.roles):
            raise HTTPException(403, "another person must approve: keep a draft")
        name = sent.key
        return self.once(
            sent, f"/jobs/{name}", lambda: self.jobs.start(name, kind, series, sent.visitor.person, words())
        )


def routes(desk: Desk) -> APIRouter:
    router = APIRouter(default_response_class=HTMLResponse)
    for add in (_work, _tables, _policies, _attacks, _drafts, _series, _ledger):
        add(router, desk)
    return router


def _work(router: APIRouter, desk: Desk) -> None:
    @router.get("/")
    def show_work(visitor: Asking) -> Response:
        records = desk.ledger.records()
        newest = {one.series: one for one in records if not one.recalled}
        drafts = [one for one in desk.ledger.drafts() if one.state in screens.OPEN]
        counts = {name: sum(one.series == name and not one.recalled for one in records) for name in newest}
        return desk.page("work", visitor, drafts=drafts, jobs=desk.recent(), newest=newest, counts=counts, short=slug)

    @router.get("/jobs/{name}")
    def show_job(name: str, visitor: Asking, request: Request) -> Response:
        job = desk.job(name)
        if job.ended and is_redrawn(request):
            return Response(headers={"HX-Refresh": "true"})
        told, verdict = desk.jobs.told(job), None
        if told is not None and "findings" in told:
            verdict = screens.judged(told)
        banner = screens.job_banner(job, told) if verdict is None and job.ended else None
        draft = _draft_of(desk, job)
        step, share = desk.jobs.progress(job)
        return desk.page(
            "job", visitor, job=job, verdict=verdict, banner=banner, draft=draft, step=step, share=share, short=slug,
            as_draft=_further(job, lines.DRAFT, visitor), as_release=_further(job, lines.PUBLISH, visitor),
            alone=may_release_alone(visitor.roles), reports=job.kind in lines.REPORTING,
            policy=Path(job.after_equals("--out")).name if job.kind == lines.INIT else "",
        )  # fmt: skip

    @router.get("/jobs/{name}/report")
    def show_report(name: str, visitor: Asking) -> Response:  # noqa: ARG001 - may they look?
        page = desk.jobs.report(desk.job(name))
        if page is None:
            raise HTTPException(404, "this job has left no report")
        return screens.filed(page)

    @router.post("/jobs/{name}/cancel")
    def cancel_job(name: str, sent: Sending) -> Response:
        return desk.once(sent, f"/jobs/{name}", lambda: desk.jobs.cancel(desk.job(name)))

    @router.post("/jobs/{name}/again")
    def repeat_job(name: str, sent: Sending) -> Response:
        """Start the same command again, or the same table and policy as a draft or a release."""
        job, kind = desk.job(name), sent.text("kind")
        if not job.ended or (kind and (kind not in lines.JUDGING or job.kind not in lines.JUDGING)):
            raise HTTPException(422, "this job cannot be started again")
        kind = kind or job.kind
        words = lines.as_kind(job.words, kind, sent.visitor.person) if kind in lines.JUDGING else job.words
        return desk.started(sent, kind, job.series, lambda: words)


def _further(job: Job, kind: str, visitor: Visitor) -> tuple[str, ...]:
    return lines.as_kind(job.words, kind, visitor.person) if job.kind in lines.JUDGING else ()


def _draft_of(desk: Desk, job: Job) -> DraftRecord | None:
    """Return the draft that a job has kept."""
    if job.kind != lines.DRAFT or job.state != jobs.DONE:
        return None
    kept = [one for one in desk.ledger.drafts(job.series) if one.author == job.person]
    return next((one for one in reversed(kept) if job.started <= one.drafted_at <= f"{job.ended}~"), None)


def _tables(router: APIRouter, desk: Desk) -> None:
    @router.get("/new")
    def show_table_form(visitor: Asking) -> Response:
        return desk.page("table", visitor, policies=lines.policies_in(desk.folder))

    @router.post("/new")
    def send_table(sent: Sending) -> Response:
        kind = sent.text("kind")
        if kind not in lines.JUDGING:
            raise HTTPException(422, "this form is not one of the desk's; open the page again")
        policy = lines.existing("policy", sent.text("policy_path") or sent.text("policy"))
        recipients = sent.lines("recipients")
        series = lines.series_of(policy)
        if sent.table is None:
            lines.existing("table", sent.text("path"))  # before a job is made

        def words() -> tuple[str, ...]:
            table = _uploaded(desk, sent) or lines.existing("table", sent.text("path"))
            return lines.publishing(kind, table, policy, recipients, sent.visitor.person)

        return desk.started(sent, kind, series, words)


def _policies(router: APIRouter, desk: Desk) -> None:
    @router.post("/policies")
    def guess_policy(sent: Sending) -> Response:
        """Guess a first policy from a table, which stays for the first try."""
        if sent.table is None:
            lines.existing("table", sent.text("path"))  # before a job is made

        def words() -> tuple[str, ...]:
            table = _uploaded(desk, sent) or lines.existing("table", sent.text("path"))
            return lines.guessing(table, desk.folder, sent.text("series"))

        return desk.started(sent, lines.INIT, "", words)

    def shown(visitor: Visitor, path: Path, text: str, told: Sequence[str] = ()) -> HTMLResponse:
        tables = [job.words[-1] for job in desk.book.newest_jobs(100, "") if job.after_equals("--out") == str(path)]
        return desk.page(
            "policy", visitor, path=path, text=text, told=told, stated=policy_form.lines_of(text), tables=tables[:1],
            seen=policy_form.digest(path.read_text(encoding="utf-8")), roles=policy_form.ROLES,
        )  # fmt: skip

    @router.get("/policies/{name}")
    def show_policy(name: str, visitor: Asking) -> Response:
        path = desk.policy(name)
        return shown(visitor, path, path.read_text(encoding="utf-8"))

    @router.post("/policies/{name}")
    def change_policy(name: str, sent: Sending) -> Response:
        path = desk.policy(name)
        text = sent.typed("text", policy_form.LONGEST).replace("\r\n", "\n")
        if not text:
            text = policy_form.with_values(path.read_text(encoding="utf-8"), sent.numbered("line"))
        told: list[str] = []

        def act() -> None:
            told.extend(policy_form.keep(path, text, sent.text("seen")))
            if told:
                raise _NotKeptError

        try:
            return desk.once(sent, f"/policies/{quote(name)}", act)
        except _NotKeptError:
            answer = shown(sent.visitor, path, text, told)
            answer.status_code = 422
            return answer


class _NotKeptError(Exception):
    """What was typed is no policy: the form may be sent again."""


def _uploaded(desk: Desk, sent: Sent) -> Path | None:
    """Write an uploaded table to the disk, for its owner only."""
    table = sent.table
    if table is None:
        return None
    path = desk.jobs.upload_folder(sent.key) / lines.safe_name(table.filename or "")
    with path.open("xb") as file:
        path.chmod(0o600)
        shutil.copyfileobj(table.file, file, 1 << 20)
    return path


def _attacks(router: APIRouter, desk: Desk) -> None:
    @router.get("/attack")
    def show_attack_form(visitor: Asking) -> Response:
        return desk.page("attack", visitor, names=desk.series_names())

    @router.post("/attack")
    def send_attack(sent: Sending) -> Response:
        """Attack a series of the ledger, or a folder of files that any tool has made."""
        known, short = lines.share_of("people known", sent.text("known"), MOST_KNOWN), sent.text("series")
        if short:
            series, target = desk.series(short), {"series": desk.series(short), "recipient": sent.text("recipient")}
        else:
            series, target = "", {
                "history": str(lines.existing("folder", sent.text("history"), "folder")),
                "respondents": str(lines.existing("list of people", sent.text("respondents"))),
                "sensitive": sent.text("sensitive"),
            }  # fmt: skip
        return desk.started(sent, lines.ATTACK, series, lambda: lines.attacking(target, known))

    @router.post("/series/{short}/forecast")
    def forecast_series(short: str, sent: Sending) -> Response:
        series, releases = desk.series(short), sent.text("releases")
        if not (releases.isdecimal() and 1 <= int(releases) <= MOST_AHEAD):
            raise InputError(Fault("releases", "not such a number", f"a whole number from 1 to {MOST_AHEAD}"))
        return desk.started(sent, lines.FORECAST, series, lambda: lines.forecasting(series, int(releases)))


def _drafts(router: APIRouter, desk: Desk) -> None:
    @router.get("/drafts/{digest}")
    def show_draft(digest: str, visitor: Asking) -> Response:
        draft = desk.draft(digest)
        told: dict[str, Any] = {"verdict": None, "changes": None, "already": (), "held": None}
        if draft.state in screens.OPEN:
            people = desk.ledger.draft_people(draft.series, digest)
            told = {
                "verdict": screens.waiting(desk.ledger.draft_report(draft.series, digest)),
                "changes": screens.changes(people, draft.number),
                "already": screens.already_in(desk.ledger, draft, people),
                "held": screens.held_after(desk.ledger.records(draft.series), draft),
            }
        return desk.page("draft", visitor, draft=draft, own=_same(draft.author, visitor.person), short=slug, **told)

    @router.post("/drafts/{digest}/approve")
    def approve_draft(digest: str, sent: Sending) -> Response:
        draft = desk.draft(digest)
        place = f"/series/{quote(slug(draft.series))}/{draft.number}"
        return desk.once(sent, place, lambda: desk.ledger.approve(draft.series, sent.visitor.person, digest))

    @router.post("/drafts/{digest}/decline")
    def decline_draft(digest: str, sent: Sending) -> Response:
        draft, reason = desk.draft(digest), sent.text("reason")
        return desk.once(
            sent, f"/drafts/{digest}", lambda: desk.ledger.decline(draft.series, reason, sent.visitor.person, digest)
        )


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _series(router: APIRouter, desk: Desk) -> None:
    @router.get("/series/{short}")
    def show_series(short: str, visitor: Asking) -> Response:
        name = desk.series(short)
        records, drafts = desk.ledger.records(name), desk.ledger.drafts(name)
        received = [one.recipients for one in records] + [one.recipients for one in drafts]
        last = next((names for names in reversed(received) if names), ())
        receivers = sorted({who for one in records for who in one.recipients})
        return desk.page(
            "series", visitor, name=name, short=short, records=records, drafts=drafts, last=last, receivers=receivers,
            policy=desk.policy_of(name), policies=lines.policies_in(desk.folder), jobs=desk.recent(name),
        )  # fmt: skip

    @router.get("/series/{short}/{number}")
    def show_release(short: str, number: int, visitor: Asking) -> Response:
        record = desk.release(short, number)
        try:
            verdict = screens.judged(desk.ledger.report_record(record.series, number), "Published")
        except InputError:  # it was imported: nobody here judged it
            verdict = None
        return desk.page("release", visitor, record=record, short=short, verdict=verdict, files=_files(record))

    @router.get("/series/{short}/{number}/receipt")
    def show_receipt(short: str, number: int, visitor: Asking) -> Response:  # noqa: ARG001 - may they look?
        record = desk.release(short, number)
        return screens.filed(api.sign_off_in_ledger(desk.ledger, record.series, number).to_html())

    @router.post("/series/{short}/{number}/deliver")
    def deliver_release(short: str, number: int, sent: Sending) -> Response:
        record, recipients, out = desk.release(short, number), sent.lines("recipients"), sent.text("out")
        if not recipients:
            raise InputError(Fault("recipients", "nobody", "at least one name, each on a line of its own"))
        words = lines.delivering(record.series, number, recipients, sent.visitor.person, out)
        return desk.started(sent, lines.DELIVER, record.series, lambda: words)


def _files(record: ReleaseRecord) -> list[Path]:
    """Return the files of a release where it was put."""
    if record.destination is None:
        return []
    folder = Path(record.destination) / f"{slug(record.series)}-{record.number:04d}"
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _ledger(router: APIRouter, desk: Desk) -> None:
    @router.get("/ledger")
    def show_ledger(visitor: Asking, before: int = 0) -> Response:
        entries = [one for one in reversed(desk.ledger.entries()) if not before or one.seq < before]
        return desk.page("ledger", visitor, entries=entries[:ENTRIES], more=len(entries) > ENTRIES, short=slug)

    @router.post("/ledger/verify")
    def verify_ledger(sent: Sending) -> Response:
        return desk.started(sent, lines.VERIFY, "", lambda: ("ledger", "verify"))

    @router.get("/trail")
    def show_trail(visitor: Asking) -> Response:
        return desk.page("trail", visitor, visits=desk.book.visits(ENTRIES))
