"""The complete attack: seconds for a sample of 200 people, in small and large tables."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.moments import WORKERS, N
from benchmarks.timing import keep, row
from seriatim.attacks.complete_search import complete_sample
from seriatim.attacks.exclusion_rules import prepare
from seriatim.model.history import History
from seriatim_papers.cor_split import METHODS, CorSplitSetting, play_cor_split
from seriatim_papers.worlds.census import CensusChurn

SAMPLE = 200
KNOWN = 0.02
METHODS_ATTACKED = (("invariant", 6), ("repaired, sticky", 4), ("repaired, sticky", 6), ("cohort", 6))
"""Methods, and how many releases of each are attacked."""


def run(options: list[str]) -> None:
    """Play series of every size and method, and ask about 200 people of each."""
    sizes = (200, 20_000) if "--quick" in options else (200, 20_000, 200_000)
    keep("complete", [one for size in sizes for method in METHODS_ATTACKED for one in _rows(*method, size)])


def _rows(name: str, n_releases: int, size: int) -> list[dict[str, Any]]:
    ground = prepare(_history(name, size, n_releases))
    found = ground.compromise(ground.draw(KNOWN, 1), keep_log=False)
    begin = time.perf_counter()
    made = complete_sample(found, SAMPLE)
    seconds = time.perf_counter() - begin
    label = f"{name}, {size:,} people, {n_releases} releases"
    rules = 100 * found.n_breached / max(found.n_people, 1)
    return [
        row(f"{label}: {made.opened:,} of {made.left:,} opened, {len(made.asked)} asked", seconds, 30.0, "s"),
        row(f"{label}: certain by rules, of everyone", rules, None, "%"),
        row(f"{label}: certain by the solver, in the sample", len(made.certain), None, "people"),
        row(f"{label}: undecided, in the sample", len(made.undecided), None, "people"),
    ]


def _history(name: str, size: int, n_releases: int) -> History:
    method = next(method for method in METHODS if method.name == name)
    m = 3 if size < 1_000 else 6
    setting = CorSplitSetting(
        CensusChurn(size, 0.12, n_releases), m=m, n=min(N, 2), n_queries=1, query_every=n_releases
    )
    played = play_cor_split(method, setting, WORKERS)
    return played.history_with_leavers() if name == "cohort" else played.history()
