"""The parts of the Cor-Split study: both scenarios, the sweep over m and n, and what moves the figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from seriatim.attacks.equality import twins
from seriatim.attacks.excluding import Ground, estimate_once, estimate_share, prepare
from seriatim.defences.memory import Memory
from seriatim.kernels.search.board import Board, Ints, Offsets, Words
from seriatim.kernels.search.oneshot import restrict_by_compromised, restrict_by_correlations
from seriatim.model import Estimate
from seriatim.ports import Engine, Progress, no_progress
from seriatim.studies.cor_split import METHODS, SELECTIVITIES, Method, Order, Played, Setting, play
from seriatim.studies.queries import Workload
from seriatim.studies.stable_cuts import stably_cut_groups
from seriatim.studies.worlds.census import DOMAINS, Churn

COMPROMISED = 0.04
SEEDS = (1, 2, 3, 4, 5)
MS, NS = tuple(range(4, 11)), tuple(range(1, 6))
SWEPT = tuple(method for method in METHODS if method.name in ("cor-split", "repaired"))
STABLE = Method("invariant, stable ties", Memory, stably_cut_groups)
PRINTED = (METHODS[0], STABLE, METHODS[1])


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One method in one scenario."""

    played: Played
    once: Estimate
    iterated: Estimate
    n_twins: int


@dataclass(frozen=True, slots=True)
class Swept:
    """One method at one m and n."""

    method: str
    m: int
    n: int
    unsafe: int
    counterfeits: float
    error: float
    """Of counts that ask for 5 % of the people, in the last release."""
    breached: float


@dataclass(frozen=True, slots=True)
class Reason:
    """What a chosen reading of the experiment makes of the share of people breached."""

    setting: str
    order: Order
    method: str
    unsafe: tuple[int, int]
    """hc-unsafe groups in the second and the last release."""
    counterfeits: tuple[int, int]
    """Fewest and most in a release after the first."""
    side_by_side: float
    """ct-pvr and hc-pvr, each from what is known beforehand: the reading of the paper's Lemma 2."""
    one_after_the_other: float
    """hc-pvr from what ct-pvr left."""
    printed_rules: float
    """Both, again and again."""
    all_rules: tuple[float, ...]
    """With counting, to the fixed point; one figure for each draw of compromised people."""


def scenario(
    setting: Setting, engine: Engine, methods: Sequence[Method] = METHODS, progress: Progress = no_progress
) -> tuple[Outcome, ...]:
    """Every method on one series: what the paper measures, and the attacks it leaves out."""
    workload, outcomes = Workload(DOMAINS, setting.n_queries, setting.seed), []
    for done, method in enumerate(methods):
        progress(f"{method.name}: publishing", done / len(methods))
        played = play(method, setting, engine, workload)
        progress(f"{method.name}: attacking", (done + 0.5) / len(methods))
        outcomes.append(_outcome(played, SEEDS))
    return tuple(outcomes)


def sweep(
    size: int,
    engine: Engine,
    ms: Sequence[int] = MS,
    ns: Sequence[int] = NS,
    n_queries: int = 10_000,
    progress: Progress = no_progress,
) -> tuple[Swept, ...]:
    """Cor-Split and its repair over m and n, which the paper says it tried; 10 % churn, 10 releases."""
    churn, found = Churn(size, 0.10, 10), []
    pairs = [(m, n) for m in ms for n in ns if n <= m]
    workload = Workload(DOMAINS, n_queries, 1)
    for done, (m, n) in enumerate(pairs):
        progress(f"m = {m}, n = {n}", done / len(pairs))
        for method in SWEPT:
            setting = Setting(churn, m, n, n_queries=n_queries, query_every=churn.releases)
            played = play(method, setting, engine, workload)
            attacked = estimate_share(prepare(played.history()), COMPROMISED, (1,))
            unsafe = sum(figures.unsafe or 0 for figures in played.figures)
            error = played.figures[-1].errors[0.05]
            fakes = played.share("counterfeits")
            found.append(Swept(method.name, m, n, unsafe, fakes, error, attacked.share))
    return tuple(found)


