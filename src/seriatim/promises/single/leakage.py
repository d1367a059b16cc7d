"""No class moves an adversary's belief too far: eps-distribution and alpha-entropy leakage (Ren and Li).

A search cannot prune by either: merging two classes can raise the entropy leakage, and withholding records shifts the
published margin that both are measured against.
"""

from __future__ import annotations

import numpy as np

from seriatim.model.scale import FloatArray
from seriatim.promises.single.class_bound import ClassBound, ClassCounts, class_bound_figure


def distribution_leakage(column: str, eps: float) -> ClassBound:
    """Return the promise that every class is within ``eps`` of the published margin, by Euclid (Definition 7)."""
    return ClassBound(
        "distribution_leakage",
        column,
        threshold=eps,
        measure=class_bound_figure("l_d"),
        detail="Euclidean distance of the farthest class",
    )


def entropy_leakage(column: str, alpha: float) -> ClassBound:
    """Return the promise that every class's entropy is within ``alpha`` bits of the margin's (Definition 10)."""
    return ClassBound(
        "entropy_leakage",
        column,
        threshold=alpha,
        measure=_gap,
        detail="bits of certainty gained or lost in the worst class",
    )


def _gap(seen: ClassCounts) -> FloatArray:
    return np.abs(class_bound_figure("l_e")(seen))
