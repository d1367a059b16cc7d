"""What runs before every route: how a request must be framed, and one line of log without any value."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ONCE = frozenset({b"host", b"authorization", b"idempotency-key", b"content-type"})
_FRAMING = "a Host header, none of these twice that the service reads, and no transfer coding but chunked"
_TOO_LARGE = "the body is too large"


class _Refused(Exception):  # noqa: N818
    def __init__(self, status: int, detail: str) -> None:
        self.status, self.detail = status, detail


class Guard:
    """An ASGI application around another; ``counted`` is told method, route, status and seconds of each answer."""

    def __init__(
        self,
        app: ASGIApp,
        largest: int,
        headers: Sequence[tuple[bytes, bytes]],
        heard: logging.Logger,
        counted: Callable[[str, str, int, float], None] | None = None,
    ) -> None:
        self._app, self._largest = app, largest
        self._headers, self._log, self._counted = headers, heard, counted

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
        if self._counted is not None:
            self._counted(method, path, status, seconds)
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
