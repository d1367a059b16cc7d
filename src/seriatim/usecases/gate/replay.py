"""What a gate would have released of a list of requests: mandatory before it serves anyone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.attacks.gate_observer import (
    Named,
    ObserverHits,
    Watched,
    gate_observer_report,
    observer_hits,
    observer_thinned,
)
from seriatim.gate._gate import run_gate
from seriatim.gate.decision import Outcome
from seriatim.gate.rules import Asked
from seriatim.gate.starvation import Starved, starvation_of
from seriatim.model.chance import open_chance
from seriatim.usecases.gate.requests import Question, Requests

FloatArray = npt.NDArray[np.float64]
DEVIATES = 0.05
RUNS, FEWEST_RUNS, MOST_REQUESTS = 20, 3, 2_000_000
"""Orders of the requests that an observer looks at; fewer where there are many requests."""
WATCHES = ("through the gate", "random sample as large", "targets shuffled")


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """Counts per target and of the whole. Targets are numbered as in the baseline."""

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
    starved: tuple[Starved, ...]
    observed: dict[str, tuple[ObserverHits, ...]]
    """What an observer finds: through the gate, in a random sample as large, and with Y shuffled."""

    @property
    def share(self) -> float:
        return float(self.released.sum() / max(int(self.requested.sum()), 1))

    @property
    def n_deviating(self) -> int:
        return int((self.p_values < DEVIATES).sum())

    @property
    def n_targets(self) -> int:
        """Targets that were asked for."""
        return int((self.requested > 0).sum())

    @property
    def warning(self) -> str:
        """Said when the pair is not a secret of one target."""
        if 2 * self.n_deviating <= self.n_targets:
            return ""
        return f"this pair is not a secret of one target; the gate will withhold {1 - self.share:.0%}"


def replay_requests(requests: Requests, question: Question, seed: int = 1) -> Replayed:
    """Replay the requests, count what leaves, and let an observer look at it."""
    known = requests.known()
    asked = requests.asked(question)
    outcome = run_gate(asked, known.xs, known.ys)
    n_targets = asked.n_targets
    everything = _counts(known, len(asked.p), n_targets)
    marks = np.linspace(0, len(known), 21).astype(np.int64)
    return Replayed(
        question,
        requests.baseline.version,
        len(requests),
        len(requests) - len(known),
        everything.sum(axis=0),
        outcome.counts.sum(axis=0),
        int((outcome.delays == 0).sum()),
        int(outcome.delays.max()) if len(outcome.delays) else 0,
        float(np.median(outcome.delays)) if len(outcome.delays) else 0.0,
        _p_values(everything, asked),
        np.searchsorted(np.sort(outcome.released_at), marks),
        requests.baseline.advice(question.tests),
        starvation_of(outcome.counts, everything - outcome.counts, asked, most=10),
        _observed(known, asked, outcome, seed),
    )


def _observed(requests: Requests, asked: Asked, outcome: Outcome, seed: int) -> dict[str, tuple[ObserverHits, ...]]:
    """Let an observer look at several orders of the requests: the given one, then random ones."""
    rng = open_chance(seed, "observer")
    runs: dict[str, list[tuple[Named, ...]]] = {name: [] for name in WATCHES}
    for run in range(max(FEWEST_RUNS, min(RUNS, MOST_REQUESTS // max(len(requests), 1)))):
        if run:
            order = rng.permutation(len(requests))
            requests = Requests(requests.xs[order], requests.ys[order], requests.baseline)
            outcome = run_gate(asked, requests.xs, requests.ys)
        watched = _watched(requests, asked, outcome)
        shuffled = Requests(requests.xs, rng.permutation(requests.ys), requests.baseline)
        control = _watched(shuffled, asked, run_gate(asked, shuffled.xs, shuffled.ys))
        for name, seen in zip(WATCHES, (watched, observer_thinned(watched, rng), control), strict=True):
            runs[name].append(gate_observer_report(seen))
    return {name: observer_hits(found) for name, found in runs.items()}


def _watched(requests: Requests, asked: Asked, outcome: Outcome) -> Watched:
    return Watched(requests.xs, requests.ys, outcome.released, outcome.released_at, asked.p, asked.n_targets)


def _counts(requests: Requests, width: int, n_targets: int) -> npt.NDArray[np.int64]:
    cells = np.bincount(requests.xs * n_targets + requests.ys, minlength=width * n_targets)
    return cells.reshape(width, n_targets)


def _p_values(counts: npt.NDArray[np.int64], asked: Asked) -> FloatArray:
    from scipy.special import chdtrc

    from seriatim.gate.statistics import divergences

    g = 2 * np.log(2) * counts.sum(axis=0) * divergences(counts, asked.p)
    return np.where(np.isnan(g), np.nan, chdtrc(int((asked.p > 0).sum()) - 1, np.nan_to_num(g)))
