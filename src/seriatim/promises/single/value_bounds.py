"""Bounds on the share of some values in every class: they may be guessed only so well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from seriatim.errors import Fault, PolicyError
from seriatim.model.scale import FloatArray
from seriatim.promises.single.class_bound import ClassBound, ClassCounts


def value_bounds(column: str, bounds: Mapping[str, Sequence[float]]) -> ClassBound:
    """Return the promise that each named value has a share between low and high in every class.

    The figure is by how much a bound is missed. A low bound above 0 keeps the value from being ruled out, a high bound
    from being nearly certain.
    """

    def misses(seen: ClassCounts) -> FloatArray:
        unknown = sum(value not in seen.texts for value in bounds)
        if unknown:
            where = f"[promise.{column}] value_bounds"
            raise PolicyError(Fault(where, f"{unknown} values are not in the column", "values of the column"))
        return _furthest_miss(seen, bounds)

    detail = "largest distance of a bounded value's share to its bounds"
    return ClassBound(
        "value_bounds",
        column,
        threshold=0.0,
        measure=misses,
        detail=detail,
        by_margin=False,
        loosened="bounds wider by {value}",
    )


def _furthest_miss(seen: ClassCounts, bounds: Mapping[str, Sequence[float]]) -> FloatArray:
    tab = seen.tabulation
    owner = np.repeat(np.arange(len(tab.classes)), np.diff(tab.starts))
    sizes = np.bincount(owner, weights=tab.count, minlength=len(tab.classes))
    worst = np.zeros(len(tab.classes))
    for value, (low, high) in bounds.items():
        held = tab.value == seen.texts.index(value)
        shares = np.zeros(len(tab.classes))
        shares[owner[held]] = tab.count[held] / sizes[owner[held]]
        worst = np.maximum(worst, np.maximum(low - shares, shares - high))
    return np.where(sizes > 0, worst, np.nan)
