"""A gate's service under hostile callers: how long honest ones wait beside quiet, its memory, and revoked tokens.

Quiet and hostile turns alternate, as the machine may have other work; the figure is the median of the ratios.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.gate_hostile_clients import CALLERS
from benchmarks.timing import keep, row

HONEST, TURNS, PAUSE = 8, 5, 0.02
TESTS = Path(__file__).parents[1] / "tests"
_numbers = count()


def run(options: list[str]) -> None:
    sys.path.insert(0, str(TESTS))
    from support.gate_services import served_journal, serving

    seconds = 1.0 if "--quick" in options else 4.0
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/journal.db"
        journal = served_journal(url)
        with serving(url, Path(folder)) as running:
            asyncio.run(_honest(running.port, running.tokens["requester"], 2.0))
            before = _megabytes(running.process.pid)
            for kind in CALLERS:
                ratios, late = [], 0.0
                for _ in range(TURNS):
                    quiet = asyncio.run(_honest(running.port, running.tokens["requester"], seconds))
                    with _hostile(running.port, kind):
                        time.sleep(1.0)
                        disturbed = asyncio.run(_honest(running.port, running.tokens["requester"], seconds))
                        late = max(late, _until_refused(running, journal.token_book))
                    ratios.append(disturbed / quiet)
                rows += [
                    row(f"{kind}: slowest hundredth of honest answers, beside quiet", statistics.median(ratios), 2),
                    row(f"{kind}: a revoked token is refused after", late, 2, "s"),
                ]
            grown = _megabytes(running.process.pid, "VmHWM") - before
    keep("gate-hostile", [*rows, row("memory beside quiet, at its most", grown, 50, "MB")])


@contextmanager
def _hostile(port: int, kind: str) -> Iterator[None]:
    command = [sys.executable, "-m", "benchmarks.gate_hostile_clients", str(port), kind]
    with subprocess.Popen(command, cwd=TESTS.parent) as callers:
        try:
            yield
        finally:
            callers.kill()


async def _honest(port: int, token: str, seconds: float) -> float:
    """Return the slowest hundredth of what honest callers waited, each on a connection of their own."""
    from support.gate_clients import GateClient

    times: list[float] = []
    end = time.perf_counter() + seconds
    clients = [GateClient(port, token) for _ in range(HONEST)]
    await asyncio.gather(*(_ask_on(client, end, times) for client in clients))
    return sorted(times)[int(0.99 * len(times))]


async def _ask_on(client: Any, end: float, times: list[float]) -> None:
    from seriatim_papers.safe_release_counts import AGES, LOCATIONS

    while (began := time.perf_counter()) < end:
        number = next(_numbers)
        body = {"respondent": f"p{number}", "x": [AGES[2 + number % 4]], "y": LOCATIONS[number % 5]}
        status, _ = await client.post("/v1/requests", json.dumps(body).encode(), f"h{number}")
        assert status == 202, status
        times.append(time.perf_counter() - began)
        await asyncio.sleep(PAUSE)
    await client.close()


def _until_refused(running: Any, book: Any) -> float:
    """Return how long a token is good for once it was revoked."""
    made, token = book.make_token("soldiers", "auditor")
    while running.send("GET", "/v1/released", token)[0] == 401:
        time.sleep(0.02)
    book.revoke_token("soldiers", made.number)
    began = time.perf_counter()
    while running.send("GET", "/v1/released", token)[0] != 401:
        assert time.perf_counter() - began < 60
        time.sleep(0.02)
    return time.perf_counter() - began


def _megabytes(process: int, figure: str = "VmRSS") -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(figure)) / 1024
