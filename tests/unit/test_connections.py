"""How much a caller of the gate's service may send, how long they may take, and who goes when places run out."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from seriatim.web import connections
from seriatim.web.connections import LARGEST_HEAD, MOST_AHEAD, PATIENCE, PIECE, READING, Connection, Connections

GET = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"


class Transport(asyncio.Transport):
    """Keeps what is written; nothing is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent, self.closing, self.aborted = b"", False, False

    def write(self, data: Any) -> None:
        self.sent += bytes(data)

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.closing = self.aborted = True

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    @property
    def status(self) -> int:
        return int(self.sent[9:12]) if self.sent else 0


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answer; a path with 'token' had a valid one, one with 'wait' waits for its body."""
    if "token" in scope["path"]:
        scope["state"]["token"] = 1
    if "wait" in scope["path"]:
        while (await receive()).get("more_body"):
            pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


class House:
    """Bounds, a loop whose clock stands still until it is moved, and what makes connections."""

    def __init__(self, most: int = 3) -> None:
        self.loop, self.now = asyncio.new_event_loop(), 0.0
        self.loop.time = lambda: self.now  # type: ignore[method-assign]
        self.bounds = Connections(largest_body=16_384, most=most)
        self.config = uvicorn.Config(app, log_config=None, lifespan="off")
        self.config.load()

    def caller(self, data: bytes = b"") -> tuple[Connection, Transport]:
        made, transport = self.make(), Transport()
        made.connection_made(transport)
        self.send(made, data)
        return made, transport

    def make(self) -> Connection:
        return Connection(self.bounds, config=self.config, server_state=ServerState(), app_state={}, _loop=self.loop)

    def send(self, one: Connection, data: bytes) -> None:
        if data:
            one.data_received(data)
        self.loop.run_until_complete(_turns())

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.bounds.end_late(self.now)


async def _turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
def house() -> Iterator[House]:
    made = House()
    yield made
    for one in (*made.bounds.strangers, *made.bounds.known):
        one.connection_lost(None)
    made.loop.run_until_complete(_turns())
    made.loop.close()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (GET, 200),
        (b"GET / HTTP/1.1\r\nHost: a\r\nx: " + b"a" * 1_000_000, 431),
        (b"GET /" + b"a" * 1_000_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 120 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nx: " + b"a" * 15_000 + b"\r\n\r\n", 200),
        (b"POST /wait HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1000\r\n" + b"a" * 4_096 + b"\r\n", 0),
        (b"POST /wait HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1;" + b"a" * 1_000_000, 413),
        (b"POST /wait HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n" + b"a" * 1_000_000, 413),
        (b"POST /wait HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"a:\r\n" * 120, 431),
    ],
)
def test_what_is_sent_is_counted(house: House, sent: bytes, status: int) -> None:
    _, transport = house.caller(sent)
    assert transport.status == status
    assert transport.closing == (status >= 400)


def test_no_more_is_parsed_than_the_bound_and_a_piece(house: House) -> None:
    """The parser joins what it is fed in quadratic time; megabytes of one header held everybody up."""
    fed: list[int] = []
    one, transport = house.caller()
    parser = one.parser

    class Counted:
        def feed_data(self, data: bytes) -> None:
            fed.append(len(data))
            parser.feed_data(data)

        def __getattr__(self, name: str) -> Any:
            return getattr(parser, name)

    one.parser = Counted()  # type: ignore[assignment]
    for _ in range(100):
        one.data_received(b"GET / HTTP/1.1\r\nx: " + b"a" * 65_536)
    assert transport.status == 431
    assert sum(fed) <= LARGEST_HEAD + PIECE


def test_a_body_that_is_refused_ends_its_request_without_an_error(house: House, caplog) -> None:
    one, transport = house.caller(b"POST /wait HTTP/1.1\r\nContent-Length: 9999999\r\n\r\na")
    house.send(one, b"a" * 1_000_000)
    assert transport.sent.count(b"HTTP/1.1") == 1
    assert transport.status == 413


def test_requests_that_come_together_are_all_answered(house: House) -> None:
    one, transport = house.caller(GET * (MOST_AHEAD + 1))
    for _ in range(MOST_AHEAD):
        house.send(one, b"")
    assert transport.sent.count(b"200 OK") == MOST_AHEAD + 1
    assert not transport.closing
    one.data_received(GET * 5_000)
    assert len(one.pipeline) == MOST_AHEAD
    assert transport.closing


@pytest.mark.parametrize(
    "begun", [b"", b"GET /", b"GET / HTTP/1.1\r\nx: a", b"POST /wait HTTP/1.1\r\nContent-Length: 99\r\n\r\na"]
)
def test_a_request_that_does_not_arrive_in_time_is_ended(house: House, begun: bytes) -> None:
    one, transport = house.caller(begun)
    for _ in range(9):
        house.wait(PATIENCE / 10)
        house.send(one, begun and b"a")
    assert not transport.closing
    house.wait(PATIENCE / 10)
    assert (transport.status, transport.closing) == (408, True)
    house.wait(PATIENCE)
    assert transport.aborted, "who does not take the answer is cut off"


def test_between_requests_nobody_is_hurried(house: House) -> None:
    one, transport = house.caller(GET)
    house.wait(PATIENCE * 5)
    house.send(one, GET)
    assert transport.sent.count(b"200 OK") == 2
    house.send(one, b"\r\n")
    house.wait(PATIENCE)
    assert transport.closing


def test_who_does_not_read_is_cut_off(house: House) -> None:
    one, transport = house.caller(GET)
    one.pause_writing()
    house.wait(PATIENCE)
    assert not transport.closing
    one.resume_writing()
    assert one.until == math.inf
    one.pause_writing()
    house.wait(READING)
    assert transport.closing
    house.wait(PATIENCE)
    assert transport.aborted


def test_a_newcomer_takes_the_place_of_the_one_without_a_token_who_was_quiet_longest(house: House) -> None:
    known, first, second = (house.caller(data) for data in (b"GET /token HTTP/1.1\r\n\r\n", b"GET", GET))
    house.send(first[0], b" / HTTP/1.1\r\n\r\n")
    for _ in range(2):
        assert house.caller(b"GET ")[1].sent == b""
    assert [one[1].aborted for one in (known, first, second)] == [False, True, True]
    assert [house.caller(GET)[1].status for _ in range(4)] == [200] * 4
    assert not known[1].aborted
    house.bounds.most = 1
    assert [house.caller(b"GET /token HTTP/1.1\r\n\r\n")[1].status for _ in range(2)] == [200] * 2


def test_nobody_who_is_owed_an_answer_goes(house: House) -> None:
    waiting = []
    for _ in range(3):
        one, transport = house.make(), Transport()
        one.connection_made(transport)
        one.data_received(GET)  # arrived, and not answered yet
        waiting.append((one, transport))
    assert house.caller(GET)[1].status == 503
    for one, transport in waiting:
        house.send(one, b"")
        assert transport.status == 200
    assert house.caller(GET)[1].status == 200


def test_files_are_left_to_the_journal(monkeypatch) -> None:
    resource = pytest.importorskip("resource")
    for files, most in ((256, 192), (100, 50), (1 << 20, 1_000), (resource.RLIM_INFINITY, 1_000)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert connections.most_open() == most
