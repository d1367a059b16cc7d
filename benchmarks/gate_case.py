"""Requests per second of one core, replayed: the paper's table, and tables shaped like real ones."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.timing import keep, row
from seriatim_gate import critical_tables
from seriatim_gate.engine.intake import decided
from seriatim_gate.engine.rules import Rules
from seriatim_papers.safe_release_counts import BASELINE, FIGURE_2

LongArray = np.ndarray[Any, np.dtype[np.int64]]
PAPER = {"kld": 3e6, "cst": 2e6, "mis": 1e6, "dqt": 0.8e6, "wdt": None}
WIDE = {"kld": PAPER["kld"] / 5, "cst": PAPER["cst"] / 5}


def run(options: list[str]) -> None:
    n = 200_000 if "--quick" in options else 1_000_000
    rows = []
    cells = np.random.default_rng(1).choice(50, n, p=FIGURE_2.ravel() / FIGURE_2.sum())
    for test, target in PAPER.items():
        rows.append(_row(f"10 x 5, Figure 2(a), {test}", _asked(BASELINE, 5, test), cells // 5, cells % 5, target))
    for order in ("random", "burst"):
        xs, ys, baseline = shaped(10, 50, n // 2, order)
        for test, target in {"kld": None, "cst": None, "mis": 1e5, "dqt": 1e5}.items():
            asked = _asked(baseline, 50, test)
            rows.append(_row(f"10 x 50, deciles, Zipf targets, {order}, {test}", asked, xs, ys, target))
        xs, ys, baseline = shaped(50, 500, n, order)
        for test, wide in WIDE.items():
            asked = _asked(baseline, 500, test)
            rows.append(_row(f"50 x 500, equal bands, Zipf targets, {order}, {test}", asked, xs, ys, wide))
    begin = time.process_time()
    critical_tables(np.full(10, 0.1), np.full(50, 0.02), 0.1)
    rows.append(row("simulated tables, 10,000 paths, 10 x 50, both tests", time.process_time() - begin, 10, "s"))
    keep("gate", rows)


def shaped(n_values: int, n_targets: int, n: int, order: str) -> tuple[LongArray, LongArray, LongArray]:
    """Return requests of Zipf targets that lean a little, X in bands of equal shares, and the baseline."""
    rng = np.random.default_rng(3)
    weights = 1 / np.arange(1, n_targets + 1)
    ys = rng.choice(n_targets, n, p=weights / weights.sum())
    if order == "burst":
        ys = np.sort(ys)
    leaning = rng.normal(0, 0.15, n_targets)[ys] + rng.normal(0, 1, n)
    xs = np.argsort(np.argsort(leaning)) * n_values // n
    return xs, ys, np.bincount(xs, minlength=n_values) / n


def _asked(baseline: Any, n_targets: int, test: str) -> Rules:
    """Rules with their tables, made outside the timing."""
    few = "asymptotic" if n_targets == 500 else "simulated"
    return Rules.of(baseline, n_targets, (test,), 0.2, "smallest", few, None, None)


def _row(case: str, asked: Rules, xs: LongArray, ys: LongArray, target: float | None) -> dict[str, Any]:
    decided([asked], [(xs[:100], ys[:100])])
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        decided([asked], [(xs, ys)])
        seconds.append(time.process_time() - begin)
    wanted = None if target is None else target / 1e6
    return row(case, len(xs) / min(seconds) / 1e6, wanted, "M requests/s", at_least=True)
