"""The decision loop: one thread that takes work in its order, decides, puts it on the disk, and only then answers.

Everything that waits is taken together and committed in one transaction, so under load many decisions share one flush
of the disk. Looking things up is work like any other: it sees what is on the disk, never what is about to be. When the
database fails, nothing is answered but 'unavailable'; the state in memory is thrown away and read from the journal
again once the database is back. It knows nothing of HTTP, so that a service can load the libraries it answers with
while the loop reads the journal.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from typing import Any

from seriatim.errors import Fault, InputError, JournalHeld, SeriatimError
from seriatim_gate.engine.dependencies import Dependencies
from seriatim_gate.journal.sql_journal import SqlJournal
from seriatim_gate.ports import Journal, JournalEntry, JournalRecord, JournalWriter
from seriatim_gate.usecases.request_book import Ask, RequestBook
from seriatim_gate.usecases.serving import Served, read_rules, refuse_overlap
from seriatim_gate.web.settings import Settings

MOST = 512
"""So many pieces of work share one transaction."""
AGAIN = 0.25
"""Seconds between attempts to reach the database."""
TICK = 0.5
log = logging.getLogger("seriatim.gate")


class Unavailable(Exception):  # noqa: N818
    """Nothing can be put on the disk now; ask again later with the same key."""


@dataclass(slots=True)
class Wanted:
    """A request that still needs its record looked up. ``allowed`` is False for a person the token may not ask for."""

    ask: Ask
    by_respondent: bool
    allowed: bool = True
    quota: int | None = None


@dataclass(slots=True)
class Work:
    """A request, a change or a look, and the future that gets the result."""

    future: asyncio.Future[Any]
    wanted: Wanted | None = None
    change: Callable[[RequestBook, int], list[JournalEntry]] | None = None
    look: Callable[[RequestBook], Any] | None = None
    result: Any = None


NOT_HELD, OVER_QUOTA = object(), object()


@dataclass
class DecisionLoop:
    """Owns the book and the journal's writer. ``make_book`` returns a book in which nothing has happened."""

    journal: Journal
    make_book: Callable[[], RequestBook]
    settings: Settings
    _: KW_ONLY
    book: RequestBook = field(init=False)
    ready: bool = False
    n_commits: int = 0
    n_failures: int = 0
    _writer: JournalWriter | None = None
    _inbox: deque[Work] = field(default_factory=deque)
    _wake: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _called: bool = False
    _stopped: bool = False
    _next_tick: float = 0.0
    _next_batch: float = 0.0

    def open(self) -> None:
        """Become the only writer and read the journal. Raise JournalHeld if another service has the gate."""
        self._writer = self.journal.writer(self.settings.gate, self.settings.patience, self.settings.head)
        self._read()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread = threading.Thread(target=self._work, name="gate decisions", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish what was begun, then let the journal go."""
        self._stopped = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=30)
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def hand(self, work: Work) -> asyncio.Future[Any]:
        """Hand in work; its future is done once it is on the disk."""
        if self.ready:
            self._inbox.append(work)
            if not self._called:  # after what else arrived in this round, so that all of it shares a transaction
                self._called = True
                asyncio.get_running_loop().call_soon(self._call)
        else:
            work.future.set_exception(Unavailable())
        return work.future

    def _call(self) -> None:
        self._called = False
        self._wake.set()

    def _work(self) -> None:
        while not self._stopped or self._inbox:
            self._wake.wait(TICK if self.ready else AGAIN)
            self._wake.clear()
            if not self.ready and not self._recover():
                continue
            while self._inbox or time.monotonic() >= self._next_tick:
                self._serve(self._taken(MOST))
                if not self.ready:
                    break

    def _serve(self, works: list[Work]) -> None:
        try:
            if not self.ready:
                raise Unavailable
            self._process(works)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may take it for an answer
            self._fail(works, error)
        else:
            self._deliver(works, None)

    def _process(self, works: list[Work]) -> None:
        now = time.time_ns() // 1_000_000
        # requests first, then changes, then looks: a look sees what this round has put on the disk
        entries = self._ask([work for work in works if work.wanted is not None], now)
        for work in works:
            if work.change is not None:
                try:
                    made = work.change(self.book, now)
                except InputError as error:  # nothing was changed
                    work.result = error
                else:
                    entries += made
                    work.result = bool(made)
        entries += self._tick(now)
        if entries:
            assert self._writer is not None
            # one transaction for the whole round; nobody is answered before it is on the disk
            self._writer.append(entries)
            self.n_commits += 1
        for work in works:
            if work.look is not None:
                try:
                    work.result = work.look(self.book)
                except InputError as error:
                    work.result = error

    def _ask(self, works: list[Work], now: int) -> list[JournalEntry]:
        held = self._held(works)
        asked: list[tuple[Work, Ask]] = []
        counted: dict[int, set[str]] = {}
        """Of each token the ids that are new here; the same one may come twice at once."""
        for work in works:
            wanted = work.wanted
            assert wanted is not None
            ask = wanted.ask
            if wanted.by_respondent:
                found = held.get(ask.respondent)
                if found is None or not wanted.allowed:
                    work.result = NOT_HELD
                    continue
                ask = ask._replace(x=found.x, y=found.y, body=found.body, once=True)
            if wanted.quota is not None and bytes.fromhex(ask.id) not in self.book.numbers:
                new = counted.setdefault(ask.token, set())
                if ask.id not in new and self.book.n_asked.get(ask.token, 0) + len(new) >= wanted.quota:
                    work.result = OVER_QUOTA
                    continue
                new.add(ask.id)
            asked.append((work, ask))
        if not asked:
            return []
        answers, entries = self.book.ask([ask for _, ask in asked], now)
        for (work, _), answered in zip(asked, answers, strict=True):
            work.result = answered
        return entries

    def _held(self, works: list[Work]) -> dict[str, JournalRecord]:
        sought = [w.wanted.ask.respondent for w in works if w.wanted is not None and w.wanted.by_respondent]
        if not sought:
            return {}
        assert self._writer is not None
        return dict(self._writer.held_records(sought))

    def _tick(self, now: int) -> list[JournalEntry]:
        """Do what the clock asks for: let old requests expire, show a batch."""
        clock = time.monotonic()
        if clock < self._next_tick:
            return []
        self._next_tick = clock + TICK
        entries = self.book.expire(now, self.settings.expire)
        if self.book.batches and time.time() >= self._next_batch:
            self._next_batch = (time.time() // self.settings.batch + 1) * self.settings.batch
            entries += self.book.publish(now)
        return entries

    def _deliver(self, works: list[Work], error: Exception | None) -> None:
        assert self._loop is not None
        if works and not self._loop.is_closed():
            # futures belong to the loop's thread
            self._loop.call_soon_threadsafe(_settle, works, error)

    def _fail(self, works: list[Work], error: Exception) -> None:
        """Answer 'unavailable', and forget everything that may not be on the disk."""
        if self.ready:
            self.n_failures += 1
            log.error("journal failed", extra={"kind": type(error).__name__, "said": _said(error)})
        self.ready = False
        if self._writer is not None:
            try:
                self._writer.close()
            except Exception as closing:  # noqa: BLE001 - a broken connection may not even close
                log.warning("journal did not close", extra={"kind": type(closing).__name__})
            self._writer = None
        # what waits is not judged by a book that is in doubt: whoever asked asks again
        self._deliver(works + self._taken(), Unavailable())

    def _taken(self, most: int = 1 << 31) -> list[Work]:
        """Take work out of the inbox, oldest first; handing in goes on meanwhile."""
        works: list[Work] = []
        while self._inbox and len(works) < most:
            works.append(self._inbox.popleft())
        return works

    def _recover(self) -> bool:
        try:
            if self._writer is None:
                self._writer = self.journal.writer(self.settings.gate, 0.0, self.settings.head)
            self._read()
        except JournalHeld as error:
            log.error("another service serves this gate", extra={"said": _said(error)})
            self._let_go()
            return False
        except Exception as error:  # noqa: BLE001 - try again until it works
            log.warning("journal is still out of reach", extra={"kind": type(error).__name__})
            self._let_go()
            return False
        log.info("journal is back", extra={"entries": self.book.n_entries})
        return True

    def _let_go(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None
        self._deliver(self._taken(), Unavailable())

    def _read(self) -> None:
        assert self._writer is not None
        book = self.make_book()
        # a fresh book from the journal alone: what memory held may never have reached the disk
        book.load(self._writer.past())
        self.book, self.ready = book, True


def _settle(works: list[Work], error: Exception | None) -> None:
    for work in works:
        if work.future.done():
            continue
        if error is not None or isinstance(work.result, InputError):
            work.future.set_exception(error or work.result)
        else:
            work.future.set_result(work.result)


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, SeriatimError) else ""


def open_gate(journal: SqlJournal, settings: Settings) -> DecisionLoop:
    """Open a gate's book. Raise JournalHeld if another service has the gate.

    Raise InputError without a stored replay, and where what leaves would add to what an earlier gate lets out.
    """
    stored = journal.baselines(settings.gate)
    if not stored or not _was_replayed(stored[-1].report, stored[-1].version):
        remedy = "run seriatim gate replay with --journal and --gate first"
        raise InputError(Fault("gate", "no replay is stored for this gate", "a replay before it serves", remedy))

    names = journal.names()
    earlier = {name: journal.baselines(name)[-1].content for name in names[: names.index(settings.gate)]}
    known = {name: Dependencies.from_json(text) for name, text in earlier.items()}
    refuse_overlap(settings.gate, Dependencies.from_json(stored[-1].content), known)

    def make_book() -> RequestBook:
        return RequestBook(lambda number: stored_rules(journal, settings.gate, number).rules, settings.batch > 0)

    decisions = DecisionLoop(journal, make_book, settings)
    decisions.open()
    rehearse(make_book())
    return decisions


def opening_gate(journal: SqlJournal, settings: Settings) -> Future[DecisionLoop]:
    """Open a gate in a thread of its own, which ends with the process: Ctrl-C need not wait for another service."""
    opened: Future[DecisionLoop] = Future()

    def work() -> None:
        try:
            opened.set_result(open_gate(journal, settings))
        except BaseException as error:  # noqa: BLE001 - anyone who waits for the loop gets it
            opened.set_exception(error)

    threading.Thread(target=work, name="gate opening", daemon=True).start()
    return opened


def rehearse(book: RequestBook) -> None:
    """Ask a book that is thrown away, so that the first requester does not wait for a compiler."""
    book.ask([Ask("0" * 32, 0, 0, 0, 0)], 0)
    book.freeze(0, 0)
    book.ask([Ask("1" * 32, 0, 0, 0, 0)], 0)
    book.withdraw(1, 0, 0)
    book.thaw(0, 0)


@lru_cache(maxsize=16)
def stored_rules(journal: SqlJournal, gate: str, number: int) -> Served:
    """Return a stored version of a gate's baseline and the rules that judge by it."""
    for stored in journal.baselines(gate):
        if stored.number == number:
            return read_rules(stored)
    raise InputError(Fault("baseline", "no such version", "a stored one"))


def _was_replayed(report: str, version: str) -> bool:
    try:
        told = json.loads(report)
        return bool(told["schema"] == "seriatim.gate.replay/1" and told["baseline"] == version)
    except (KeyError, TypeError, ValueError):
        return False
