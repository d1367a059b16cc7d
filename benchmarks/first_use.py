"""What a newcomer waits for: a wheel in an environment of its own, with no compiled kernel on the machine yet."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.timing import keep, row

ROOT = Path(__file__).parents[1]
FIRST, WARM, DEMO, START = 15.0, 1.2, 75.0, 2.0
"""The most seconds that a first and a later command may take, a first demo, and --help in units of python -c pass."""
ROUNDS = 5


class Spent(NamedTuple):
    """Seconds that somebody waited, and seconds that the cores worked: on a busy machine the two differ."""

    waited: float
    worked: float


def run(options: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = _installed(Path(folder))
        rows = [*_commands(command, Path(folder), "--quick" in options), _help(command)]
    keep("first-use", rows)


def _installed(folder: Path) -> Path:
    """The command of a wheel of this checkout, installed with nothing but what it asks for."""
    uv, python = Path(sys.executable).with_name("uv"), folder / "venv" / "bin" / "python"
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", folder / "wheel", ROOT], check=True)
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    wheel = next((folder / "wheel").glob("*.whl"))
    install = [uv, "pip", "install", "--quiet", "--python", python, "--compile-bytecode"]
    subprocess.run([*install, "-c", ROOT / "constraints.txt", wheel], check=True)
    return python.with_name("seriatim")


def _commands(command: Path, folder: Path, quick: bool) -> list[dict[str, Any]]:
    """Every command with an empty cache, then again. The demo makes what the others read."""
    made, releases = folder / "demo", folder / "demo" / "releases"
    cases = {
        "demo": ["demo", "--out", made],
        "publish --dry-run of 3,000 rows by median": [
            *("publish", made / "views" / "month-1.csv", "--policy", made / "policy.toml", "--dry-run"),
            *("--ledger", f"sqlite:///{folder / 'none.db'}"),
        ],
        "audit": ["audit", releases / "ward-visits-0001" / "public" / "table.csv", "--policy", made / "policy.toml"],
        "attack": [
            *("attack", "--history", made / "monthly", "--respondents", made / "who.csv", "--compromised", "0.04")
        ],
    }
    rows = []
    for at, (name, words) in enumerate(cases.items()):
        cache = folder / f"cache-{at}"
        first = _spent(command, words, cache)
        again = [_spent(command, words, cache) for _ in range(1 if quick or name == "demo" else ROUNDS)]
        warm = Spent(*(statistics.median(column) for column in zip(*again, strict=True)))
        limit = WARM if name.startswith(("publish", "audit")) else None
        rows += [
            row(f"first {name}", first.waited, DEMO if name == "demo" else FIRST, "s"),
            row(f"first {name}, work of all cores", first.worked, None, "s"),
            row(f"later {name}", warm.waited, limit, "s"),
            row(f"later {name}, work of all cores", warm.worked, None, "s"),
        ]
    return rows


def _spent(command: Path, words: Sequence[str | Path], cache: Path) -> Spent:
    """What one run takes; a command that fails would be quick, so it stops the benchmark."""
    surroundings = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    surroundings.pop("PYTHONPATH", None)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([command, *words], env=surroundings, cwd=cache.parent, capture_output=True, text=True)
    waited, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{words[0]}: exit code {done.returncode}\n{done.stderr}")
    return Spent(waited, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _help(command: Path) -> dict[str, Any]:
    """seriatim --help to python -c pass, in turns."""
    python = command.with_name("python")
    seconds: dict[str, list[float]] = {"--help": [], "pass": []}
    for _ in range(15):
        for name, words in (("--help", [command, "--help"]), ("pass", [python, "-c", "pass"])):
            begin = time.perf_counter()
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - begin)
    ratio = statistics.median(seconds["--help"]) / statistics.median(seconds["pass"])
    return row("seriatim --help to python -c pass", ratio, START)
