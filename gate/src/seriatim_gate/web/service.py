"""A gate's service: its parts, put together from a journal and settings."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import logging
from bisect import bisect_left
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from seriatim.errors import SeriatimError
from seriatim.web.guard import Guard
from seriatim_gate.journal.sql_journal import SqlJournal
from seriatim_gate.usecases.request_book import RequestBook
from seriatim_gate.usecases.serving import Served
from seriatim_gate.web.access import FRESH, Access
from seriatim_gate.web.decision_loop import DecisionLoop, Unavailable, Work, open_gate, stored_rules
from seriatim_gate.web.settings import Settings

NOT_VALID = "the request is not as documented; see /openapi.json"
NEW_OBJECTS = 20_000
"""After this many new objects, a search for garbage starts."""
LATER = "not available now; ask again with the same key"
log = logging.getLogger("seriatim.gate")
HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
)
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


@dataclass
class Counters:
    """Answers by route and status, and how long they took, in buckets."""

    answers: dict[tuple[str, str, int], int] = field(default_factory=dict)
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def count_answer(self, method: str, route: str, status: int, seconds: float) -> None:
        key = (method, route, status)
        self.answers[key] = self.answers.get(key, 0) + 1
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def counter_lines(self) -> list[str]:
        """Return the counts as lines of text."""
        lines = ["# TYPE seriatim_gate_answers_total counter"]
        for (method, route, status), n in sorted(self.answers.items()):
            lines.append(f'seriatim_gate_answers_total{{method="{method}",route="{route}",status="{status}"}} {n}')
        lines.append("# TYPE seriatim_gate_answer_seconds histogram")
        total = 0
        for bound, n in zip((*map(str, BOUNDS), "+Inf"), self.buckets, strict=True):
            total += n
            lines.append(f'seriatim_gate_answer_seconds_bucket{{le="{bound}"}} {total}')
        lines += [f"seriatim_gate_answer_seconds_sum {self.seconds:.6f}", f"seriatim_gate_answer_seconds_count {total}"]
        return lines


@dataclass(kw_only=True)
class Service:
    """What routes work with."""

    journal: SqlJournal
    settings: Settings
    decisions: DecisionLoop
    access: Access
    counters: Counters
    n_held: int
    secret: bytes = field(repr=False)
    _shuffled: Any = field(default_factory=lambda: np.empty(0, np.int32), repr=False)

    @property
    def by_respondent(self) -> bool:
        """Return whether the service holds the records; else requesters bring their values."""
        return self.n_held > 0

    def rules(self, number: int) -> Served:
        return stored_rules(self.journal, self.settings.gate, number)

    async def change(self, work: Any) -> Any:
        """Do a change in the decision loop."""
        return await self.decisions.hand(Work(asyncio.get_running_loop().create_future(), change=work))

    async def look(self, work: Any) -> Any:
        """Look something up in the decision loop: it sees what is on the disk."""
        return await self.decisions.hand(Work(asyncio.get_running_loop().create_future(), look=work))

    def order(self, book: RequestBook) -> Any:
        """Return the numbers of visible releases in the order in which they are shown."""
        shown = book.intake.left()[: book.n_shown]
        if not book.batches:
            return shown
        if len(self._shuffled) != len(shown):
            self._shuffled, first = np.array(shown), 0
            for batch, end in enumerate(book.batch_ends):
                seed = hashlib.sha256(self.secret + batch.to_bytes(8)).digest()
                np.random.Generator(np.random.PCG64(int.from_bytes(seed))).shuffle(self._shuffled[first:end])
                first = end
        return self._shuffled


def assembled(journal: SqlJournal, settings: Settings, decisions: DecisionLoop | None = None) -> Service:
    """Put a service together; ``decisions`` is a loop that has the gate open already, else it is opened here."""
    decisions = decisions or open_gate(journal, settings)
    access = Access(journal, settings.gate, settings.rate, dict(journal.tokens(settings.gate)))
    held = journal.counts_records(settings.gate)
    return Service(
        journal=journal,
        settings=settings,
        decisions=decisions,
        access=access,
        counters=Counters(),
        n_held=held,
        secret=journal.secret(settings.gate),
    )


def application(service: Service) -> FastAPI:
    """Return the application: routes, limits, and errors that repeat nothing of what was sent."""
    from seriatim_gate.web import officer_page, officer_routes, request_routes, watch_routes

    @asynccontextmanager
    async def alive(_: FastAPI) -> AsyncIterator[None]:
        _leave_what_stays_to_itself()
        service.decisions.start(asyncio.get_running_loop())
        refreshing = asyncio.create_task(_refresh(service))
        yield
        refreshing.cancel()
        await asyncio.to_thread(service.decisions.stop)

    app = FastAPI(title="Seriatim record gate", version="1", lifespan=alive, openapi_url=None, redirect_slashes=False)
    for part in (request_routes, officer_routes, watch_routes):
        app.include_router(part.routes(service))
    officer_page.add_routes(app, service)
    shapes = cache(lambda: json.dumps(app.openapi()).encode())  # written once: anyone may ask for it

    @app.get("/openapi.json", include_in_schema=False)
    async def describe() -> Response:
        return Response(shapes(), media_type="application/json")

    async def not_valid(request: Request, _: Exception) -> JSONResponse:
        known = service.access.token_of(request.headers.get("authorization")) is not None
        detail, status = (NOT_VALID, 422) if known else ("a valid token is required", 401)
        return JSONResponse({"detail": detail}, status)

    async def plainly(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if error.status_code == 400:  # a body that is no JSON at all
            return await not_valid(request, error)
        return JSONResponse({"detail": error.detail}, error.status_code, headers=error.headers)

    app.add_exception_handler(RequestValidationError, not_valid)
    app.add_exception_handler(HTTPException, plainly)
    app.add_exception_handler(Unavailable, _later)
    app.add_exception_handler(SeriatimError, _later)  # what was released could not be read
    app.add_middleware(
        Guard,
        largest=service.settings.largest_body,
        headers=HEADERS,
        heard=log,
        counted=service.counters.count_answer,
    )
    return app


def _leave_what_stays_to_itself() -> None:
    """Take what was loaded out of the search for garbage: going through all of it stops every answer for long.

    Not even once before: loading makes 200,000 objects that stay and less than a thousand that do not.
    """
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)


async def _refresh(service: Service) -> None:
    while True:
        await asyncio.sleep(FRESH)
        await asyncio.to_thread(service.access.read_tokens)


async def _later(_: Request, error: Exception) -> JSONResponse:
    if isinstance(error, SeriatimError):
        log.error("journal cannot be read", extra={"kind": type(error).__name__, "said": str(error)})
    return JSONResponse({"detail": LATER}, 503, headers={"Retry-After": "1"})
