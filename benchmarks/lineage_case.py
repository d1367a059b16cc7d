"""Closed lineages attacked to the fixed point in fresh worlds, by one who is told that a counterfeit IS the leaver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.timing import keep, row
from seriatim.attacks._exclusion import Exclusion
from seriatim.attacks.trace import trace
from seriatim.defences.series.contract import LongArray, SerialDraw, SerialRules, SerialView
from seriatim.defences.series.memory import RememberedRows, memory_rows
from seriatim.engines.threads import Threads
from seriatim.kernels.deduce.conclusions import first_conclusions
from seriatim.kernels.deduce.fixed_point import narrow_to_fixed_point
from seriatim.model.chance import open_chance
from seriatim.model.history import History
from seriatim_papers.cor_split import (
    METHODS,
    SELECTIVITIES,
    CorSplitMethod,
    PlayedSeries,
    ReleaseFigures,
    cor_split_numbers,
    cor_split_scales,
)
from seriatim_papers.queries import QueryWorkload
from seriatim_papers.worlds.census import DOMAINS, FAST_CHURN, N_INCOMES, SLOW_CHURN, CensusChurn, CensusPeople, census

M, N_QUERIES = 6, 2_000
SMALL, TINY = CensusChurn(20_000, 0.10, 21), CensusChurn(2_000, 0.10, 21)
WORKERS = Threads(1)
KD, LINEAGE = (next(method for method in METHODS if method.name == name) for name in ("invariant", "lineage"))


@dataclass(frozen=True, slots=True)
class Case:
    """Some worlds of one kind. ``drift`` moves the values of later arrivals up, in spreads of all values."""

    churn: CensusChurn
    seeds: tuple[int, ...]
    shares: tuple[float, ...] = (0.04, 0.10)
    """Of people whose values the adversary knows."""
    drift: float = 0.0
    cell: int = SerialRules(M).cell

    @property
    def ordinary(self) -> bool:
        """People come and go on their own, as in the paper."""
        return not self.drift and self.churn.departures == "alone" and not self.churn.returning

    def __str__(self) -> str:
        churn = self.churn
        parts = [f"{churn.size:,} x {churn.share:.0%} x {churn.releases}"]
        parts += [f"{churn.departures} leave together"] * (churn.departures != "alone")
        parts += [f"{churn.returning:.0%} of arrivals return"] * (churn.returning > 0)
        parts += [f"values drift by {self.drift:g}"] * (self.drift > 0)
        parts += [f"lineages of {self.cell:,}"] * (self.cell != SerialRules(M).cell)
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One world: people breached for each share compromised, and what it cost, as shares."""

    breached: tuple[int, ...]
    counterfeits: float
    last: float
    withheld: float
    errors: dict[float, float]
    """Of the first and the last release, their mean."""


def cases(options: list[str]) -> Iterator[Case]:
    """All worlds; with --few some of each kind, for a machine that is shared; with --quick two small ones."""
    if "--quick" in options:
        yield Case(SMALL, (201, 202))
        return
    few = "--few" in options
    yield Case(FAST_CHURN, tuple(range(211, 213 if few else 216)))
    yield Case(SLOW_CHURN, tuple(range(221, 222 if few else 226)))
    yield Case(SMALL, tuple(range(201, 204 if few else 211)))
    yield Case(TINY, tuple(range(251, 261)))
    yield from _harder(SMALL, (241,) if few else (241, 242, 243))
    if not few:
        yield from _harder(FAST_CHURN, (231, 232))


def _harder(churn: CensusChurn, seeds: tuple[int, ...]) -> Iterator[Case]:
    for returning in (0.1, 0.3):
        yield Case(replace(churn, returning=returning), seeds)
    yield Case(replace(churn, returning=0.3), seeds, cell=1_440)
    yield Case(replace(churn, departures="families"), seeds)
    yield Case(replace(churn, departures="wards"), seeds)
    yield Case(churn, seeds, drift=1.0)


def run(options: list[str]) -> None:
    rows: list[dict[str, Any]] = []
    for case in cases(options):
        outcomes = []
        for seed in case.seeds:
            outcomes.append(world(case, seed))
            print(f"{case}, world {seed}: {outcomes[-1]}", flush=True)
        rows += _rows(case, outcomes, _play(KD, case, case.seeds[0]) if case.ordinary else None)
        keep("lineage", rows)  # after every case, since they take minutes


