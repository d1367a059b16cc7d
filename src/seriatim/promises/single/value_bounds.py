"""Bounds on the share of some values in every class: they may be guessed only so well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from seriatim.errors import Fault, PolicyError
from seriatim.model import Scale
from seriatim.model.class_counts import ValueCounts
from seriatim.model.scale import FloatArray
from seriatim.promises.single.class_bound import ClassBound


def value_bounds(column: str, bounds: Mapping[str, Sequence[float]]) -> ClassBound:
    """Return the promise that each named value has a share between low and high in every class.

    The figure is by how much a bound is missed. A low bound above 0 keeps the value from being ruled out, a high bound
    from being nearly certain.
    """

    def misses(seen: ValueCounts, scale: Scale) -> FloatArray:
        texts = scale.texts.to_pylist()
        unknown = sum(value not in texts for value in bounds)
        if unknown:
            where = f"[promise.{column}] value_bounds"
            raise PolicyError(Fault(where, f"{unknown} values are not in the column", "values of the column"))
        return _furthest_miss(seen, {texts.index(value): ends for value, ends in bounds.items()})

    detail = "largest distance of a bounded value's share to its bounds"
    return ClassBound(
        "value_bounds",
        column,
        threshold=0.0,
        figure=misses,
        detail=detail,
        by_margin=False,
        loosened="bounds wider by {value}",
    )


def _furthest_miss(seen: ValueCounts, bounds: Mapping[int, Sequence[float]]) -> FloatArray:
    worst = np.zeros(len(seen))
    for code, (low, high) in bounds.items():
        held = seen.value == code
        shares = np.zeros(len(seen))
        shares[seen.owner[held]] = seen.count[held] / seen.valued[seen.owner[held]]
        worst = np.maximum(worst, np.maximum(low - shares, shares - high))
    return np.where(seen.valued > 0, worst, np.nan)
