"""10,000 hostile runs of the command line, seeded, and every case made by hand at its full size.

None may end in a bug, take more than 60 seconds or more than 2 GB. ``--piece=500:1000`` runs those seeds only and adds
them to what is kept; ``--by-hand`` runs the cases made by hand only.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.timing import chosen_piece, keep, kept_pieces, row

RUNS = 10_000
SECONDS, MEGABYTES = 60, 2_048
CAP = 8 << 30
"""Bytes that a command may ask for at all, so that the machine stands."""
TESTS = Path(__file__).parents[1] / "tests"


def run(options: list[str]) -> None:
    sys.path.insert(0, str(TESTS))
    if "--by-hand" not in options:
        _mutated(options)
    if not any(word.startswith("--piece=") for word in options):
        _by_hand("--quick" in options)


def _mutated(options: list[str]) -> None:
    from support.fuzz import is_bug, run_one

    seeds = chosen_piece(options, 500 if "--quick" in options else RUNS)
    bugs, longest = 0, 0.0
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            ran = run_one(Path(folder), seed)
            longest = max(longest, time.perf_counter() - began)
        if is_bug(ran):
            bugs += 1
            print(f"seed {seed}: exit code {ran.code}: {ran.err.strip()[-200:]}", flush=True)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(seeds):,} runs: longest {longest:.1f} s, at most {most:.0f} MB")
    in_pieces = any(word.startswith("--piece=") for word in options)
    pieces = (kept_pieces("fuzz") if in_pieces else {}) | {f"{seeds.start}:{seeds.stop}": bugs}
    runs = sum(int(end) - int(begin) for begin, end in (name.split(":") for name in pieces))
    keep("fuzz", [row(f"bugs in {runs:,} hostile inputs", sum(pieces.values()), 0, "")], pieces)


@dataclass(frozen=True)
class Ended:
    """How a command in a process of its own ended."""

    code: int
    seconds: float
    megabytes: float
    said: str


def _by_hand(quick: bool) -> None:
    from support.command_line import Ran
    from support.command_nursery import import_everything
    from support.fuzz import is_bug
    from support.hostile_cases import CASES, in_full, in_small

    import_everything()
    bugs, slowest, largest = 0, 0.0, 0.0
    for name in CASES:
        ended = _apart(name, in_small if quick else in_full)
        slowest, largest = max(slowest, ended.seconds), max(largest, ended.megabytes)
        if is_bug(Ran(ended.code, "", ended.said)):
            bugs += 1
        if is_bug(Ran(ended.code, "", ended.said)) or ended.seconds > SECONDS or ended.megabytes > MEGABYTES:
            print(f"{name}: {ended}", flush=True)
    rows = [
        row(f"bugs in {len(CASES):,} cases made by hand", bugs, 0, ""),
        row("the slowest of them", slowest, SECONDS, "s"),
        row("the largest of them", largest, MEGABYTES, "MB"),
    ]
    keep("fuzz-by-hand", rows)


def _apart(name: str, size: object) -> Ended:
    """Run a case in a child of this process, which has loaded everything."""
    from support import hostile_cases

    with tempfile.TemporaryDirectory() as folder:
        arguments = Path(folder) / "arguments"
        made = os.fork()
        if made == 0:  # what makes a file of a gigabyte must not count
            arguments.write_text("\0".join(hostile_cases.prepare(name, Path(folder), size)))  # type: ignore[arg-type]
            os._exit(0)
        assert os.waitpid(made, 0)[1] == 0, name
        told, began = arguments.read_text().split("\0"), time.perf_counter()
        child = os.fork()
        if child == 0:
            _become(told, Path(folder))
        clock = threading.Timer(2 * SECONDS, os.kill, (child, signal.SIGKILL))
        clock.start()
        _, status, used = os.wait4(child, 0)
        clock.cancel()
        seconds = time.perf_counter() - began
        said = (Path(folder) / "said").read_text(errors="replace")
    return Ended(os.waitstatus_to_exitcode(status), seconds, used.ru_maxrss / 1024, said.strip()[-200:])


def _become(arguments: list[str], folder: Path) -> None:
    from seriatim.cli import program

    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_AS, (CAP, CAP))
    for stream, name in ((1, os.devnull), (2, "said")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), stream)
    sys.argv = ["seriatim", *arguments]
    program()