def reasons(
    worlds: Sequence[tuple[Churn, Sequence[Order]]],
    engine: Engine,
    seeds: Sequence[int] = SEEDS,
    progress: Progress = no_progress,
) -> tuple[Reason, ...]:
    """The same series under different orders of the records, cuts of ties and readings of the attack."""
    work = [(churn, order, method) for churn, orders in worlds for order in orders for method in PRINTED]
    found = []
    for done, (churn, order, method) in enumerate(work):
        progress(f"{churn.size:,} people, {method.name}, records {order}", done / len(work))
        setting = Setting(churn, n_queries=1, query_every=churn.releases + 1, order=order)
        played = play(method, setting, engine)
        ground = prepare(played.history())
        side, after, printed = _readings(ground, seeds[0])
        drawn = tuple(_breached(ground, ground.compromise(ground.draw(COMPROMISED, s), False).words, s) for s in seeds)
        unsafe = [figures.unsafe or 0 for figures in played.figures]
        fakes = [figures.counterfeits for figures in played.figures[1:]]
        name = f"{churn.size:,} people, {churn.share:.0%} churn, {churn.releases} releases"
        found.append(
            Reason(name, order, method.name, (unsafe[1], unsafe[-1]), (min(fakes), max(fakes)), side, after, printed,
                   drawn)
        )  # fmt: skip
    return tuple(found)


def _outcome(played: Played, seeds: tuple[int, ...]) -> Outcome:
    history = played.history_with_leavers() if played.method == "lineage" else played.history()
    ground = prepare(history)
    return Outcome(
        played,
        estimate_once(ground, COMPROMISED, seeds),
        estimate_share(ground, COMPROMISED, seeds),
        sum(len(held) for held in twins(played.history())),
    )


def _readings(ground: Ground, seed: int) -> tuple[float, float, float]:
    """Breached by the printed rules: side by side, one after the other, and again and again."""
    board = ground.board
    ptr, pair = ground.meetings
    told = ground.read.copy()
    value = ground.traces.value
    known = ground.draw(COMPROMISED, seed)
    told[known] = 0
    told[known, value[known] >> 6] = np.uint64(1) << (value[known] & 63).astype(np.uint64)
    by_compromised = restrict_by_compromised(board, told)
    share: Callable[[Words], float] = partial(_breached, ground, seed=seed)
    side = share(by_compromised & restrict_by_correlations(board, ptr, pair, told))
    words = restrict_by_correlations(board, ptr, pair, by_compromised)
    return side, share(words), share(repeated(board, ptr, pair, by_compromised, words))


def repeated(board: Board, ptr: Offsets, pair: Ints, looked: Words, words: Words) -> Words:
    """Both printed rules until nothing moves; ``words`` is what hc-pvr left of ``looked``.

    A pair of groups says nothing new unless somebody in the second has lost a value since it was looked at.
    """
    group = np.repeat(np.arange(len(board.mem_ptr) - 1), np.diff(board.mem_ptr))
    while True:
        told = restrict_by_compromised(board, words)
        moved = (told != looked).any(axis=1)
        if not moved.any():
            return words
        touched = np.zeros(len(ptr) - 1, dtype=np.bool_)
        touched[group[moved[board.mem]]] = True
        kept = touched[pair]
        starts = np.concatenate(([0], np.cumsum(kept)))[ptr]
        words, looked = restrict_by_correlations(board, starts, pair[kept], told), told


def _breached(ground: Ground, words: Words, seed: int) -> float:
    """Share of people not compromised with one value left."""
    free = np.ones(len(words), dtype=np.bool_)
    free[ground.draw(COMPROMISED, seed)] = False
    left: npt.NDArray[np.int64] = np.bitwise_count(words[free]).sum(axis=1)
    return float((left == 1).mean())


def mean_error(played: Played, selectivity: float) -> float:
    """Over the releases that were asked."""
    return float(np.mean([figures.errors[selectivity] for figures in played.figures if figures.errors]))


def mean_seconds(played: Played) -> float:
    return float(np.mean([figures.seconds for figures in played.figures]))


def record_of(outcome: Outcome) -> dict[str, object]:
    """The machine's form of an outcome."""
    played = outcome.played
    return {
        "method": played.method,
        "unsafe": [figures.unsafe for figures in played.figures],
        "counterfeits": [figures.counterfeits for figures in played.figures],
        "counterfeit_share": played.share("counterfeits"),
        "withheld_share": played.share("withheld"),
        "error": {f"{share:.0%}": mean_error(played, share) for share in SELECTIVITIES},
        "gcp": float(np.mean([figures.gcp for figures in played.figures])),
        "seconds": mean_seconds(played),
        "breached_once": outcome.once.share,
        "breached": outcome.iterated.share,
        "breached_low": outcome.iterated.low,
        "breached_high": outcome.iterated.high,
        "wrong": outcome.once.wrong + outcome.iterated.wrong,
        "twins": outcome.n_twins,
    }


def shrunk(setting: Setting, scale: float) -> Setting:
    """The same setting with fewer people."""
    churn = replace(setting.churn, size=max(round(setting.churn.size * scale), 200))
    return replace(setting, churn=churn)
