"""No class moves an adversary's belief too far: eps-distribution and alpha-entropy leakage (Ren and Li).

A search cannot prune by either: merging two classes can raise the entropy leakage, and withholding records shifts the
published margin that both are measured against.
"""

from __future__ import annotations

import numpy as np

from seriatim.model import Scale
from seriatim.model.class_counts import ValueCounts
from seriatim.model.scale import FloatArray
from seriatim.promises.single.class_bound import MARGIN, ClassBound, class_bound_figure


def distribution_leakage(column: str, eps: float) -> ClassBound:
    """Return the promise that every class is within ``eps`` of the published margin, by Euclid (Definition 7)."""
    return ClassBound(
        "distribution_leakage",
        column,
        threshold=eps,
        figure=class_bound_figure("l_d"),
        detail=f"Euclidean distance of the farthest class; {MARGIN}",
    )


def entropy_leakage(column: str, alpha: float) -> ClassBound:
    """Return the promise that every class's entropy is within ``alpha`` bits of the margin's (Definition 10)."""
    return ClassBound(
        "entropy_leakage",
        column,
        threshold=alpha,
        figure=_gap,
        detail=f"bits of certainty gained or lost in the worst class; {MARGIN}",
    )


def _gap(seen: ValueCounts, _: Scale) -> FloatArray:
    return np.abs(seen.figures["l_e"])
