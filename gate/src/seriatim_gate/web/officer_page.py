"""The officer's page, served by the same process: one file without links, drawn again every few seconds.

A browser cannot send a bearer token by itself, so the officer gives theirs once and gets a cookie that this process
alone knows; it ends with the process, after some hours, or when the token is revoked.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import FastAPI, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from seriatim_gate.usecases.request_book import RequestBook
from seriatim_gate.web.access import WATCHERS
from seriatim_gate.web.service import Service

COOKIE = "seriatim_officer"
HOURS = 8
AGAIN = "15"
"""Seconds until the page is drawn again."""
_LOGIN = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Record gate</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:12vh auto;padding:0 1rem}
input,button{font:inherit;padding:.5rem;width:100%;box-sizing:border-box;margin:.3rem 0}</style></head>
<body><h1>Record gate</h1><form method="post" action="/officer">
<label for="token">Token of an officer or auditor</label>
<input id="token" name="token" type="password" autocomplete="off" required><button>Open</button></form>
<p role="alert">{said}</p></body></html>"""
_DRAWN_BY = "seriatim_gate.usecases.officer_view"
"""Loaded at the first look, by another thread than the one that answers: a start does not wait for it."""
_ALLOWED = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
_POLICY = {"Content-Security-Policy": _ALLOWED}


Drawn = Annotated[int, Query(ge=0, le=1000)]


@dataclass
class Sessions:
    """Cookies and the tokens behind them."""

    service: Service
    _until: dict[str, tuple[str, float]] = field(default_factory=dict)

    def open_session(self, secret: str) -> str | None:
        """Return a new cookie for an officer's or auditor's token; None for any other."""
        if not self._may(secret):
            return None
        self._until = {key: kept for key, kept in self._until.items() if kept[1] > time.monotonic()}
        cookie = secrets.token_urlsafe(32)
        self._until[cookie] = (secret, time.monotonic() + HOURS * 3600)
        return cookie

    def is_open(self, cookie: str | None) -> bool:
        secret, until = self._until.get(cookie or "", ("", 0.0))
        return until > time.monotonic() and self._may(secret)

    def _may(self, secret: str) -> bool:
        token = self.service.access.token_named(secret)
        return token is not None and token.role in WATCHERS and self.service.access.within_rate(token)


def add_routes(app: FastAPI, service: Service) -> None:
    """Add the page and its door."""
    sessions = Sessions(service)

    @app.get("/officer", include_in_schema=False)
    async def show_page(request: Request, targets: Drawn = 0) -> Response:
        if not sessions.is_open(request.cookies.get(COOKIE)):
            return HTMLResponse(_LOGIN.replace("{said}", ""), headers=_POLICY)
        await asyncio.to_thread(import_module, _DRAWN_BY)
        from seriatim.report.html import rendered_file
        from seriatim_gate.usecases.officer_view import OfficerView, drawn_page, officer_view

        def copied(book: RequestBook) -> OfficerView:
            baseline, question, _ = service.rules(book.baseline)
            return officer_view(
                book, service.settings.gate, baseline.version, time.time_ns() // 1_000_000, service.settings.expire,
                baseline.names, baseline.advice(question.tests),
            )  # fmt: skip

        view = await service.look(copied)
        if targets:
            view = replace(view, charted=targets)
        html = await asyncio.to_thread(lambda: rendered_file(drawn_page(view)))
        return HTMLResponse(html, headers={"Refresh": AGAIN})

    @app.post("/officer", include_in_schema=False)
    async def open_page(request: Request) -> Response:
        told = parse_qs((await request.body()).decode("utf-8", "replace")).get("token", [""])
        cookie = sessions.open_session(told[0])
        if cookie is None:
            said = "Not the token of an officer or auditor."
            return HTMLResponse(_LOGIN.replace("{said}", said), 401, headers=_POLICY)
        answer = RedirectResponse("/officer", 303)
        secure = request.url.scheme == "https"
        answer.set_cookie(
            COOKIE, cookie, HOURS * 3600, path="/officer", secure=secure, httponly=True, samesite="strict"
        )
        return answer
