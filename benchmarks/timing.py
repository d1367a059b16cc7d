"""Timing that survives a busy machine: cases take turns, medians are compared, never absolute times."""

from __future__ import annotations

import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "benchmarks.md"


def in_turns(cases: Mapping[str, Callable[[], Any]], rounds: int = 7) -> dict[str, float]:
    """Seconds of each case, the median of several rounds in which all take turns; one round warms up."""
    for work in cases.values():
        work()
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, work in cases.items():
            begin = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - begin)
    return {name: statistics.median(each) for name, each in seconds.items()}


def kept_pieces(name: str) -> dict[str, Any]:
    """Return what earlier runs of pieces of a benchmark found, by the name of the piece."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()).get("pieces", {}) if path.exists() else {}


def chosen_piece(options: list[str], whole: int) -> range:
    """Return which of ``whole`` runs ``--piece=FROM:TO`` asks for; all of them if it is missing."""
    asked = [word.removeprefix("--piece=") for word in options if word.startswith("--piece=")]
    begin, end = asked[0].split(":") if asked else ("0", str(whole))
    return range(int(begin), min(int(end), whole))


def keep(name: str, rows: list[dict[str, Any]], pieces: dict[str, Any] | None = None) -> None:
    """Write the figures as JSON and renew the page that shows them all. A run in pieces keeps what each found."""
    RESULTS.mkdir(exist_ok=True)
    options = [word for word in sys.argv[1:] if word.startswith("--") and not word.startswith("--piece=")]
    bench = (name.removeprefix("gate-") if "--gate" in options else name).removesuffix("-by-hand")
    command = " ".join(["./dev bench", bench, *options])
    facts = {"command": command, "python": platform.python_version(), "rows": rows}
    facts |= {} if pieces is None else {"pieces": pieces}
    (RESULTS / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n")
    PAGE.write_text(page())
    for row in rows:
        print(f"{row['case']:58} {row['figure']:>12}  {row['target']:<18} {row['held']}")


def row(case: str, value: float, target: float | None, unit: str = "x", at_least: bool = False) -> dict[str, Any]:
    """One figure and whether it holds; without a target it is only shown."""
    if target is None:
        return {"case": case, "value": round(value, 4), "figure": f"{value:,.2f} {unit}", "target": "", "held": ""}
    held = value >= target if at_least else value <= target
    return {
        "case": case,
        "value": round(value, 4),
        "figure": f"{value:,.2f} {unit}",
        "target": f"{'at least' if at_least else 'at most'} {target:g} {unit}",
        "held": "held" if held else "MISSED",
    }


def page() -> str:
    parts = [
        "# Benchmarks",
        "",
        "Every figure comes from one run on one machine, made by the command above its table: a ratio, a count, or",
        "seconds where somebody waits. Machines differ, so run the benchmarks on yours.",
    ]
    for path in sorted(RESULTS.glob("*.json")):
        facts = json.loads(path.read_text())
        parts += ["", f"## `{facts['command']}`", *(["", facts["note"]] if "note" in facts else [])]
        parts += ["", "| case | figure | target | |", "|---|---:|---|---|"]
        parts += [f"| {r['case']} | {r['figure']} | {r['target']} | {r['held']} |" for r in facts["rows"]]
    return "\n".join(parts) + "\n"
