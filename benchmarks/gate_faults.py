"""Kills of a gate's service under load, on both databases: nothing is lost, nothing leaves twice."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.timing import chosen_piece, keep, kept_pieces, row

KILLS = 200
PER_LIFE = 20
TESTS = Path(__file__).parents[1] / "tests"


def run(options: list[str]) -> None:
    """Kill services of 20 lives in turn on both databases, or of some (``--piece=0:2``), and keep what each found."""
    kills = 2 if "--quick" in options else PER_LIFE
    lives = chosen_piece(options, KILLS // PER_LIFE)
    in_pieces = any(word.startswith("--piece=") for word in options)
    pieces = kept_pieces("gate-faults") if in_pieces else {}
    for at in lives:
        with tempfile.TemporaryDirectory() as folder:
            if at % 2 == 0:
                pieces[f"{at:02}"] = _killed("SQLite", f"sqlite:///{folder}/journal.db", kills, at)
                continue
            with gate_server(Path(folder)) as url:
                if url is not None:
                    pieces[f"{at:02}"] = _killed("PostgreSQL", url, kills, at)
    keep("gate-faults", _rows(pieces), dict(sorted(pieces.items())))


def _rows(pieces: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for name in ("SQLite", "PostgreSQL"):
        own = [piece for piece in pieces.values() if piece["database"] == name]
        if not own:
            continue
        kills, survived = sum(one["kills"] for one in own), sum(one["kills"] for one in own if one["survived"])
        answered = sum(one["answered"] for one in own)
        told = f"{name}: kills of a gate's service survived, {answered:,} requests answered"
        rows.append(row(told, survived, kills, "", True))
        slowest = max(one["restart"] for one in own)
        rows.append(row(f"{name}: slowest restart under this load, forked", slowest, None, "s"))
    return rows


def _killed(name: str, url: str, kills: int, at: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "support.killed_services", url, str(kills), str(11 + at)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=TESTS, check=False)
    if done.returncode:
        print(done.stderr[-3_000:])
    answered, restart = done.stdout.split() if not done.returncode else ("0", "0")
    return {
        "database": name,
        "kills": kills,
        "survived": not done.returncode,
        "answered": int(answered),
        "restart": float(restart),
    }


@contextmanager
def gate_server(folder: Path) -> Iterator[str | None]:
    """Start a PostgreSQL cluster of its own, with fsync on; None where there is none."""
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]
    from conftest import Cluster, _programs

    programs = _programs()
    if programs is None:
        yield None
        return
    folder.chmod(0o755)
    (folder / "postgres").mkdir()
    cluster = Cluster(programs, folder / "postgres")
    cluster.start()
    try:
        cluster.execute("ALTER SYSTEM SET fsync = on")
        cluster.execute("SELECT pg_reload_conf()")
        cluster.execute("CREATE DATABASE gate")
        yield f"postgresql://postgres@/gate?host={cluster.folder}"
    finally:
        cluster.stop()
