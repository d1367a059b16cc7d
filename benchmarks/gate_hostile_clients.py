"""Callers of a gate's service who mean harm, as a process of their own: endless, slow, huge and many.

python -m benchmarks.gate_hostile_clients PORT KIND
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import sys
from collections.abc import Awaitable, Callable

HEAD = b"POST /v1/requests HTTP/1.1\r\nHost: gate\r\n"
Send = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def header_lines(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One header line without end."""
    await _endless(writer, HEAD + b"x: ", b"a" * 65_536)


async def short_headers(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _endless(writer, HEAD, b"a: b\r\n" * 10_000)


async def bodies(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Bodies of 100 MB, announced and in chunks by turns."""
    how = next(_turn) % 2
    head = HEAD + (b"Content-Length: 100000000\r\n\r\n" if how else b"Transfer-Encoding: chunked\r\n\r\n")
    await _endless(writer, head, b"a" * 65_536 if how else b"10000\r\n" + b"a" * 65_536 + b"\r\n")


async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A byte of a header each second."""
    writer.write(HEAD + b"x: ")
    while not reader.at_eof():
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(1.0)


async def idle(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Nothing at all, for as long as the connection is left."""
    await reader.read()


CALLERS: dict[str, tuple[Send, int]] = {
    "endless header lines": (header_lines, 8),
    "endless short headers": (short_headers, 8),
    "huge bodies": (bodies, 8),
    "slow callers": (slow, 200),
    "1,000 connections": (idle, 1_000),
}
_turn = itertools.count()


async def _endless(writer: asyncio.StreamWriter, head: bytes, more: bytes) -> None:
    writer.write(head)
    while True:
        writer.write(more)
        await writer.drain()


async def _call_on(port: int, send: Send) -> None:
    """Call again as soon as the service has hung up."""
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            with contextlib.suppress(OSError):
                await send(reader, writer)
            writer.transport.abort()
        await asyncio.sleep(0.05)


async def main(port: int, kind: str) -> None:
    send, n = CALLERS[kind]
    await asyncio.gather(*(_call_on(port, send) for _ in range(n)))


if __name__ == "__main__":
    os.nice(10)  # they share the processors of the service here, which real ones do not
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
