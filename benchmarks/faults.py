"""500 kills in the middle of publishing: after each the ledger verifies and the next publish works."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import keep, row

KILLS = 500
SCRIPT = Path(__file__).parents[1] / "tests" / "functional" / "killed_publishers.py"


def run(options: list[str]) -> None:
    kills = 50 if "--quick" in options else KILLS
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, SCRIPT, folder, str(kills), "11"], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr)
    survived = kills if done.returncode == 0 else 0
    keep("faults", [row(f"kills survived of {kills}, {done.stdout.strip()} releases made", survived, kills, "", True)])
