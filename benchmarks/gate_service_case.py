"""Durable decisions per second of the gate's service, against the same route without a decision, in turns.

64 clients keep one request each under way; SQLite and PostgreSQL, both with fsync. Then the time from the start of a
process to its first answer, with a million entries in the journal.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.gate_faults import TESTS, gate_server
from benchmarks.timing import keep, row

CLIENTS, TURNS = 64, 4
_numbers = count()


def run(options: list[str]) -> None:
    quick = "--quick" in options
    sys.path.insert(0, str(TESTS))
    rows = []
    with tempfile.TemporaryDirectory() as folder, gate_server(Path(folder)) as server:
        urls = {"SQLite": f"sqlite:///{folder}/journal.db"} | ({"PostgreSQL": server} if server else {})
        for name, url in urls.items():
            rows += _load(name, url, 2.0 if quick else 5.0)
        rows += _restart(f"sqlite:///{folder}/long.db", 100_000 if quick else 1_000_000)
    keep("gate-service", rows)


def _load(name: str, url: str, seconds: float) -> list[dict[str, Any]]:
    from support.gate_services import free_port, served_journal

    journal = served_journal(url)
    token = journal.token_book.make_token("soldiers", "requester")[1]
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.gate_service_server", url, str(port)]
    with subprocess.Popen(command, cwd=TESTS.parent) as server:
        try:
            found = asyncio.run(_turns(port, token, seconds))
        finally:
            server.terminate()
    decided, parsed = (statistics.median(found[path][0]) for path in ("requests", "parsed"))
    p99 = statistics.median(found["requests"][1])
    return [
        row(
            f"{name}: durable decisions / the same route without a decision",
            decided / parsed,
            0.6,
            "x",
            True,
        ),
        row(f"{name}: durable decisions per second, 64 clients", decided, None, "/s"),
        row(f"{name}: slowest hundredth of the answers", p99, 50, "ms"),
    ]


async def _turns(port: int, token: str, seconds: float) -> dict[str, tuple[list[float], list[float]]]:
    from support.gate_clients import GateClient

    clients = [GateClient(port, token) for _ in range(CLIENTS)]
    await _until_ready(clients[0])
    found: dict[str, tuple[list[float], list[float]]] = {"requests": ([], []), "parsed": ([], [])}
    for turn in range(TURNS + 1):
        for path, (rates, slow) in found.items():
            times: list[float] = []
            end = time.perf_counter() + (seconds if turn else 1.0)
            began = time.perf_counter()
            await asyncio.gather(*(_ask_on(client, path, end, times) for client in clients))
            if turn:
                rates.append(len(times) / (time.perf_counter() - began))
                slow.append(sorted(times)[int(0.99 * len(times))] * 1_000)
    return found


async def _ask_on(client: Any, path: str, end: float, times: list[float]) -> None:
    from seriatim_papers.safe_release_counts import AGES, LOCATIONS

    while (began := time.perf_counter()) < end:
        number = next(_numbers)
        body = {"respondent": f"p{number}", "x": [AGES[2 + number % 4]], "y": LOCATIONS[number % 5]}
        status, _ = await client.post(f"/v1/{path}", json.dumps(body).encode(), f"k{number}")
        assert status == 202, status
        times.append(time.perf_counter() - began)


async def _until_ready(client: Any) -> None:
    for _ in range(600):
        try:
            if (await client.get("/readyz"))[0] == 200:
                return
        except OSError:
            await client.close()
        await asyncio.sleep(0.1)
    raise AssertionError("the service did not start")


def _restart(url: str, n: int) -> list[dict[str, Any]]:
    from support.gate_services import served_journal, start_service
    from support.gates import AT, GATE, ask, drawn, rules

    from seriatim_gate.usecases.request_book import RequestBook

    journal = served_journal(url)
    (xs, ys), book, writer = drawn(n, 3), RequestBook(rules), journal.writer(GATE)
    for first in range(0, n, 5_000):
        writer.append(book.ask([ask(i, xs[i], ys[i]) for i in range(first, min(n, first + 5_000))], AT)[1])
    writer.close()
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(4):
            began = time.perf_counter()
            running = start_service(url, Path(folder), apart=True)
            seconds.append(time.perf_counter() - began)
            running.kill()
    return [row(f"start of the service with {n:,} entries, until it is ready", min(seconds[1:]), 2, "s")]
