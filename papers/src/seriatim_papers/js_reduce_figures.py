"""Figures 3 to 8 and Table 5 of JS-Reduce in one world: who gains what against which method, and what is lost.

Every method is published as in Algorithm 1 and attacked as in the paper: the omega estimate, forward. Algorithm 4 and
our best cut stand side by side. Each function is one part of the study, for one seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from seriatim.knowledge._posterior import BITS
from seriatim.model.policy import Thresholds
from seriatim_papers.bt_privacy import js_reduce_by_bt
from seriatim_papers.js_reduce import (
    Grouper,
    JsReduceGains,
    JsReduceRun,
    WorldSize,
    js_reduce_by_mondrian,
    js_reduce_by_segments,
    mean_width,
)
from seriatim_papers.js_reduce_parts import (
    CutPoints,
    js_reduce_part_corpus,
    js_reduce_part_cut_points,
    js_reduce_part_past,
    js_reduce_part_query_error,
    js_reduce_part_snapshot,
    js_reduce_part_suppression,
)
from seriatim_papers.observers import (
    AS_RUN,
    Knowledge,
    Observer,
    attacked,
    people_of,
    published_with_times,
)
from seriatim_papers.worlds.patients import (
    PatientWeek,
    patients_knowledge_of_one_step,
    patients_weeks,
)

SHARES = (0.01, 0.05, 0.1, 0.2)
GREEDY, OPTIMAL = "Algorithm 4", "our best cut"
PLAIN, CLOSE, BT = "Mondrian l = 2", "Mondrian t = 0.8", "(B, t) = (0.5, 0.8)"
METHODS = (PLAIN, CLOSE, BT, GREEDY, OPTIMAL)
OTHERS = (PLAIN, CLOSE, BT)
EXACT, PAST, MINED = "exact", "mined from the past", "mined from a corpus"
TENTH, HUNDREDTH = "mined from a tenth", "mined from a hundredth"
PRINTED_MINE, SNAPSHOT = "as printed (Algorithm 5)", "snapshot"
DEFENDERS = (EXACT, PAST, MINED, PRINTED_MINE)


@dataclass(frozen=True, slots=True)
class MethodFound:
    """One method in one world, whose defender knows the world exactly (Figures 3, 4, 6 and 8)."""

    gains: Mapping[str, JsReduceGains]
    """By what the adversary knows."""
    losses: tuple[float, ...]
    """GCP of the groups of each view, without the people dropped."""
    dropped: tuple[int, ...]
    errors: tuple[float, ...]
    """Median relative error of counts, at each of the shares."""
    seconds: tuple[float, ...]
    """Processor time of each view."""
    cut_points: CutPoints
    suppression: float


@dataclass(frozen=True, slots=True)
class PairingFound:
    """One method whose defender knows something else than the adversaries (Figure 5)."""

    gains: Mapping[str, JsReduceGains]
    suppressed: float
    """The share of records dropped."""


@dataclass(frozen=True, slots=True)
class SweepAsked:
    """One setting of Table 5: a method and its thresholds; t in bits under (B, t), j as the method counts it."""

    method: str
    t: float | None = None
    l: float | None = None  # noqa: E741 - the paper's letter
    b: float | None = None
    j: float | None = None

    def __str__(self) -> str:
        told = (f"{name} {value:g}" for name, value in (("l", self.l), ("B", self.b), ("t", self.t), ("j", self.j))
                if value is not None)  # fmt: skip
        return f"{self.method}: {', '.join(told)}"

    def grouper(self) -> Grouper:
        """Return the method with these thresholds."""
        if self.method in (GREEDY, OPTIMAL):
            optimal = self.method == OPTIMAL
            return js_reduce_by_segments(20, self.t or 0.5, (self.j or 0.6) * (BITS if optimal else 1.0), optimal)
        if self.b is not None:
            return js_reduce_by_bt(2, self.b, self.t or 0.8)
        return js_reduce_by_mondrian(2, Thresholds(l=self.l) if self.l is not None else Thresholds(t=self.t))


@dataclass(frozen=True, slots=True)
class SweepFound:
    """What an exact adversary gains, and what is lost (Figure 7)."""

    gain: tuple[float, ...]
    loss: float
    suppressed: float


JS = (0.2, 0.4, 0.6, 0.8)


def table_5() -> Iterator[SweepAsked]:
    """Return every setting of Table 5 that is run: each threshold over its range, the others as printed in bold."""
    yield from (SweepAsked("distinct l-diversity", l=float(l)) for l in (2, 4, 6, 8))  # noqa: E741
    yield from (SweepAsked("t-closeness", t=t) for t in (0.5, 0.65, 0.8, 1.0))
    yield from (SweepAsked("(B, t)-privacy", b=b, t=0.8) for b in (0.3, 0.5, 0.7))
    yield from (SweepAsked("(B, t)-privacy", b=0.5, t=t) for t in (0.5, 0.65))
    for method in (GREEDY, OPTIMAL):
        yield from (SweepAsked(method, t=0.5, j=j) for j in JS)
        yield from (SweepAsked(method, t=t, j=0.6) for t in (0.65, 0.8))


BOLD = {
    PLAIN: SweepAsked(PLAIN, l=2.0),
    CLOSE: SweepAsked(CLOSE, t=0.8),
    BT: SweepAsked(BT, b=0.5, t=0.8),
    GREEDY: SweepAsked(GREEDY, t=0.5, j=0.6),
    OPTIMAL: SweepAsked(OPTIMAL, t=0.5, j=0.6),
}


@lru_cache(maxsize=1)
def _people(size: WorldSize) -> tuple[list[PatientWeek], dict[str, Knowledge]]:
    weeks, exact = patients_weeks(size.world, size.n_weeks, size.n_rows, size.seed)
    one = patients_knowledge_of_one_step(exact)
    few, fewest = max(size.n_rows // 10, 50), max(size.n_rows // 100, 10)
    other = [
        patients_weeks(size.world, size.n_weeks, rows, size.seed, people_seed=at)[0]
        for at, rows in ((7, size.n_rows), (8, few), (9, fewest))
    ]
    known: dict[str, Knowledge] = {
        EXACT: exact,
        "one step": one,
        PAST: js_reduce_part_past(weeks, 3),
        MINED: js_reduce_part_corpus(other[0], 3),
        TENTH: js_reduce_part_corpus(other[1], 3),
        HUNDREDTH: js_reduce_part_corpus(other[2], 3),
        PRINTED_MINE: js_reduce_part_corpus(other[0], 2, "zero"),
        SNAPSHOT: js_reduce_part_snapshot(one),
    }
    return weeks, known


def _attackers(run: JsReduceRun, known: Mapping[str, Knowledge]) -> dict[str, JsReduceGains]:
    return {kind: attacked(run, model, AS_RUN) for kind, model in known.items()}


def _dropped_share(run: JsReduceRun) -> float:
    return sum(run.dropped) / max(sum(len(week.person) for week in run.weeks), 1)


def method_found(size: WorldSize, method: str) -> MethodFound:
    """Publish one world by one method, attack it with every kind of knowledge, and measure what is lost."""
    weeks, known = _people(size)
    timed = published_with_times(weeks, BOLD[method].grouper(), Observer(known[EXACT], AS_RUN, people_of(weeks)))
    run = timed.run
    return MethodFound(
        _attackers(run, known),
        run.losses,
        run.dropped,
        tuple(js_reduce_part_query_error(run, share) for share in SHARES),
        timed.seconds,
        js_reduce_part_cut_points(run, 20, 0.5) if method == GREEDY else CutPoints(0.0, 0.0, 0.0),
        js_reduce_part_suppression(run),
    )


def pairing_found(size: WorldSize, method: str, defender: str) -> PairingFound:
    """Publish one world by a method whose defender knows this, and attack it with every kind of knowledge."""
    weeks, known = _people(size)
    run = published_with_times(weeks, BOLD[method].grouper(), Observer(known[defender], AS_RUN, people_of(weeks))).run
    return PairingFound(_attackers(run, known), _dropped_share(run))


def sweep_found(size: WorldSize, asked: SweepAsked) -> SweepFound:
    """Publish and attack one world with exact knowledge on both sides, at these thresholds."""
    weeks, known = _people(size)
    run = published_with_times(weeks, asked.grouper(), Observer(known[EXACT], AS_RUN, people_of(weeks))).run
    gains = attacked(run, known[EXACT], AS_RUN)
    return SweepFound(gains.gain, mean_width(run.losses), _dropped_share(run))
