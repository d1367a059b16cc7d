"""Figures of the sequence attack: what a steward reads first, and the measures of the paper beside it.

Belief in the truth before any release, after one, after the series and looking back; how many PEOPLE are ever believed
right with certainty, and how often such certainty is right. Certainty counts only where the releases raised it: a
column that is 91 % zero would name everyone before anything was published.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.attacks.sequence_knowledge import SequenceBeliefs
from seriatim.kernels.arrays import Flags, Floats, Longs
from seriatim.knowledge.value_texts import value_texts

RARE = 0.07
"""A value below this share counts as rare."""
APPEARANCES = (("1", 1, 1), ("2", 2, 2), ("3-4", 3, 4), ("5-7", 5, 7), ("8-11", 8, 11), ("12+", 12, 1 << 30))
_TINY, _ROUNDING = 1e-12, 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SurePeople:
    """People about whom some belief is certain."""

    n_people: int
    """Everyone judged."""
    right: int
    """People ever inferred with certainty, raised over the class prior, in a value that is not harmless."""
    plainly: int
    """The same without asking whether the releases raised it."""
    hit_rate: float
    """The share of certain beliefs that are right; nan if there are none."""
    n_beliefs: int
    """Certain beliefs, right or wrong."""

    @property
    def share(self) -> float:
        return self.right / self.n_people if self.n_people else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Whether beliefs are as right as they claim."""

    belief: float
    expected: float
    """The mean of sum p^2: equal to ``belief`` if beliefs are calibrated."""
    log_loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceFigures:
    """What the attack found, in counts and means."""

    n_people: int
    n_appearances: int
    n_changed: int
    """People who ever appeared with another value than before."""
    margin: float
    before: float
    one: float
    series: float
    back: float | None
    """Mean belief in the true value: by the margin, the class prior, one release, the series, and looking back."""
    sure_one: SurePeople
    sure: SurePeople
    sure_by_release: tuple[int, ...]
    """People inferred with certainty up to each release, looking at all releases."""
    calibration: Calibration
    gain: float
    """The paper's rho: 0 for someone who knows the counts of a group, 1 for certainty; rewards over-confidence."""
    gain_by_release: tuple[float, ...]
    confidence_95: float
    """The 95th percentile of belief in the truth."""
    rare: tuple[float, float]
    """Belief in rare values: after one release, and at the end."""
    common: tuple[float, float]
    by_appearances: tuple[tuple[str, int, float], ...]
    """Gain by the number of a person's appearances: label, people, gain."""
    window: float | None
    """Belief within one band of the truth, for ordered values."""
    propagated: float
    """The share of appearances judged by belief propagation instead of exact counting."""
    n_impossible: int


def sequence_figures(found: SequenceBeliefs) -> SequenceFigures:
    """Return the figures of an attack."""
    rows, judged, beliefs = found.rows, found.judged, found.beliefs
    truth = rows.value[judged]
    at_end = found.in_truth(beliefs)
    gains = gains_over_groups(found, beliefs)
    margin = np.bincount(truth, minlength=rows.n_values) / max(len(truth), 1)
    few = margin[truth] < RARE
    once = found.in_truth(found.once.beliefs)
    last = found.forward if found.back is None else found.back
    n = len(judged)
    return SequenceFigures(
        n_people=len(np.unique(rows.person[judged])),
        n_appearances=n,
        n_changed=rows.changed(),
        margin=_mean(margin[truth]),
        before=_mean(found.in_truth(found.prior)),
        one=_mean(once),
        series=_mean(found.in_truth(found.forward.beliefs)),
        back=None if found.back is None else _mean(at_end),
        sure_one=count_sure_people(found, found.once.beliefs),
        sure=count_sure_people(found, beliefs),
        sure_by_release=_sure_by_release(found, beliefs),
        calibration=belief_calibration(found, beliefs),
        gain=_mean(gains),
        gain_by_release=tuple(_mean(gains[rows.release[judged] == at]) for at in range(len(rows.group_of_release) - 1)),
        confidence_95=float(np.quantile(at_end, 0.95)) if n else 0.0,
        rare=(_mean(once[few]), _mean(at_end[few])),
        common=(_mean(once[~few]), _mean(at_end[~few])),
        by_appearances=_by_appearances(found, gains),
        window=_window(found, beliefs),
        propagated=last.n_propagated / max(len(rows.person), 1),
        n_impossible=last.n_impossible,
    )


