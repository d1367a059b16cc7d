"""The laws about one sensitive column beyond l and t, by their names in the policy."""

from __future__ import annotations

from collections.abc import Iterator

from seriatim.model import Thresholds
from seriatim.ports import Promise
from seriatim.promises.bounds import ValueBounds
from seriatim.promises.leaking import DistributionLeakage, EntropyLeakage
from seriatim.promises.likeness import BasicLikeness, Disclosure, DominantValue, EnhancedLikeness

NAMES = frozenset({"alpha_k", "beta", "delta", "value_bounds", "distribution_leakage", "entropy_leakage"})


def further_promises(column: str, asked: Thresholds) -> Iterator[Promise]:
    """What ``Thresholds.further`` asks of a column; names it does not know are left to others."""
    further = {name: value for name, value in asked.further.items() if name in NAMES and value is not None}
    if "alpha_k" in further:
        yield DominantValue(column, further["alpha_k"])
    if "beta" in further:
        enhanced = asked.further.get("beta_kind") == "enhanced"
        yield (EnhancedLikeness if enhanced else BasicLikeness)(column, further["beta"])
    if "delta" in further:
        yield Disclosure(column, further["delta"])
    if "value_bounds" in further:
        yield ValueBounds(column, further["value_bounds"])
    if "distribution_leakage" in further:
        yield DistributionLeakage(column, further["distribution_leakage"])
    if "entropy_leakage" in further:
        yield EntropyLeakage(column, further["entropy_leakage"])
