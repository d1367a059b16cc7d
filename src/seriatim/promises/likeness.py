"""No value becomes much likelier in a class than it is in the whole release.

(alpha, k)-anonymity (Wong et al. 2006), beta-likeness (Cao and Karras 2012), delta-disclosure (Brickell and
Shmatikov 2008).
"""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.model import Draft, Finding, History
from seriatim.promises.counting import Bound, Counted, counted, figure


@dataclass(frozen=True, slots=True)
class DominantValue:
    """No value makes up more than ``alpha`` of a class; the k of (alpha, k) is the promise k beside it."""

    column: str
    alpha: float
    rule: str = "alpha_k"

    def check(self, draft: Draft, history: History) -> Finding:  # noqa: ARG002 - a law of one release
        return self.judge(counted(draft, self.column))

    def judge(self, seen: Counted) -> Finding:
        detail = "largest share of one value in a class"
        return Bound(self.rule, self.column, self.alpha, detail).judge(seen, figure("max_p"))


@dataclass(frozen=True, slots=True)
class BasicLikeness:
    """No value's share grows by more than ``beta`` times its share in the release: (x - a) / a <= beta."""

    column: str
    beta: float
    rule: str = "beta"

    def check(self, draft: Draft, history: History) -> Finding:  # noqa: ARG002
        return self.judge(counted(draft, self.column))

    def judge(self, seen: Counted) -> Finding:
        detail = "basic: largest relative gain of a value"
        return Bound(self.rule, self.column, self.beta, detail).judge(seen, figure("beta"))


@dataclass(frozen=True, slots=True)
class EnhancedLikeness:
    """(x - a) / a <= min(beta, -ln a): frequent values may gain less. A gain above -ln a counts as infinite."""

    column: str
    beta: float
    rule: str = "beta"

    def check(self, draft: Draft, history: History) -> Finding:  # noqa: ARG002
        return self.judge(counted(draft, self.column))

    def judge(self, seen: Counted) -> Finding:
        detail = "enhanced: largest relative gain of a value, infinite above -ln of its share"
        return Bound(self.rule, self.column, self.beta, detail).judge(seen, figure("beta_enhanced"))


@dataclass(frozen=True, slots=True)
class Disclosure:
    """|ln(x / a)| <= delta for every value; a value missing from a class breaks every delta."""

    column: str
    delta: float
    rule: str = "delta"

    def check(self, draft: Draft, history: History) -> Finding:  # noqa: ARG002
        return self.judge(counted(draft, self.column))

    def judge(self, seen: Counted) -> Finding:
        detail = "largest |ln| of a value's share in a class over its share in the release"
        return Bound(self.rule, self.column, self.delta, detail).judge(seen, figure("delta"))
