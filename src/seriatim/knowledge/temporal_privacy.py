"""What differential privacy of single releases is worth against someone who knows how values follow each other.

Every release spends epsilon on everyone. An attacker who knows that values stay, or move in known ways, learns about a
person's value at one time from all releases: the earlier ones (backward) and the later ones (forward). Cao, Yoshikawa,
Xiao and Xiong (2017, 2019) bound both by recursions, B_t = L(B_{t-1}) + epsilon_t and F_t = L(F_{t+1}) + epsilon_t, and
their sum less epsilon_t is the temporal leakage. L(a) is the largest logarithm of q.x / d.x, for two rows q and d of a
transition matrix and any x whose entries differ by a factor e^a at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Floats
from seriatim.knowledge.sequence_model import SequenceModel

_ROUNDS = 100_000
_STILL = 1e-13


class Growth(NamedTuple):
    """What a leakage becomes over one step, and the two sums of the rows from which that follows."""

    leakage: float
    q: float
    d: float


@dataclass(frozen=True, slots=True)
class TemporalPrivacy:
    """The leakage about each release, in the order of releases."""

    epsilons: tuple[float, ...]
    backward: tuple[float, ...]
    forward: tuple[float, ...]
    limits: tuple[float, float]
    """What backward and forward approach if releases with the first epsilon never end; infinite without a bound."""

    @property
    def total(self) -> tuple[float, ...]:
        """Return what all releases together leak about the value at each of them."""
        return tuple(b + f - e for b, f, e in zip(self.backward, self.forward, self.epsilons, strict=True))


def leakage_over_time(model: SequenceModel, epsilons: Sequence[float]) -> TemporalPrivacy:
    """Return what releases with these epsilons leak to someone who knows the single steps of a model."""
    forth = _rows_of(model.value_level)
    back = _rows_of((model.margin[:, None] * forth).T)
    backward = _recursion(back, epsilons)
    forward = _recursion(forth, epsilons[::-1])[::-1]
    limits = (limit_of(back, epsilons[0]), limit_of(forth, epsilons[0])) if epsilons else (0.0, 0.0)
    return TemporalPrivacy(tuple(epsilons), tuple(backward), tuple(forward), limits)


def _rows_of(table: Floats) -> Floats:
    """Return a table whose rows sum to 1; a value that nobody comes from, or leaves, may have any other beside it."""
    sums = table.sum(axis=1, keepdims=True)
    rows: Floats = np.where(sums > 0, table / np.where(sums > 0, sums, 1.0), 1.0 / len(table))
    return rows


def _recursion(rows: Floats, epsilons: Sequence[float]) -> list[float]:
    found: list[float] = []
    for epsilon in epsilons:
        found.append(epsilon + (growth(rows, found[-1]).leakage if found else 0.0))
    return found


def growth(rows: Floats, leakage: float) -> Growth:
    """Return L of a leakage for a transition matrix: the worst over all ordered pairs of rows."""
    best = Growth(0.0, 0.0, 0.0)
    for first in range(len(rows)):
        for second in range(len(rows)):
            if first != second:
                found = _growth_of(rows[first], rows[second], leakage)
                best = max(best, found, key=lambda one: one.leakage)
    return best


def _growth_of(first: Floats, second: Floats, leakage: float) -> Growth:
    """Return L for one pair, by dropping entries until each of those left raises the ratio (their Algorithm 1)."""
    rest = float(np.exp(-leakage))  # (q (e^a - 1) + 1) / (d (e^a - 1) + 1), both sides times e^-a: no overflow
    chosen = first > second
    while True:
        q, d = float(first[chosen].sum()), float(second[chosen].sum())
        grown = q * (1 - rest) + rest
        if d == 0:
            return Growth(float(np.log(grown)) + leakage, q, d)
        ratio = grown / (d * (1 - rest) + rest)
        kept = chosen & (first > ratio * second)
        if (kept == chosen).all():
            return Growth(float(np.log(ratio)), q, d)
        chosen = kept


def limit_of(rows: Floats, epsilon: float) -> float:
    """Return what the recursion approaches with one epsilon for ever: the closed form of the pair that decides there.

    Infinite if a value tells the value before it for certain (q = 1, d = 0), or if the sums leave no bound.
    """
    leakage = epsilon
    for _ in range(_ROUNDS):
        step = growth(rows, leakage)
        bound = _closed_form(step.q, step.d, epsilon)
        # a pair that decides at its own limit decides for ever after: L is the largest of functions that only rise
        if np.isinf(bound) or growth(rows, bound).leakage + epsilon <= bound + _STILL * max(bound, 1.0):
            return bound
        leakage = max(step.leakage + epsilon, bound)
    return leakage


def _closed_form(q: float, d: float, epsilon: float) -> float:
    """Return the fixed point of a = log((q (e^a - 1) + 1) / (d (e^a - 1) + 1)) + epsilon; infinite if there is none."""
    grown = float(np.exp(epsilon))
    if d > 0:
        half = d + q * grown - 1
        root = float(np.sqrt(half**2 + 4 * d * grown * (1 - q)))
        if half < 0:  # the same without the difference of two nearly equal numbers
            return float(np.log(2 * grown * (1 - q) / (root - half)))
        return float(np.log(half + root) - np.log(2 * d))
    left = 1 - q * grown
    return float(np.log((1 - q) * grown / left)) if left > 1e-12 else float("inf")
