"""The attacks on long histories: seconds of one core."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks.moments import WORKERS, M, N
from benchmarks.timing import row
from seriatim.attacks.exclusion_rules import prepare
from seriatim.attacks.twin_sets import twins
from seriatim.model.history import History
from seriatim_papers.cor_split import METHODS, CorSplitSetting, play_cor_split
from seriatim_papers.worlds.census import CensusChurn

COMPROMISED = 0.04
ATTACKED = ("cor-split", "repaired, sticky", "cohort")


def attack_rows(size: int, long: int) -> list[dict[str, Any]]:
    """One repetition of the iterated attack on ten releases, and twins on ``long`` ones."""
    rows = []
    for name in ATTACKED:
        ground = prepare(_history(name, size, 10))
        draw = ground.draw(COMPROMISED, 1)
        seconds = _core_seconds(lambda ground=ground, draw=draw: ground.compromise(draw, keep_log=False))
        rows.append(row(f"exclusion, one repetition, {name}, {size:,} x 10", seconds, 10, "s of one core"))
    for name in ATTACKED:
        history = _history(name, size, long)
        seconds = _core_seconds(lambda history=history: twins(history))
        rows.append(row(f"twins, {name}, {size:,} x {long}", seconds, None, "s of one core"))
    return rows


def _history(name: str, size: int, n_releases: int) -> History:
    method = next(method for method in METHODS if method.name == name)
    setting = CorSplitSetting(CensusChurn(size, 0.10, n_releases), m=M, n=N, n_queries=1, query_every=n_releases)
    played = play_cor_split(method, setting, WORKERS)
    return played.history_with_leavers() if name == "cohort" else played.history()


def _core_seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin
