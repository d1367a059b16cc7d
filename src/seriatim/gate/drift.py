"""Baselines change: how far a new version stands from the old one, and what was released under it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.gate.baseline import Baseline
from seriatim.gate.inputs import LongArray
from seriatim.gate.rules import GateRules, rules_asked
from seriatim.gate.standings import Standing, standing_of


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """``bits`` from the old baseline to the new, the chance of as much by sampling, and what no longer holds."""

    bits: float
    p_value: float
    largest_change: float
    """Of a single probability."""
    broken: tuple[str, ...]
    """Tests that what was released fails under the new version; nothing can be called back."""

    @property
    def advice(self) -> str:
        if self.broken:
            return "freeze: what was released is no longer safe by " + ", ".join(self.broken)
        return "re-judge under the new version" if self.p_value < 0.05 else "no drift beyond chance"


def drift(
    old: Baseline,
    new: Baseline,
    counts: LongArray,
    tests: tuple[str, ...],
    alpha: float,
    rules: GateRules | None = None,
) -> Drift:
    """Compare two versions over the same values of X, and judge |X| x |Y| released counts under the new one.

    ``rules`` are the new version's, where they are stored; else they are made from tests and level.
    """
    from scipy.special import chdtrc

    if old.attributes != new.attributes or old.targets != new.targets:
        raise InputError(Fault("baseline", "other values, ranges or targets than before", "the same, counted anew"))
    p, q = old.probabilities, new.probabilities
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = float(np.where(q > 0, q * np.log2(q / p), 0.0).sum())
    g = 2 * np.log(2) * bits / (1 / old.n_records + 1 / new.n_records)
    p_value = float(chdtrc(len(p) - 1, g)) if np.isfinite(g) else 0.0
    gone = (counts.sum(axis=1) > 0) & (q == 0)
    if bool(gone.any()):
        return Drift(bits, p_value, float(np.abs(p - q).max()), tuple(tests))
    asked = rules or rules_asked(new, None, tests, alpha, "smallest", "simulated", None, None)
    found: tuple[Standing, ...] = standing_of(counts, asked)
    return Drift(bits, p_value, float(np.abs(p - q).max()), tuple(each.test for each in found if not each.safe))
