"""10,000 hostile runs of the command line, seeded: how many end in a bug. It must be none."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.timing import keep, row

RUNS = 10_000
TESTS = Path(__file__).parents[1] / "tests"


def run(options: list[str]) -> None:
    sys.path.insert(0, str(TESTS))
    from support.fuzz import is_bug, run_one

    runs = 500 if "--quick" in options else RUNS
    bugs = 0
    for seed in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            ran = run_one(Path(folder), seed)
        if is_bug(ran):
            bugs += 1
            print(f"seed {seed}: exit code {ran.code}: {ran.err.strip()[-200:]}")
    keep("fuzz", [row(f"bugs in {runs} hostile inputs", bugs, 0, "")])
