"""500 kills in the middle of publishing: after each the ledger verifies and the next publish works."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.timing import keep, row

KILLS = 500
WORKERS = 2
TESTS = Path(__file__).parents[1] / "tests"


def run(options: list[str]) -> None:
    kills = 50 if "--quick" in options else KILLS
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(WORKERS) as pool:
        shares = [kills // WORKERS + (worker < kills % WORKERS) for worker in range(WORKERS)]
        done = list(pool.map(lambda job: _killed(Path(folder) / str(job[0]), job[1], job[0]), enumerate(shares)))
    survived = sum(share for share, made in zip(shares, done, strict=True) if made)
    keep("faults", [row(f"kills survived of {kills}, {sum(done)} releases made", survived, kills, "", True)])


def _killed(folder: Path, kills: int, seed: int) -> int:
    """How many releases a run of kills left behind; 0 when a ledger did not stand."""
    folder.mkdir()
    command = [sys.executable, "-m", "support.killed_publishers", folder, str(kills), str(11 + seed)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=TESTS)
    if done.returncode:
        print(done.stderr)
        return 0
    return int(done.stdout)
