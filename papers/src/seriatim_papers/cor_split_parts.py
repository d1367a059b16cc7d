"""The parts of the Cor-Split study: both scenarios, and the sweep over m and n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from seriatim.attacks.exclusion_rules import estimate_once, estimate_share, prepare
from seriatim.attacks.twin_sets import twins
from seriatim.model import Estimate
from seriatim.wiring import wired_workers
from seriatim_papers.claims import Spread
from seriatim_papers.cor_split import (
    METHODS,
    SELECTIVITIES,
    CorSplitMethod,
    CorSplitSetting,
    PlayedSeries,
    ReleaseFigures,
    play_cor_split,
)
from seriatim_papers.queries import QueryWorkload
from seriatim_papers.worlds.census import DOMAINS, CensusChurn

COMPROMISED = 0.04
SEEDS = (1, 2, 3)
"""Of the people, their coming and going, and the methods' chance."""
DRAWS = (1, 2)
"""Of the compromised people, in each series."""
MS, NS = tuple(range(4, 11)), tuple(range(1, 6))
SWEPT_SELECTIVITY = 0.05
SWEPT = tuple(method for method in METHODS if method.name in ("cor-split", "repaired"))


@dataclass(frozen=True, slots=True, eq=False)
class CorSplitOutcome:
    """One method in one series; its rows are gone, its figures stay."""

    played: PlayedSeries
    once: Estimate
    iterated: Estimate
    n_twins: int


@dataclass(frozen=True, slots=True, eq=False)
class CorSplitRuns:
    """One method in one scenario, seed by seed."""

    method: str
    seeds: tuple[CorSplitOutcome, ...]

    def spread(self, figure: Callable[[CorSplitOutcome], float]) -> Spread:
        return Spread(tuple(float(figure(one)) for one in self.seeds))

    def curve(self, figure: Callable[[ReleaseFigures], float | None]) -> list[tuple[float, Spread]]:
        """Return a figure by release, where every seed has it."""
        found = []
        for figures in zip(*(one.played.figures for one in self.seeds), strict=True):
            numbers = [figure(one) for one in figures]
            if None not in numbers:
                found.append((float(figures[0].release), Spread(tuple(float(y) for y in numbers if y is not None))))
        return found

    @property
    def breached(self) -> Spread:
        """Return the share breached in the end, of those not compromised."""
        return self.spread(lambda one: one.iterated.share)

    @property
    def once(self) -> Spread:
        return self.spread(lambda one: one.once.share)

    @property
    def unsafe(self) -> Spread | None:
        """Return unsafe groups over all releases; None for cohorts, which are safe in another way."""
        if self.seeds[0].played.figures[0].unsafe is None:
            return None
        return self.spread(lambda one: sum(figures.unsafe or 0 for figures in one.played.figures))

    def error(self, selectivity: float) -> Spread:
        return self.spread(lambda one: cor_split_part_mean_error(one.played, selectivity))


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeSweep:
    """One method at one m and n in one series."""

    method: str
    m: int
    n: int
    seed: int
    unsafe: int
    counterfeits: float
    withheld: float
    error: float
    """The error of counts of 5 % of the people, in the last release."""
    breached: float


def cor_split_part_outcome(setting: CorSplitSetting, method: CorSplitMethod) -> CorSplitOutcome:
    """Publish one series by one method: what the paper measures, and the attacks it omits."""
    played = play_cor_split(method, setting, wired_workers(), _workload(setting))
    history = played.history_with_leavers() if played.method == "cohort" else played.history()
    ground = prepare(history)
    return CorSplitOutcome(
        replace(played, published=()),
        estimate_once(ground, COMPROMISED, DRAWS),
        estimate_share(ground, COMPROMISED, DRAWS),
        sum(len(held) for held in twins(played.history())),
    )


@lru_cache(maxsize=1)
def _workload_of(domains: tuple[int, ...], n: int, seed: int, churn: CensusChurn) -> QueryWorkload:  # noqa: ARG001
    return QueryWorkload(domains, n, seed)


def _workload(setting: CorSplitSetting) -> QueryWorkload:
    """Return the queries of a series, whose true counts are found once for all methods."""
    domains = setting.own.domains if setting.own is not None else DOMAINS
    return _workload_of(domains, setting.n_queries, setting.seed, setting.churn)


def cor_split_part_degrees(size: int, m: int, n: int, n_queries: int, seed: int) -> tuple[DegreeSweep, ...]:
    """Run Cor-Split and its repair at one m and n that the paper says it tried; 10 % churn, 10 releases."""
    churn, found = CensusChurn(size, 0.10, 10), []
    for method in SWEPT:
        setting = CorSplitSetting(
            churn,
            m=m,
            n=n,
            seed=seed,
            n_queries=n_queries,
            query_every=churn.releases,
            selectivities=(SWEPT_SELECTIVITY,),
        )
        played = play_cor_split(method, setting, wired_workers(), _workload(setting))
        found.append(
            DegreeSweep(
                method=method.name,
                m=m,
                n=n,
                seed=seed,
                unsafe=sum(figures.unsafe or 0 for figures in played.figures),
                counterfeits=played.share("counterfeits"),
                withheld=played.share("withheld"),
                error=played.figures[-1].errors[SWEPT_SELECTIVITY],
                breached=estimate_share(prepare(played.history()), COMPROMISED, (1,)).share,
            )
        )
    return tuple(found)


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
        "n_people": played.n_people,
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
