"""1,000 kills amid publishing, signing off, importing, erasing, delivering, recalling and resuming, on both databases.

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

from benchmarks.timing import chosen_piece, keep, kept_pieces, row

SHARES = {"publish and sign off, SQLite": 200, "all commands, SQLite": 400, "all commands, PostgreSQL": 400}
PER_LIFE = 25
WORKERS = 2
TESTS = Path(__file__).parents[1] / "tests"


@dataclass(frozen=True)
class Life:
    """A run of kills on a ledger of its own."""

    name: str
    kills: int
    command: list[str]


def run(options: list[str]) -> None:
    """Run all lives, or some of them (``--piece=0:4``), and keep what each found."""
    part = 10 if "--quick" in options else 1
    with tempfile.TemporaryDirectory() as name, _server(Path(name)) as url, ThreadPoolExecutor(WORKERS) as pool:
        lives = _lives(Path(name), part, url)
        chosen = list(chosen_piece(options, len(lives)))
        done = list(pool.map(_killed, (lives[at] for at in chosen)))
    in_pieces = any(word.startswith("--piece=") for word in options)
    pieces = kept_pieces("faults") if in_pieces else {}
    for at, made in zip(chosen, done, strict=True):
        pieces[f"{at:02}"] = {"case": lives[at].name, "kills": lives[at].kills, "survived": bool(made), "made": made}
    keep("faults", _rows(pieces), dict(sorted(pieces.items())))


def _rows(pieces: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for case in SHARES:
        own = [piece for piece in pieces.values() if piece["case"] == case]
        kills, survived = sum(one["kills"] for one in own), sum(one["kills"] for one in own if one["survived"])
        made = sum((Counter(one["made"]) for one in own), Counter[str]())
        calls = ", ".join(f"{count:,} {kind}" for kind, count in sorted(made.items()))
        if own:
            rows.append(row(f"kills survived of {kills}, {case} ({calls})", survived, kills, "", True))
    return rows


def _lives(folder: Path, part: int, url: str | None) -> list[Life]:
    """Return the lives of all shares, 25 kills each; those on PostgreSQL only where there is a server."""
    found = []
    for name, kills in SHARES.items():
        for _ in range(0, kills, PER_LIFE):
            at = len(found)
            home = folder / f"life-{at}"
            home.mkdir()
            n, seed = str(PER_LIFE // part), str(11 + at)
            if name.startswith("publish"):
                found.append(Life(name, int(n), ["support.killed_publishers", str(home), n, seed]))
                continue
            address = f"sqlite:///{home}/ledger.db" if "SQLite" in name else url and url.format(at)
            if address:
                command = ["support.killed_stewards", address, str(home / "shelf"), str(home / "lives"), n, seed]
                found.append(Life(name, int(n), command))
    return found


@contextmanager
def _server(folder: Path) -> Iterator[str | None]:
    """Start a PostgreSQL server of our own; None where there is none."""
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]
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
        for at in range(sum(SHARES.values()) // PER_LIFE):
            cluster.execute(f"CREATE DATABASE faults_{at}")
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