def world(case: Case, seed: int) -> Outcome:
    played = _play(LINEAGE, case, seed)
    runs = attacked(played.history_with_leavers(), case.shares, seed)
    assert not any(run.wrong or run.conflicts for run in runs)
    counterfeits = [figures.counterfeits / case.churn.size for figures in played.figures]
    mean, withheld = float(np.mean(counterfeits)), played.share("withheld")
    return Outcome(tuple(run.n_breached for run in runs), mean, counterfeits[-1], withheld, _mean_errors(played))


def attacked(history: History, shares: tuple[float, ...], seed: int) -> list[Exclusion]:
    """Exclusion to its fixed point, straight from what is known: once through, where ``prepare`` settles it twice."""
    traces = trace(history)
    board, nothing_known = traces.board(), traces.everything(None)
    first_conclusions(board, nothing_known)
    links, found = traces.links(None), []
    for share in shares:
        words = nothing_known.copy()
        known = np.flatnonzero(open_chance(seed, "compromised").random(len(traces.value)) < share).astype(np.int32)
        value = traces.value[known]
        words[known] = 0
        words[known, value >> 6] = np.uint64(1) << (value & 63).astype(np.uint64)
        log, conflicts = narrow_to_fixed_point(board, links, words, np.arange(traces.n_groups, dtype=np.int32), False)
        found.append(Exclusion(traces, words, known, log, conflicts))
    return found


def _play(method: CorSplitMethod, case: Case, seed: int) -> PlayedSeries:
    people, views = case_views(case, seed)
    workload, figures = QueryWorkload(DOMAINS, N_QUERIES, seed), []
    published: list[RememberedRows] = []
    for release, (who, number) in enumerate(views, start=1):
        view = SerialView(
            quasi=people.quasi[who],
            scales=cor_split_scales(),
            sensitive=people.income[who],
            n_values=N_INCOMES,
            person=number,
        )
        memory = method.recall(published, number)
        made = method.group(
            view, SerialRules(M, sticky=method.sticky, cell=case.cell), memory, SerialDraw(b"case", release), WORKERS
        )
        asked = SELECTIVITIES if release in (1, case.churn.releases) else ()
        errors = workload.errors(release, view.quasi, made.box, asked)
        figures.append(
            ReleaseFigures(
                release=release,
                seconds=0.0,
                groups=made.n_groups,
                unsafe=None,
                counterfeits=made.n_counterfeits,
                withheld=made.n_withheld(),
                errors=errors,
            )
        )
        published.append(memory_rows(view, made))
    return PlayedSeries(method.name, tuple(figures), tuple(published), len(people))


def case_views(case: Case, seed: int) -> tuple[CensusPeople, list[tuple[LongArray, LongArray]]]:
    people = census(case.churn.n_people, seed)
    views = cor_split_numbers(people, case.churn, seed)
    if not case.drift:
        return people, views
    arrived = np.zeros(len(people))
    for release, (who, _) in reversed(list(enumerate(views))):
        arrived[who] = release / len(views)
    leaning = case.drift * arrived + np.random.default_rng(seed).normal(0, 1, len(people))
    income = np.empty_like(people.income)
    income[np.argsort(leaning, kind="stable")] = np.sort(people.income)
    return replace(people, income=income), views


def _mean_errors(played: PlayedSeries) -> dict[float, float]:
    asked = [figures.errors for figures in played.figures if figures.errors]
    return {share: float(np.mean([errors[share] for errors in asked])) for share in SELECTIVITIES}


def _rows(case: Case, outcomes: list[Outcome], kd: PlayedSeries | None) -> list[dict[str, Any]]:
    name = f"{case}, {len(outcomes)} world{'s' * (len(outcomes) > 1)}"
    target = kd is not None
    rows = []
    for i, share in enumerate(case.shares):
        breached = sum(outcome.breached[i] for outcome in outcomes)
        rows.append(row(f"{name}: people breached, {share:.0%} compromised", breached, 0 if i == 0 else None, "people"))
    worst = {what: 100 * max(getattr(o, what) for o in outcomes) for what in ("counterfeits", "last", "withheld")}
    rows.append(row(f"{name}: counterfeits, mean of the releases, worst world", worst["counterfeits"], 5.0, "%"))
    rows.append(row(f"{name}: counterfeits, last release, worst world", worst["last"], 5.0 if target else None, "%"))
    rows.append(row(f"{name}: person-releases withheld, worst world", worst["withheld"], 0.5 if target else None, "%"))
    if kd is not None:
        for share, by_kd in _mean_errors(kd).items():
            ours = float(np.mean([outcome.errors[share] for outcome in outcomes]))
            rows.append(
                row(f"{name}: query error at {share:.0%}, {ours:.3f}, over kd's {by_kd:.3f}", ours / by_kd, 1.0)
            )
    return rows
