"""An observer of a gate who tries to name the targets that differ from the baseline, by other statistics than its own.

Works on plain arrays: what was requested, what was released, in which order and when. Some statistics need only the
released records; shares and waiting times need target sizes or request times, which an office should keep to itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
LongArray = npt.NDArray[np.int64]

STATISTICS = (
    "mean score", "smallest p-value", "largest cell", "excess G/N", "order of release", "waiting times",
    "share released",
)  # fmt: skip
PRIVATE = frozenset({"waiting times", "share released"})
"""These need request times or target sizes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ObservedRequests:
    """Requests as places of X and Y in time order; which were released, in which order, and at which request."""

    xs: LongArray
    ys: LongArray
    released: LongArray
    released_at: LongArray
    baseline: FloatArray
    n_targets: int

    def counts(self, everything: bool = False) -> LongArray:
        """Return the counts, |X| x |Y|, of the released records, or of all requests."""
        xs, ys = (self.xs, self.ys) if everything else (self.xs[self.released], self.ys[self.released])
        cells = np.bincount(xs * self.n_targets + ys, minlength=len(self.baseline) * self.n_targets)
        return cells.reshape(len(self.baseline), self.n_targets)


@dataclass(frozen=True, slots=True)
class TargetRanking:
    """How well one statistic names the most deviating target, and orders all of them."""

    statistic: str
    first: bool
    top_3: bool
    spearman: float
    deficit: float
    """Share of the most suspected target's records that was held back."""


def rankings(watched: ObservedRequests) -> tuple[TargetRanking, ...]:
    """Let every statistic rank the targets and compare with their true deviation among all requests."""
    counts, everything = watched.counts(), watched.counts(everything=True)
    sizes = everything.sum(axis=0)
    truth = _observer_excess(everything, watched.baseline)
    held = np.flatnonzero(sizes > 0)
    if len(held) < 2:
        return ()
    worst = held[np.argmax(truth[held])]
    found = []
    for name, scores in _scores(watched, counts, sizes).items():
        ranked = held[np.argsort(-scores[held], kind="stable")]
        deficit = 1 - counts[:, ranked[0]].sum() / sizes[ranked[0]]
        rank = _observer_spearman(scores[held], truth[held])
        found.append(TargetRanking(name, bool(ranked[0] == worst), bool(worst in ranked[:3]), rank, float(deficit)))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingHits:
    """How often one statistic succeeds over several orders of the same requests."""

    statistic: str
    runs: int
    first: float
    """Share of runs in which it names the most deviating target."""
    top_3: float
    spearman: float
    """Mean rank correlation with the true deviation."""
    deficit: float
    """Mean share of the most suspected target's records that was held back."""


def hits_over_runs(runs: Sequence[tuple[TargetRanking, ...]]) -> tuple[RankingHits, ...]:
    """Count over several runs how often each statistic names the target that deviates most."""
    by_statistic: dict[str, list[TargetRanking]] = {}
    for one in (named for run in runs for named in run):
        by_statistic.setdefault(one.statistic, []).append(one)
    return tuple(
        RankingHits(
            statistic=statistic,
            runs=len(found),
            first=float(np.mean([one.first for one in found])),
            top_3=float(np.mean([one.top_3 for one in found])),
            spearman=float(np.mean([one.spearman for one in found])),
            deficit=float(np.mean([one.deficit for one in found])),
        )
        for statistic, found in by_statistic.items()
    )


def thinned_at_random(watched: ObservedRequests, rng: np.random.Generator) -> ObservedRequests:
    """Return the control: a plain random sample of the requests, as large as what was released."""
    kept = np.sort(rng.choice(len(watched.xs), len(watched.released), replace=False))
    return ObservedRequests(
        xs=watched.xs,
        ys=watched.ys,
        released=kept,
        released_at=kept,
        baseline=watched.baseline,
        n_targets=watched.n_targets,
    )


def _observer_excess(counts: LongArray, baseline: FloatArray) -> FloatArray:
    """Return G/N of every target in nats, less what chance alone adds; lowest where nothing is known."""
    n = counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = counts / n
        terms = np.where(counts > 0, shares * np.log(shares / baseline[:, None]), 0.0).sum(axis=0)
        return np.where(n > 0, 2 * terms - (len(baseline) - 1) / n, -np.inf)


def _observer_spearman(a: FloatArray, b: FloatArray) -> float:
    """Return the rank correlation; ties share their mean rank, and 0 stands for no variation."""
    ra, rb = _mean_ranks(a), _mean_ranks(b)
    if ra.std() == 0 or rb.std() == 0:
        return 0.0
    return float(np.corrcoef(ra, rb)[0, 1])


def _mean_ranks(values: FloatArray) -> FloatArray:
    """Return the rank of every value from 1; scipy.stats has this, and takes a second to load."""
    _, at, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[at]


def _scores(watched: ObservedRequests, counts: LongArray, sizes: LongArray) -> dict[str, FloatArray]:
    """Return a score per target and statistic; the higher, the more suspicious."""
    from scipy.special import chdtrc

    p, n = watched.baseline, counts.sum(axis=0)
    score = np.arange(len(p))
    mean = float((p * score).sum())
    spread = max(float(np.sqrt((p * (score - mean) ** 2).sum())), 1e-300)
    ys, some = watched.ys[watched.released], np.maximum(n, 1)
    excess = _observer_excess(counts, p)  # minus infinity where nothing was released
    g = np.maximum(np.where(n > 0, excess, 0.0) * n + len(p) - 1, 0.0)
    expected = p[:, None] * n[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = np.abs(counts - expected) / np.sqrt(expected * (1 - p[:, None]))
        p_value = chdtrc(len(p) - 1, np.where(n > 0, g, 0.0))
    positions = np.bincount(ys, np.arange(len(ys)), watched.n_targets) / some
    delays = np.bincount(ys, watched.released_at - watched.released, watched.n_targets) / some
    scores = (
        np.abs((counts * score[:, None]).sum(axis=0) / some - mean) * np.sqrt(n) / spread,
        -p_value,
        np.nan_to_num(surprise, nan=0.0, posinf=0.0).max(axis=0),
        excess,
        np.abs(positions - (len(ys) - 1) / 2) * np.sqrt(n),
        delays,
        1 - n / np.maximum(sizes, 1),
    )
    return dict(zip(STATISTICS, scores, strict=True))
