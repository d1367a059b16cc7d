"""What a desk remembers: sessions, forms that were sent, jobs, and who looked at or changed what."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from seriatim.storage.database import Database, open_database
from seriatim.storage.desk_schema import DESK, forms, jobs, sessions, trail

HOURS = 8
"""Of a session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A command that somebody started at the desk."""

    id: str
    kind: str
    series: str
    person: str
    words: tuple[str, ...]
    """Those of the command, without the program and the ledger."""
    pid: int
    started: str
    ended: str = ""
    state: str

    def after(self, option: str) -> tuple[str, ...]:
        """Return what follows each occurrence of an option."""
        return tuple(word for at, word in enumerate(self.words) if at and self.words[at - 1] == option)

    def after_equals(self, option: str) -> str:
        """Return what an option is set to in one word; empty if it is not among them."""
        return next((word.partition("=")[2] for word in self.words if word.startswith(f"{option}=")), "")


@dataclass(frozen=True, slots=True)
class Visit:
    """A line of the trail."""

    at: str
    person: str
    what: str
    about: str


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Book:
    """The desk's own database, beside the ledger's files."""

    database: Database

    @staticmethod
    def opened(folder: Path) -> Book:
        return Book(open_database(folder / "desk.db", create=True, kind=DESK))

    def open_session(self, person: str) -> str:
        """Return a new cookie."""
        cookie, moment = secrets.token_urlsafe(32), int(time.time())
        with self.database.writing() as connection:
            connection.execute(sessions.delete().where(sessions.c.until < moment))
            row = {"digest": _digest(cookie), "person": person, "until": moment + HOURS * 3600}
            connection.execute(sessions.insert().values(row))
        return cookie

    def person_behind(self, cookie: str) -> str | None:
        """Return whose session a cookie is; None for none, or one that has ended."""
        asked = sa.select(sessions.c.person).where(
            sessions.c.digest == _digest(cookie), sessions.c.until > int(time.time())
        )
        with self.database.reading() as connection:
            return connection.execute(asked).scalar()

    def claim(self, key: str, place: str) -> str | None:
        """Take a form that is sent for the first time; return where the first one led if it was sent before."""
        with self.database.writing() as connection:
            found = connection.execute(sa.select(forms.c.place).where(forms.c.key == key)).scalar()
            if found is None:
                connection.execute(forms.insert().values(key=key, place=place, at=int(time.time())))
            return found

    def unclaim(self, key: str) -> None:
        """Let a form be sent again that changed nothing."""
        with self.database.writing() as connection:
            connection.execute(forms.delete().where(forms.c.key == key))

    def add(self, job: Job) -> None:
        with self.database.writing() as connection:
            row = {name: getattr(job, name) for name in jobs.c.keys()}  # noqa: SIM118 - columns, not a mapping
            connection.execute(jobs.insert().values({**row, "words": json.dumps(job.words)}))

    def end(self, job: str, state: str) -> None:
        """Note what became of a job, if that is not known yet."""
        with self.database.writing() as connection:
            running = (jobs.c.id == job) & (jobs.c.ended == "")
            connection.execute(jobs.update().where(running).values(state=state, ended=now()))

    def begin(self, job: str, pid: int) -> None:
        """Note the process of a job."""
        with self.database.writing() as connection:
            connection.execute(jobs.update().where(jobs.c.id == job).values(pid=pid))

    def mark(self, job: str, state: str) -> None:
        """Note what is to become of a job that still runs."""
        with self.database.writing() as connection:
            connection.execute(jobs.update().where((jobs.c.id == job) & (jobs.c.ended == "")).values(state=state))

    def job(self, name: str) -> Job | None:
        with self.database.reading() as connection:
            found = connection.execute(sa.select(jobs).where(jobs.c.id == name)).first()
            return None if found is None else _job(found)

    def newest_jobs(self, most: int, series: str | None = None) -> Sequence[Job]:
        asked = sa.select(jobs).order_by(jobs.c.started.desc()).limit(most)
        if series is not None:
            asked = asked.where(jobs.c.series == series)
        with self.database.reading() as connection:
            return [_job(row) for row in connection.execute(asked)]

    def note(self, person: str, what: str, about: str) -> None:
        with self.database.writing() as connection:
            connection.execute(trail.insert().values(at=now(), person=person, what=what, about=about))

    def visits(self, most: int) -> Sequence[Visit]:
        asked = sa.select(trail.c.at, trail.c.person, trail.c.what, trail.c.about).order_by(trail.c.seq.desc())
        with self.database.reading() as connection:
            return [Visit(*row) for row in connection.execute(asked.limit(most))]


def _job(row: sa.Row[Any]) -> Job:
    told = row._asdict()
    return Job(**{**told, "words": tuple(json.loads(told["words"]))})


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode()).hexdigest()
