"""What runs before every route: a limit on the size of a body, counts, and one line of log without any value."""

from __future__ import annotations

import logging
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seriatim.web.counters import Counters

log = logging.getLogger("seriatim.gate")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


class _TooLarge(Exception):  # noqa: N818
    pass


class Guard:
    """An ASGI application around another."""

    def __init__(self, app: ASGIApp, counters: Counters, largest: int) -> None:
        self._app, self._counters, self._largest = app, counters, largest

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
                raise _TooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        try:
            if _announced(scope) > self._largest:
                raise _TooLarge
            await self._app(scope, measured, noted)
        except _TooLarge:
            if status == 0:
                await _refuse(noted)
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route: Any = scope.get("route")
        path = getattr(route, "path", "other")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._counters.count_answer(method, path, status, seconds)
        token = scope.get("state", {}).get("token", 0)
        log.info("answered", extra={"method": method, "route": path, "status": status, "token": token})


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() and len(value) < 19 else 1 << 62
    return 0


async def _refuse(send: Send) -> None:
    body = b'{"detail":"the body is too large"}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})
