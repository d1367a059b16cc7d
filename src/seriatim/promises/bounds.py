"""Some values may be guessed only so well: bounds on their share in every class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from seriatim.errors import Fault, PolicyError
from seriatim.model import Draft, Finding, History
from seriatim.model.scale import FloatArray
from seriatim.promises.counting import Bound, Counted, counted


@dataclass(frozen=True, slots=True)
class ValueBounds:
    """Each named value has a share between low and high in every class; the figure is by how much one is missed.

    A low bound above 0 forbids that the value be ruled out, a high bound that it be nearly certain.
    """

    column: str
    bounds: Mapping[str, Sequence[float]] = field(default_factory=lambda: MappingProxyType({}))
    rule: str = "value_bounds"

    def check(self, draft: Draft, history: History) -> Finding:  # noqa: ARG002 - a law of one release
        return self.judge(counted(draft, self.column))

    def judge(self, seen: Counted) -> Finding:
        unknown = [value for value in self.bounds if value not in seen.texts]
        if unknown:
            where = f"promise.{self.column}.value_bounds"
            raise PolicyError(Fault(where, f"{len(unknown)} values are not in the column", "values of the column"))
        detail = "largest distance of a bounded value's share to its bounds"
        return Bound(self.rule, self.column, 0.0, detail, "bounds wider by {value}").judge(seen, self._misses)

    def _misses(self, seen: Counted) -> FloatArray:
        tab = seen.tabulation
        owner = np.repeat(np.arange(len(tab.classes)), np.diff(tab.starts))
        sizes = np.bincount(owner, weights=tab.count, minlength=len(tab.classes))
        worst = np.zeros(len(tab.classes))
        for value, (low, high) in self.bounds.items():
            held = tab.value == seen.texts.index(value)
            shares = np.zeros(len(tab.classes))
            shares[owner[held]] = tab.count[held] / sizes[owner[held]]
            worst = np.maximum(worst, np.maximum(low - shares, shares - high))
        return np.where(sizes > 0, worst, np.nan)
