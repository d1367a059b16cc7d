"""A desk in a process of its own, and one that is asked without a browser."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

HOST = "127.0.0.1:8900"
HOME = f"http://{HOST}"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


def ask(
    app: Any, method: str, path: str, cookie: str = "", form: Mapping[str, str] | None = None, **headers: str
) -> Answer:
    """Send one request to an application; headers are written with underscores."""
    body = urlencode(form or {}).encode()
    told = {"host": HOST, "cookie": cookie, **{name.replace("_", "-"): text for name, text in headers.items()}}
    if method == "POST":
        told = {"content-type": "application/x-www-form-urlencoded", "content-length": str(len(body)), **told}
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path.partition("?")[0], "raw_path": path.partition("?")[0].encode(), "root_path": "",
        "query_string": path.partition("?")[2].encode(), "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8900),
        "headers": [(name.encode(), text.encode()) for name, text in told.items() if text],
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    got = {name.decode().lower(): text.decode() for name, text in sent[0]["headers"]}
    return Answer(sent[0]["status"], got, b"".join(one.get("body", b"") for one in sent[1:]).decode())


def signed_in(app: Any, door: Any) -> str:
    """The cookie of somebody who used the address that works once."""
    answer = ask(app, "GET", door.path)
    assert answer.status == 200
    return answer.headers["set-cookie"].partition(";")[0]


def token_on(page: str) -> str:
    found = re.search(r'name="token" value="([0-9a-f]{64})"', page)
    assert found is not None
    return found[1]


@contextmanager
def served_desk(folder: Path, user: str, port: int = 0) -> Iterator[str]:
    """A desk over the ledger of a folder; yields the address that it prints. It is killed at the end."""
    log = folder / f"desk-{time.monotonic_ns()}.log"
    words = ["desk", "--ledger", "sqlite:///ledger.db", "--user", user, "--port", str(port)]
    with log.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-m", "seriatim", *words], cwd=folder, stdout=file, stderr=file)
    try:
        yield _printed(log, process)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(30)


def _printed(log: Path, process: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + 150
    while time.monotonic() < until and process.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:\d+/enter\?key=\S+", log.read_text()):
            return found[0]
        time.sleep(0.05)
    raise AssertionError(log.read_text())
