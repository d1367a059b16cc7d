"""A gate's service as its own process, and a plain client for it."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.command_nursery import ForkedProcess, nursery
from support.gates import GATE, stored

from seriatim_gate.journal.sql_journal import SqlJournal, open_journal


def served_journal(url: str | Path, versions: int = 1) -> SqlJournal:
    """A journal with a replay stored, as serving demands."""
    journal = open_journal(url, create=True)
    for number in range(1, versions + 1):
        one = stored(number)
        report = json.dumps({"schema": "seriatim.gate.replay/1", "baseline": one.version})
        journal.add_baseline(GATE, one.version, one.content, one.rules, report)
    return journal


@dataclass
class Running:
    """A service that was started, and how to talk to it."""

    process: subprocess.Popen[bytes] | ForkedProcess
    port: int
    log: Path
    tokens: dict[str, str] = field(default_factory=dict)

    def send(
        self, method: str, path: str, token: str | None = None, body: Any = None, key: str | None = None,
        raw: bytes | None = None,
    ) -> tuple[int, Any]:  # fmt: skip
        """Send one request on a connection of its own; return status and answer."""
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {self.tokens.get(token, token)}"
        if key is not None:
            headers["Idempotency-Key"] = key
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, raw if raw is not None else json.dumps(body) if body else None, headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text.decode()

    def ready(self, patience: float = 150.0) -> bool:
        until = time.monotonic() + patience
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if self.send("GET", "/readyz")[0] == 200:
                    return True
            except OSError:
                pass
            time.sleep(0.02)
        return False

    def kill(self, how: int = signal.SIGKILL) -> int:
        self.process.send_signal(how)
        return self.process.wait(30)


def free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def start_service(
    url: str, folder: Path, *options: str, wait: bool = True, apart: bool = False, largest_file: int | None = None
) -> Running:
    """Serve a gate: in a child of the nursery, or ``apart`` as a user has it, with a start of its own."""
    port = free_port()
    log = folder / f"service-{port}.log"
    command = [
        "gate", "serve", "--journal", url, "--gate", GATE, "--port", str(port),
        "--rate", "100000", *([] if "--expire-days" in options else ["--expire-days", "30"]), *options,
    ]  # fmt: skip
    process: subprocess.Popen[bytes] | ForkedProcess
    with log.open("wb") as out:
        if apart:
            process = subprocess.Popen([sys.executable, "-m", "seriatim", *command], stdout=out, stderr=out)
        else:
            process = nursery().fork_command(command, Path(), out.fileno(), out.fileno(), largest_file, width=200)
    running = Running(process, port, log)
    if wait and not running.ready():
        running.kill()
        raise AssertionError(log.read_text())
    return running


@contextmanager
def serving(url: str, folder: Path, *options: str, roles: dict[str, str] | None = None) -> Iterator[Running]:
    """Serve a gate with a token per role."""
    book = open_journal(url).token_book
    tokens = {name: book.make_token(GATE, role)[1] for name, role in (roles or ROLES).items()}
    running = start_service(url, folder, *options)
    running.tokens = tokens
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait(30)


def until(true: Callable[[], object], patience: float = 30.0) -> None:
    """Wait until something is true."""
    end = time.monotonic() + patience
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


ROLES = {"requester": "requester", "officer": "officer", "auditor": "auditor"}
