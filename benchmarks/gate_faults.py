"""Kills of a gate's service under load, on both databases: nothing is lost, nothing leaves twice."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.timing import keep, row

KILLS = 200
TESTS = Path(__file__).parents[1] / "tests"


def run(options: list[str]) -> None:
    kills = 20 if "--quick" in options else KILLS
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        rows += _killed("SQLite", f"sqlite:///{folder}/journal.db", kills)
        with gate_server(Path(folder)) as url:
            if url is not None:
                rows += _killed("PostgreSQL", url, kills)
    keep("gate-faults", rows)


def _killed(name: str, url: str, kills: int) -> list[dict[str, object]]:
    command = [sys.executable, "-m", "support.killed_services", url, str(kills), "11"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=TESTS)
    if done.returncode:
        print(done.stderr[-3_000:])
    answered, restart = (done.stdout.split() or ["0", "0"]) if not done.returncode else ("0", "0")
    survived = 0 if done.returncode else kills
    return [
        row(
            f"{name}: kills of a gate's service survived, {int(answered):,} requests answered",
            survived,
            kills,
            "",
            True,
        ),
        row(f"{name}: slowest restart under this load, forked", float(restart), None, "s"),
    ]


@contextmanager
def gate_server(folder: Path) -> Iterator[str | None]:
    """Start a PostgreSQL cluster of its own, with fsync on; None where there is none."""
    sys.path.insert(0, str(TESTS))
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
