"""Jobs: each is a command in a process of its own. Neither a closed browser nor a restarted desk ends it.

The process holds a lock on a file for as long as it lives, so any desk can tell whether it still runs; what it printed
says what came of it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from seriatim.web.desk import lines
from seriatim.web.desk.book import Book, Job, now

RUNNING, DONE, REFUSED, FAILED = "running", "done", "refused", "failed"
CANCELLED, INTERRUPTED = "cancelled", "interrupted"
STATES = {
    RUNNING: "the command runs",
    DONE: "the command has done what was asked",
    REFUSED: "the verdict refused the table: nothing was released",
    FAILED: "the command could not go on, and says why",
    CANCELLED: "somebody ended it",
    INTERRUPTED: "the computer or the process ended before the command did; it can be started again",
}
"""Every state of a job; ``docs/how-to/use-the-desk.md`` has the same table."""
REPORT = "report.html"
DAYS = 7
"""After which an uploaded table is removed."""


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs of one desk."""

    folder: Path
    book: Book
    ledger: str
    """The address as the command line takes it; it may hold a password, so it is in no row and no argument."""
    _children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, name: str, kind: str, series: str, person: str, words: tuple[str, ...]) -> Job:
        """Start a command under a name that nothing has."""
        self.clear_old_uploads()
        place = self.folder / name
        place.mkdir(mode=0o700, parents=True)
        lock = os.open(place / "lock", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        job = Job(id=name, kind=kind, series=series, person=person, words=words, pid=0, started=now(), state=RUNNING)
        self.book.add(job)  # before the process: none may run that no row knows
        surroundings = {**os.environ, "SERIATIM_LEDGER": self.ledger, "SERIATIM_PROGRESS": str(place / "progress")}
        out = ("--out", str(place / REPORT)) if kind in lines.REPORTING else ()
        command = [sys.executable, "-m", "seriatim", *lines.with_options(words, "--json", *out)]
        try:
            with _new_file(place / "out.json") as printed, _new_file(place / "said.txt") as said:
                child = subprocess.Popen(  # noqa: S603 - our own command, its words apart
                    command, stdin=subprocess.DEVNULL, stdout=printed, stderr=said, pass_fds=(lock,),
                    start_new_session=True, env=surroundings,
                )  # fmt: skip
        finally:
            os.close(lock)  # the child has its own
        self._children.append(child)
        self.book.begin(name, child.pid)
        return replace(job, pid=child.pid)

    def cancel(self, job: Job) -> None:
        """End a job that still runs, with whatever it has started."""
        if job.pid and self._runs(job):
            self.book.mark(job.id, CANCELLED)
            with suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGTERM)

    def settled(self, job: Job) -> Job:
        """Return a job as it stands now."""
        if job.ended or self._runs(job):
            return job
        told = self.told(job)
        state = job.state if job.state == CANCELLED else INTERRUPTED
        if told is not None:
            broken = told.get("outcome") == REFUSED or told.get("error", {}).get("exit_code") == 3
            state = REFUSED if broken else FAILED if "error" in told else DONE
        self.book.end(job.id, state)
        return self.book.job(job.id) or job

    def told(self, job: Job) -> dict[str, Any] | None:
        """Return what the command printed; None unless it came to its end."""
        try:
            found = json.loads((self.folder / job.id / "out.json").read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else {"records": found}

    def report(self, job: Job) -> str | None:
        """Return the page that a job has made."""
        try:
            return (self.folder / job.id / REPORT).read_text(encoding="utf-8")
        except OSError:
            return None

    def progress(self, job: Job) -> tuple[str, float]:
        """Return the step that a job is at, and the share of its work that is behind it."""
        with suppress(OSError, ValueError):
            share, _, step = (self.folder / job.id / "progress").read_text(encoding="utf-8").partition(" ")
            return step.strip(), min(max(float(share), 0.0), 1.0)
        return "starting", 0.0

    def upload_folder(self, name: str) -> Path:
        """Return a new folder for the table that a job is about to get."""
        place = self.folder.with_name("uploads") / name
        place.mkdir(mode=0o700, parents=True)
        return place

    def clear_old_uploads(self) -> None:
        """Remove tables that were uploaded more than a week ago."""
        for place in self.folder.with_name("uploads").glob("*"):
            with suppress(FileNotFoundError):  # another desk was faster
                if time.time() - place.stat().st_mtime > DAYS * 86_400:
                    shutil.rmtree(place, ignore_errors=True)

    def _runs(self, job: Job) -> bool:
        try:
            lock = os.open(self.folder / job.id / "lock", os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        for child in [one for one in self._children if one.pid == job.pid]:
            child.wait()
            self._children.remove(child)
        return False


def _new_file(path: Path) -> Any:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
