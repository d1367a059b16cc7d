"""A small HTTP client for loads: keeps its connection, speaks to a gate's service, counts nothing by itself."""

from __future__ import annotations

import asyncio
import json
from typing import Any


class GateClient:
    """One connection to a service on this machine."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: bytes, key: str) -> tuple[int, bytes]:
        return await self._send(
            f"POST {path} HTTP/1.1\r\nHost: gate\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nIdempotency-Key: {key}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )

    async def get(self, path: str) -> tuple[int, Any]:
        status, body = await self._send(
            f"GET {path} HTTP/1.1\r\nHost: gate\r\nAuthorization: Bearer {self._token}\r\n\r\n".encode()
        )
        return status, json.loads(body)

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None

    async def _send(self, head: bytes) -> tuple[int, bytes]:
        if self._writer is None or self._reader is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writer.write(head)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        at = answer.lower().index(b"content-length:") + 15
        length = int(answer[at : answer.index(b"\r\n", at)])
        return int(answer[9:12]), await self._reader.readexactly(length)
