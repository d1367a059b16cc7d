"""What runs before every route: how a request must be framed, counts, and one line of log without any value."""

from __future__ import annotations

import json
import logging
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("seriatim.gate")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
)
_ONCE = frozenset({b"host", b"authorization", b"idempotency-key", b"content-type"})
_FRAMING = "a Host header, none of these twice that the service reads, and no transfer coding but chunked"
_TOO_LARGE = "the body is too large"


class _Refused(Exception):  # noqa: N818
    def __init__(self, status: int, detail: str) -> None:
        self.status, self.detail = status, detail


class Guard:
    """An ASGI application around another."""

    def __init__(
        self,
        app: ASGIApp,
        counters: Counters,
        largest: int,
        headers: Sequence[tuple[bytes, bytes]] = HEADERS,
        heard: logging.Logger = log,
    ) -> None:
        self._app, self._counters, self._largest = app, counters, largest
        self._headers, self._log = headers, heard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, left = time.perf_counter(), 0, self._largest

        async def measured() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise _Refused(413, _TOO_LARGE)
            return message

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                told = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(one for one in self._headers if one[0] not in told)]
            await send(message)

        try:
            _check_framing(scope, self._largest)
            await self._app(scope, measured, noted)
        except _Refused as refused:
            if status == 0:
                await _refuse(noted, refused)
        except ClientDisconnect:  # there is nobody to answer
            pass
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route: Any = scope.get("route")
        path = getattr(route, "path", "other")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._counters.count_answer(method, path, status, seconds)
        token = scope.get("state", {}).get("token", 0)
        self._log.info("answered", extra={"method": method, "route": path, "status": status, "token": token})


def _check_framing(scope: Scope, largest: int) -> None:
    """Refuse what another server on the way may read as another request, and bodies that are announced too large."""
    names = [name for name, _ in scope["headers"]]
    for name, value in scope["headers"]:
        if name in _ONCE and names.count(name) > 1:
            raise _Refused(400, _FRAMING)
        if name == b"transfer-encoding" and value.strip().lower() != b"chunked":
            raise _Refused(400, _FRAMING)
        if name == b"content-length" and not (value.isdigit() and len(value) < 19 and int(value) <= largest):
            raise _Refused(413, _TOO_LARGE)
    if b"host" not in names and scope["http_version"] == "1.1":
        raise _Refused(400, _FRAMING)


async def _refuse(send: Send, refused: _Refused) -> None:
    body = json.dumps({"detail": refused.detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send(
        {"type": "http.response.start", "status": refused.status, "headers": [*headers, (b"connection", b"close")]}
    )
    await send({"type": "http.response.body", "body": body})


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
