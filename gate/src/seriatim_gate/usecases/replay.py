"""What a gate would have released of a list of requests: mandatory before it serves anyone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.model.chance import open_chance
from seriatim_gate.engine.decision import Outcome
from seriatim_gate.engine.rules import Rules
from seriatim_gate.engine.starvation import StarvedCell, starved_cells
from seriatim_gate.observer import (
    ObservedRequests,
    RankingHits,
    TargetRanking,
    hits_over_runs,
    rankings,
    thinned_at_random,
)
from seriatim_gate.usecases.requests import Question, Requests

FloatArray = npt.NDArray[np.float64]
DEVIATES = 0.05
RUNS, FEWEST_RUNS, MOST_REQUESTS = 20, 3, 2_000_000
"""Orders of the requests that an observer looks at; fewer where there are many requests."""
WATCHES = ("through the gate", "random sample as large", "targets shuffled")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Replay:
    """Counts per target of one dependency, and of the whole. Targets are numbered as in the baseline."""

    dependency: str
    question: Question
    version: str
    n_requests: int
    n_refused: int
    requested: npt.NDArray[np.int64]
    released: npt.NDArray[np.int64]
    at_once: int
    longest_wait: int
    median_wait: float
    p_values: FloatArray
    """Of every target's requests against the baseline; nan where there are none."""
    curve: npt.NDArray[np.int64]
    """Released records after each twentieth of the requests."""
    advice: tuple[str, ...]
    starved: tuple[StarvedCell, ...]
    observed: dict[str, tuple[RankingHits, ...]]
    """What an observer finds: through the gate, in a random sample as large, and with Y shuffled."""

    @property
    def share(self) -> float:
        return float(self.released.sum() / max(int(self.requested.sum()), 1))

    @property
    def n_deviating(self) -> int:
        return int((self.p_values < DEVIATES).sum())

    @property
    def n_targets(self) -> int:
        """Return the number of targets that were asked for."""
        return int((self.requested > 0).sum())

    @property
    def warning(self) -> str:
        """Return a warning if most targets deviate; else an empty text."""
        if 2 * self.n_deviating <= self.n_targets:
            return ""
        return f"most targets deviate, so a gate is the wrong tool; it would withhold {1 - self.share:.0%}"


def replayed(requests: Requests, question: Question, seed: int = 1) -> tuple[Replay, ...]:
    """Replay the requests, count what leaves for each dependency, and let an observer look at it."""
    known, rules = requests.known(), requests.rules(question)
    outcomes = known.decide(rules)
    observed = _observed(known, rules, outcomes, seed)
    return tuple(
        _replayed(requests, known, question, at, rules[at], outcomes[at], observed[at]) for at in range(len(rules))
    )


def _replayed(
    requests: Requests, known: Requests, question: Question, at: int, asked: Rules, outcome: Outcome,
    observed: dict[str, tuple[RankingHits, ...]],
) -> Replay:  # fmt: skip
    everything = _counts(known, at, len(asked.p), asked.n_targets)
    marks = np.linspace(0, len(known), 21).astype(np.int64)
    one = requests.baseline.baselines[at]
    return Replay(
        dependency=requests.baseline.names[at],
        question=question,
        version=one.version,
        n_requests=len(requests),
        n_refused=len(requests) - len(known),
        requested=everything.sum(axis=0),
        released=outcome.counts.sum(axis=0),
        at_once=int((outcome.delays == 0).sum()),
        longest_wait=int(outcome.delays.max()) if len(outcome.delays) else 0,
        median_wait=float(np.median(outcome.delays)) if len(outcome.delays) else 0.0,
        p_values=_p_values(everything, asked),
        curve=np.searchsorted(np.sort(outcome.released_at), marks),
        advice=one.advice(question.tests),
        starved=starved_cells(outcome.counts, everything - outcome.counts, asked, most=10),
        observed=observed,
    )


def _observed(
    requests: Requests, rules: Sequence[Rules], outcomes: Sequence[Outcome], seed: int
) -> list[dict[str, tuple[RankingHits, ...]]]:
    """Let an observer look at several orders of the requests, dependency by dependency: the given one, then others."""
    rng = open_chance(seed, "observer")
    runs: list[dict[str, list[tuple[TargetRanking, ...]]]] = [{name: [] for name in WATCHES} for _ in rules]
    for run in range(max(FEWEST_RUNS, min(RUNS, MOST_REQUESTS // max(len(requests), 1)))):
        if run:
            requests = requests.taken(rng.permutation(len(requests)))
            outcomes = requests.decide(rules)
        shuffled = requests.shuffled(rng.permutation(len(requests)))
        controls = shuffled.decide(rules)
        for at, asked in enumerate(rules):
            watched = _watched(requests, at, asked, outcomes[at])
            control = _watched(shuffled, at, asked, controls[at])
            for name, seen in zip(WATCHES, (watched, thinned_at_random(watched, rng), control), strict=True):
                runs[at][name].append(rankings(seen))
    return [{name: hits_over_runs(found) for name, found in one.items()} for one in runs]


def _watched(requests: Requests, at: int, asked: Rules, outcome: Outcome) -> ObservedRequests:
    xs, ys = requests.places[at]
    return ObservedRequests(
        xs=xs,
        ys=ys,
        released=outcome.released,
        released_at=outcome.released_at,
        baseline=asked.p,
        n_targets=asked.n_targets,
    )


def _counts(requests: Requests, at: int, width: int, n_targets: int) -> npt.NDArray[np.int64]:
    xs, ys = requests.places[at]
    cells = np.bincount(xs * n_targets + ys, minlength=width * n_targets)
    return cells.reshape(width, n_targets)


def _p_values(counts: npt.NDArray[np.int64], asked: Rules) -> FloatArray:
    from scipy.special import chdtrc

    from seriatim_gate.engine.statistics import divergences

    g = 2 * np.log(2) * counts.sum(axis=0) * divergences(counts, asked.p)
    return np.where(np.isnan(g), np.nan, chdtrc(int((asked.p > 0).sum()) - 1, np.nan_to_num(g)))