def gains_over_groups(found: SequenceBeliefs, beliefs: Floats) -> Floats:
    """Return (p - m/k) / (1 - m/k) of each judged row: 0 where the group has one value only."""
    share = _shares_in_group(found)[found.judged]
    p = found.in_truth(beliefs)
    return np.divide(p - share, 1.0 - share, out=np.zeros_like(p), where=share < 1.0)


def _shares_in_group(found: SequenceBeliefs) -> Floats:
    """Return the share of a row's group that has its value."""
    rows = found.rows
    keys = rows.group.astype(np.int64) * rows.n_values + rows.value
    _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
    share: Floats = counts[which] / rows.groups.sizes[rows.group]
    return share


def count_sure_people(found: SequenceBeliefs, beliefs: Floats) -> SurePeople:
    """Count the people ever inferred with certainty, and how often certainty is right."""
    certain, right, raised = certain_beliefs(found, beliefs)
    who = found.rows.person[found.judged]
    n_certain = int(certain.sum())
    return SurePeople(
        n_people=len(np.unique(who)),
        right=len(np.unique(who[right & raised])),
        plainly=len(np.unique(who[right])),
        hit_rate=float(right.sum() / n_certain) if n_certain else float("nan"),
        n_beliefs=n_certain,
    )


def _sure_by_release(found: SequenceBeliefs, beliefs: Floats) -> tuple[int, ...]:
    _, right, raised = certain_beliefs(found, beliefs)
    rows = found.judged[right & raised]
    n_releases = len(found.rows.group_of_release) - 1
    first = np.full(found.rows.n_people, n_releases)
    np.minimum.at(first, found.rows.person[rows], found.rows.release[rows])
    return tuple(np.cumsum(np.bincount(first, minlength=n_releases + 1)[:n_releases]).tolist())


def certain_beliefs(found: SequenceBeliefs, beliefs: Floats) -> tuple[Flags, Flags, Flags]:
    """Return for each judged row: some belief is certain, the certain one is right, and the releases raised it."""
    known, judged = found.adversary, found.judged
    near = found.adversary.within(found.values.to_pylist())
    own, prior = beliefs[judged] @ near, found.prior[judged] @ near
    best = own.argmax(axis=1) if len(own) else np.empty(0, dtype=np.int64)
    at = np.arange(len(judged))
    p, q = np.minimum(own[at, best], 1.0), np.minimum(prior[at, best], 1.0)
    spared = set(value_texts(known.harmless))
    minded = np.array([text not in spared for text in value_texts(found.values.to_pylist())], dtype=np.float64)
    certain = (p > known.sure) & (near @ minded > 0.0)[best] if len(own) else np.empty(0, dtype=np.bool_)
    raised = p * (1.0 - q) >= known.raised * q * (1.0 - p) + _ROUNDING  # what was certain before was not raised
    return certain, certain & (near[best, found.rows.value[judged]] > 0.0), raised


def belief_calibration(found: SequenceBeliefs, beliefs: Floats) -> Calibration:
    """Compare belief in the truth with what beliefs themselves expect."""
    p = found.in_truth(beliefs)
    return Calibration(
        belief=_mean(p),
        expected=_mean((beliefs[found.judged] ** 2).sum(axis=1)),
        log_loss=_mean(-np.log(np.maximum(p, _TINY))),
    )


def _window(found: SequenceBeliefs, beliefs: Floats) -> float | None:
    """Return the mean belief within one band of the truth."""
    known = found.adversary
    near = None if known.ordered is None and not known.window else known.near(found.values.to_pylist(), 1)
    if near is None:
        return None
    return _mean((beliefs[found.judged] * near[found.rows.value[found.judged]]).sum(axis=1))


def _by_appearances(found: SequenceBeliefs, gains: Floats) -> tuple[tuple[str, int, float], ...]:
    counts: Longs = found.rows.counts
    own = counts[found.rows.person[found.judged]]
    kept = []
    for label, low, high in APPEARANCES:
        here = (own >= low) & (own <= high)
        if here.any():
            kept.append((label, int(((counts >= low) & (counts <= high)).sum()), _mean(gains[here])))
    return tuple(kept)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0
