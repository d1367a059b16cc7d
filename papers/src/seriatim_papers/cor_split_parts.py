"""The parts of the Cor-Split study: both scenarios, and the sweep over m and n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from seriatim.attacks.exclusion_rules import estimate_once, estimate_share, prepare
from seriatim.attacks.twin_sets import twins
from seriatim.model import Estimate
from seriatim.ports import Progress, Workers, no_progress
from seriatim_papers.cor_split import (
    METHODS,
    SELECTIVITIES,
    CorSplitMethod,
    CorSplitSetting,
    PlayedSeries,
    play_cor_split,
)
from seriatim_papers.queries import QueryWorkload
from seriatim_papers.worlds.census import DOMAINS, CensusChurn

COMPROMISED = 0.04
SEEDS = (1, 2, 3, 4, 5)
MS, NS = tuple(range(4, 11)), tuple(range(1, 6))
SWEPT_SELECTIVITY = 0.05
SWEPT = tuple(method for method in METHODS if method.name in ("cor-split", "repaired"))


@dataclass(frozen=True, slots=True, eq=False)
class CorSplitOutcome:
    """One method in one scenario."""

    played: PlayedSeries
    once: Estimate
    iterated: Estimate
    n_twins: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeSweep:
    """One method at one m and n."""

    method: str
    m: int
    n: int
    unsafe: int
    counterfeits: float
    error: float
    """The error of counts of 5 % of the people, in the last release."""
    breached: float


def cor_split_part_scenario(
    setting: CorSplitSetting,
    workers: Workers,
    methods: Sequence[CorSplitMethod] = METHODS,
    progress: Progress = no_progress,
) -> tuple[CorSplitOutcome, ...]:
    """Run every method on one series: what the paper measures, and the attacks it omits."""
    workload, outcomes = QueryWorkload(DOMAINS, setting.n_queries, setting.seed), []
    for done, method in enumerate(methods):
        progress(f"{method.name}: publishing", done / len(methods))
        played = play_cor_split(method, setting, workers, workload)
        progress(f"{method.name}: attacking", (done + 0.5) / len(methods))
        outcomes.append(_outcome(played, SEEDS))
    return tuple(outcomes)


def cor_split_part_sweep(
    size: int,
    workers: Workers,
    ms: Sequence[int] = MS,
    ns: Sequence[int] = NS,
    n_queries: int = 10_000,
    progress: Progress = no_progress,
) -> tuple[DegreeSweep, ...]:
    """Run Cor-Split and its repair over the m and n that the paper says it tried; 10 % churn, 10 releases."""
    churn, found = CensusChurn(size, 0.10, 10), []
    pairs = [(m, n) for m in ms for n in ns if n <= m]
    workload = QueryWorkload(DOMAINS, n_queries, 1)
    for done, (m, n) in enumerate(pairs):
        progress(f"m = {m}, n = {n}", done / len(pairs))
        for method in SWEPT:
            setting = CorSplitSetting(
                churn, m=m, n=n, n_queries=n_queries, query_every=churn.releases, selectivities=(SWEPT_SELECTIVITY,)
            )
            played = play_cor_split(method, setting, workers, workload)
            attacked = estimate_share(prepare(played.history()), COMPROMISED, (1,))
            unsafe = sum(figures.unsafe or 0 for figures in played.figures)
            error = played.figures[-1].errors[SWEPT_SELECTIVITY]
            counterfeits = played.share("counterfeits")
            found.append(
                DegreeSweep(
                    method=method.name,
                    m=m,
                    n=n,
                    unsafe=unsafe,
                    counterfeits=counterfeits,
                    error=error,
                    breached=attacked.share,
                )
            )
    return tuple(found)


def _outcome(played: PlayedSeries, seeds: tuple[int, ...]) -> CorSplitOutcome:
    history = played.history_with_leavers() if played.method == "cohort" else played.history()
    ground = prepare(history)
    return CorSplitOutcome(
        played,
        estimate_once(ground, COMPROMISED, seeds),
        estimate_share(ground, COMPROMISED, seeds),
        sum(len(held) for held in twins(played.history())),
    )


def cor_split_part_mean_error(played: PlayedSeries, selectivity: float) -> float:
    """Return the mean error over the releases that were measured."""
    return float(np.mean([figures.errors[selectivity] for figures in played.figures if figures.errors]))


def cor_split_part_mean_seconds(played: PlayedSeries) -> float:
    return float(np.mean([figures.seconds for figures in played.figures]))


def cor_split_part_record(outcome: CorSplitOutcome) -> dict[str, object]:
    """Return an outcome for JSON."""
    played = outcome.played
    return {
        "method": played.method,
        "unsafe": [figures.unsafe for figures in played.figures],
        "counterfeits": [figures.counterfeits for figures in played.figures],
        "counterfeit_share": played.share("counterfeits"),
        "withheld_share": played.share("withheld"),
        "error": {f"{share:.0%}": cor_split_part_mean_error(played, share) for share in SELECTIVITIES},
        "gcp": float(np.mean([figures.gcp for figures in played.figures])),
        "seconds": cor_split_part_mean_seconds(played),
        "breached_once": outcome.once.share,
        "breached": outcome.iterated.share,
        "breached_low": outcome.iterated.low,
        "breached_high": outcome.iterated.high,
        "wrong": outcome.once.wrong + outcome.iterated.wrong,
        "twins": outcome.n_twins,
    }


def cor_split_part_shrunk(setting: CorSplitSetting, scale: float) -> CorSplitSetting:
    """Return the same setting with fewer people."""
    churn = replace(setting.churn, size=max(round(setting.churn.size * scale), 200))
    return replace(setting, churn=churn)
