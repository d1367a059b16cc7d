"""500 kills in the middle of publishing, importing, erasing, delivering and recalling, on both databases.

After each kill nothing that a call returned is lost, nothing is there twice, and ``ledger resume`` alone finishes what
was left: no repair by hand.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.timing import keep, row

SHARES = {"publish, SQLite": 100, "all commands, SQLite": 200, "all commands, PostgreSQL": 200}
WORKERS = 2
TESTS = Path(__file__).parents[1] / "tests"


@dataclass(frozen=True)
class Life:
    """A run of kills on ledgers of its own."""

    name: str
    kills: int
    command: list[str]


def run(options: list[str]) -> None:
    part = 10 if "--quick" in options else 1
    with tempfile.TemporaryDirectory() as name, _server(Path(name)) as url, ThreadPoolExecutor(WORKERS) as pool:
        lives = list(_lives(Path(name), part, url))
        done = list(pool.map(_killed, lives))
    rows = []
    for case in dict.fromkeys(life.name for life in lives):
        own = [(life.kills, made) for life, made in zip(lives, done, strict=True) if life.name == case]
        kills, survived = sum(n for n, _ in own), sum(n for n, made in own if made)
        made = sum((made for _, made in own), Counter[str]())
        calls = ", ".join(f"{count} {kind}" for kind, count in sorted(made.items()))
        rows.append(row(f"kills survived of {kills}, {case} ({calls})", survived, kills, "", True))
    keep("faults", rows)


def _lives(folder: Path, part: int, url: str | None) -> Iterator[Life]:
    for at, (name, kills) in enumerate(SHARES.items()):
        for half in range(2):
            home = folder / f"{at}-{half}"
            home.mkdir()
            n, seed = str(kills // part // 2), str(11 + 10 * at + half)
            if name.startswith("publish"):
                yield Life(name, int(n), ["support.killed_publishers", str(home), n, seed])
                continue
            address = f"sqlite:///{home}/ledger.db" if "SQLite" in name else url and url.format(half)
            if address:
                command = ["support.killed_stewards", address, str(home / "shelf"), str(home / "lives"), n, seed]
                yield Life(name, int(n), command)


@contextmanager
def _server(folder: Path) -> Iterator[str | None]:
    """Start a PostgreSQL server of our own; None where there is none."""
    sys.path.insert(0, str(TESTS))
    tests: Any = import_module("conftest")
    programs = tests._programs()
    if programs is None:
        print("no PostgreSQL on this machine: ./dev system installs it")
        yield None
        return
    folder.chmod(0o755)  # the server's user must pass through
    (folder / "postgres").mkdir()
    cluster = tests.Cluster(programs, folder / "postgres")
    cluster.start()
    try:
        for half in range(2):
            cluster.execute(f"CREATE DATABASE faults_{half}")
        yield f"postgresql://postgres@/faults_{{}}?host={cluster.folder}"
    finally:
        cluster.stop()


def _killed(life: Life) -> Counter[str]:
    """Return what a run of kills left behind; nothing when a ledger did not stand."""
    command = [sys.executable, "-m", *life.command]
    done = subprocess.run(command, capture_output=True, text=True, cwd=TESTS, check=False)
    if done.returncode:
        print(done.stderr)
        return Counter()
    told = json.loads(done.stdout)
    return Counter(told) if isinstance(told, dict) else Counter(releases=told)
