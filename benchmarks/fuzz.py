"""10,000 hostile runs of the command line, seeded, and every case made by hand at its full size.

None may end in a bug, take more than 60 seconds of processor (the machine may have other work) or more than 2 GB.
``--by-hand`` runs the cases made by hand only, ``--piece=500:1000`` these seeds or cases only, and adds them to what is
kept.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.timing import chosen_piece, keep, kept_pieces, row

RUNS = 10_000
SECONDS, MEGABYTES = 60, 2_048
HANGS = 300.0
"""Seconds after which a command is taken to wait for ever."""
CAP = 8 << 30
"""Bytes that a command may ask for at all, so that the machine stands."""
TESTS = Path(__file__).parents[1] / "tests"


def run(options: list[str]) -> None:
    sys.path.insert(0, str(TESTS))
    if "--by-hand" in options:
        _by_hand(options)
    else:
        _mutated(options)


def _mutated(options: list[str]) -> None:
    """Run seeds in this process, whose memory stays what the largest of them took."""
    from support.fuzz import is_bug, run_one

    worst = Worst()
    seeds = chosen_piece(options, 500 if "--quick" in options else RUNS)
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            ran = run_one(Path(folder), seed)
            seconds = time.process_time() - began
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        worst.add(f"seed {seed}", Ended(ran.code, seconds, most, ran.err.strip()[-200:]), is_bug(ran))
    _keep("fuzz", "hostile inputs", options, seeds, worst)


def _by_hand(options: list[str]) -> None:
    from support.command_line import Ran
    from support.command_nursery import import_everything
    from support.fuzz import is_bug
    from support.hostile_cases import CASES, in_full, in_small

    import_everything()
    worst = Worst()
    chosen = chosen_piece(options, len(CASES))
    for name in list(CASES)[chosen.start : chosen.stop]:
        ended = _apart(name, in_small if "--quick" in options else in_full)
        worst.add(name, ended, is_bug(Ran(ended.code, "", ended.said)))
    _keep("fuzz-by-hand", "cases made by hand", options, chosen, worst)


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    seconds: float
    megabytes: float
    said: str


@dataclass
class Worst:
    """Bugs of some runs, and the slowest and the largest of them."""

    bugs: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0

    def add(self, name: str, ended: Ended, bug: bool) -> None:
        self.bugs += bug
        if bug or ended.seconds > SECONDS or ended.megabytes > MEGABYTES:
            print(f"{name}: {ended}", flush=True)
        self.seconds, self.megabytes = max(self.seconds, ended.seconds), max(self.megabytes, ended.megabytes)


def _keep(name: str, what: str, options: list[str], chosen: range, worst: Worst) -> None:
    in_pieces = any(word.startswith("--piece=") for word in options)
    pieces = (kept_pieces(name) if in_pieces else {}) | {f"{chosen.start}:{chosen.stop}": asdict(worst)}
    runs = sum(int(end) - int(begin) for begin, end in (piece.split(":") for piece in pieces))
    rows = [
        row(f"bugs in {runs:,} {what}", sum(one["bugs"] for one in pieces.values()), 0, ""),
        row(f"the slowest of {runs:,} {what}", max(one["seconds"] for one in pieces.values()), SECONDS, "s"),
        row(f"the largest of {runs:,} {what}", max(one["megabytes"] for one in pieces.values()), MEGABYTES, "MB"),
    ]
    keep(name, rows, pieces)


def _apart(name: str, size: object) -> Ended:
    """Run a case in a child of this process, which has loaded everything."""
    folder = Path(tempfile.mkdtemp())  # a TemporaryDirectory would go with the child that leaves first
    try:
        return _ended(name, folder, size)
    finally:
        shutil.rmtree(folder)


def _ended(name: str, folder: Path, size: object) -> Ended:
    from support import hostile_cases

    arguments = folder / "arguments"
    made = os.fork()
    if made == 0:  # what makes a file of a gigabyte must not count
        arguments.write_text("\0".join(hostile_cases.prepare(name, folder, size)))  # type: ignore[arg-type]
        os._exit(0)
    assert os.waitpid(made, 0)[1] == 0, name
    told = arguments.read_text().split("\0")
    child = os.fork()
    if child == 0:
        _become(told, folder)
    clock = threading.Timer(HANGS, os.kill, (child, signal.SIGKILL))
    clock.start()
    _, status, used = os.wait4(child, 0)
    clock.cancel()
    seconds = used.ru_utime + used.ru_stime
    said = (folder / "said").read_text(errors="replace")
    return Ended(os.waitstatus_to_exitcode(status), seconds, used.ru_maxrss / 1024, said.strip()[-200:])


def _become(arguments: list[str], folder: Path) -> None:
    from seriatim.cli import program

    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_AS, (CAP, CAP))
    for stream, name in ((1, os.devnull), (2, "said")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), stream)
    sys.argv = ["seriatim", *arguments]
    program()
