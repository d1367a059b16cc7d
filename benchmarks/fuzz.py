"""10,000 hostile runs of the command line, seeded: how many end in a bug. It must be none.

``--piece=500:1000`` runs those seeds only and adds them to what is kept.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.timing import chosen_piece, keep, kept_pieces, row

RUNS = 10_000
TESTS = Path(__file__).parents[1] / "tests"


def run(options: list[str]) -> None:
    sys.path.insert(0, str(TESTS))
    from support.fuzz import is_bug, run_one

    seeds = chosen_piece(options, 500 if "--quick" in options else RUNS)
    bugs = 0
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            ran = run_one(Path(folder), seed)
        if is_bug(ran):
            bugs += 1
            print(f"seed {seed}: exit code {ran.code}: {ran.err.strip()[-200:]}")
    in_pieces = any(word.startswith("--piece=") for word in options)
    pieces = (kept_pieces("fuzz") if in_pieces else {}) | {f"{seeds.start}:{seeds.stop}": bugs}
    runs = sum(int(end) - int(begin) for begin, end in (name.split(":") for name in pieces))
    keep("fuzz", [row(f"bugs in {runs:,} hostile inputs", sum(pieces.values()), 0, "")], pieces)
