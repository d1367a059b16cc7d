"""Connections of the service: how much a caller may send, how long they may take, and how many there may be.

The parser keeps what it is fed until a header ends, and joins it again with each piece. So bytes are counted before it.
Where all places are taken, a newcomer gets that of the caller who has gone longest without a valid token: whoever sends
a whole request in time is answered, however many connections others keep open.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import KW_ONLY, dataclass, field
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 16_384
"""Bytes of a request's first line and headers; they may exceed it by one piece."""
MOST_HEADERS = 100
MOST_AHEAD = 32
"""Requests that may be sent before the first of them is answered."""
PIECE = 8_192
"""Bytes that the parser is fed at once."""
PATIENCE = 10.0
"""Seconds in which a request must arrive."""
READING = 60.0
"""Seconds in which a caller must take what waits to be sent to them."""
MOST = 1_000
RESERVE = 64
"""Files that connections leave to the journal."""


@dataclass
class Connections:
    """All connections of one service, those first that may go first."""

    largest_body: int
    most: int = MOST
    patience: float = PATIENCE
    _: KW_ONLY
    strangers: dict[Connection, None] = field(default_factory=dict)
    """Those that have not shown a valid token."""
    known: dict[Connection, None] = field(default_factory=dict)
    _sweeping: bool = False

    @property
    def largest_request(self) -> int:
        """Return the bytes of a whole request, with what chunks of a body come wrapped in."""
        return LARGEST_HEAD + 4 * self.largest_body

    def enter(self, one: Connection) -> bool:
        """Note a new connection; return False where nobody can make room for it."""
        if len(self.strangers) + len(self.known) >= self.most:
            # strangers make room first, and nobody whose answer is still to come
            oldest = next((each for group in (self.strangers, self.known) for each in group if not each.is_owed), None)
            if oldest is None:
                return False
            self.leave(oldest)
            oldest.transport.abort()
        self.strangers[one] = None
        if not self._sweeping:
            self._sweeping = True
            one.loop.call_later(1.0, self._sweep, one.loop)
        return True

    def leave(self, one: Connection) -> None:
        self.strangers.pop(one, None)
        self.known.pop(one, None)

    def note_answered(self, one: Connection, has_token: bool) -> None:
        """Put a connection behind all others of its kind."""
        if one in self.strangers or one in self.known:
            self.leave(one)
            (self.known if has_token else self.strangers)[one] = None

    def end_late(self, now: float) -> None:
        """Close every connection whose time is up."""
        for one in (*self.strangers, *self.known):
            if now >= one.until:
                one.end(now)
            elif one.until == math.inf and one.transport.is_closing():
                one.until = now + self.patience

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self.end_late(loop.time())
        self._sweeping = bool(self.strangers or self.known)
        if self._sweeping:
            loop.call_later(1.0, self._sweep, loop)


class Connection(HttpToolsProtocol):
    """One connection, which counts what it is sent."""

    def __init__(self, bounds: Connections, **served: Any) -> None:
        super().__init__(**served)
        self._bounds = bounds
        self.until = math.inf
        """When the caller's time is up; infinite while it is the service's turn, or nobody's."""
        self._taken, self._in_head, self._between, self._too_many = 0, True, False, False

    @property
    def is_owed(self) -> bool:
        """Return whether a request arrived whole, is not answered, and the caller takes what is sent to them."""
        return not self.flow.write_paused and (bool(self.pipeline) or (self._in_head and self._is_answering))

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.until = self.loop.time() + self._bounds.patience
        if not self._bounds.enter(self):
            self._refuse(503)

    def connection_lost(self, exc: Exception | None) -> None:
        self._bounds.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._between:
            self._between, self.until = False, self.loop.time() + self._bounds.patience
        # in pieces, so that a bound is noticed within one and not after a megabyte was parsed
        for start in range(0, len(data), PIECE):
            if self.transport.is_closing():
                return
            piece = data[start : start + PIECE]
            super().data_received(piece)
            if self._between:
                continue
            self._taken += len(piece)
            if self._too_many or (self._in_head and self._taken > LARGEST_HEAD):
                self._refuse(431)
            elif self._taken > self._bounds.largest_request:
                self._refuse(413)

    def on_message_begin(self) -> None:
        self._taken, self._in_head = 0, True
        if self._between:  # one of several requests that came together
            self._between, self.until = False, self.loop.time() + self._bounds.patience
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) < MOST_HEADERS:
            super().on_header(name, value)
        else:
            self._too_many = True

    def on_headers_complete(self) -> None:
        self._too_many |= len(self.pipeline) >= MOST_AHEAD
        if not self._too_many:
            self._in_head = False
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._too_many:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._too_many:
            # the caller's turn is over: the clock stands until the next request begins
            self._taken, self._in_head, self._between, self.until = 0, True, True, math.inf
            super().on_message_complete()

    def on_response_complete(self) -> None:
        self._bounds.note_answered(self, bool(self.cycle.scope["state"].get("token")))
        super().on_response_complete()

    def pause_writing(self) -> None:
        self.until = self.loop.time() + READING
        super().pause_writing()

    def resume_writing(self) -> None:
        self.until = math.inf if self._between else self.loop.time() + self._bounds.patience
        super().resume_writing()

    def end(self, now: float) -> None:
        """End it because the caller took too long."""
        if self.transport.is_closing():
            self.transport.abort()
        else:
            self.until = now + self._bounds.patience
            self._refuse(408)

    def _refuse(self, status: int) -> None:
        """Say why and close; only close where an earlier answer is still to come, or this one has begun."""
        own = None if self._in_head else self.cycle
        if not self.pipeline and not (self._is_answering if own is None else own.response_started):
            reason = HTTPStatus(status).phrase
            body = f'{{"detail":"{reason.lower()}"}}'
            self.transport.write(
                f"HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
                f"connection: close\r\n\r\n{body}".encode()
            )
        if own is not None:
            # a route that still reads the body must not wait for the rest
            own.disconnected = True
            own.message_event.set()
        self.transport.close()


def most_open() -> int:
    """Return how many connections the limit on open files allows."""
    try:
        import resource
    except ImportError:  # there is no such limit
        return MOST
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else min(MOST, max(files - RESERVE, files // 2))


__all__ = ["Connection", "Connections", "most_open"]
