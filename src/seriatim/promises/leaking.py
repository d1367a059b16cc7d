"""No class moves an adversary's belief too far: eps-distribution and alpha-entropy leakage (Ren and Li).

Neither is a law that a search may prune by: merging two classes can raise the entropy leakage, and withholding
records moves the published margin that both are measured against.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.model import Draft, Finding, History
from seriatim.model.scale import FloatArray
from seriatim.promises.counting import Bound, Counted, counted, figure


@dataclass(frozen=True, slots=True)
class DistributionLeakage:
    """The Euclidean distance of every class to the published margin is at most ``eps`` (Definition 7)."""

    column: str
    eps: float
    rule: str = "distribution_leakage"

    def check(self, draft: Draft, history: History) -> Finding:  # noqa: ARG002 - a law of one release
        return self.judge(counted(draft, self.column))

    def judge(self, seen: Counted) -> Finding:
        detail = "Euclidean distance of the furthest class"
        return Bound(self.rule, self.column, self.eps, detail).judge(seen, figure("l_d"))


@dataclass(frozen=True, slots=True)
class EntropyLeakage:
    """The entropy of every class is within ``alpha`` bits of the margin's, either way (Definition 10)."""

    column: str
    alpha: float
    rule: str = "entropy_leakage"

    def check(self, draft: Draft, history: History) -> Finding:  # noqa: ARG002
        return self.judge(counted(draft, self.column))

    def judge(self, seen: Counted) -> Finding:
        detail = "bits of certainty gained or lost in the worst class"
        return Bound(self.rule, self.column, self.alpha, detail).judge(seen, _gap)


def _gap(seen: Counted) -> FloatArray:
    return np.abs(figure("l_e")(seen))
