"""In every class, the sensitive column's distribution is close to the whole release's (t-closeness, Li et al. 2007)."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.check.tree_distance import tree_distances
from seriatim.model import Scale
from seriatim.model.class_counts import ValueCounts
from seriatim.model.scale import FloatArray
from seriatim.promises.single.class_bound import ClassBound, Figure, class_bound_figure


def closeness(column: str, t: float, t_distance: str = "equal") -> ClassBound:
    """Return the promise that no class is farther than t from the published margin, by a distance of the policy.

    ``equal``: total variation, half the L1 distance. ``ordered``: earth mover's distance on ranks, among the values of
    the declared order, or of the published table if none is declared. ``hierarchical``: earth mover's distance on the
    column's value tree.
    """
    figure: Figure = {"ordered": _ordered, "hierarchical": _hierarchical}.get(t_distance, class_bound_figure("tv"))
    detail = f"{t_distance} distance of the farthest class from the published margin"
    return ClassBound("t", column, threshold=t, figure=figure, detail=detail)


def _ordered(seen: ValueCounts, scale: Scale) -> FloatArray:
    # without a declared order a reader knows only the published values
    return (seen if scale.form == "set" else seen.shown_only()).figures["emd"]


def _hierarchical(seen: ValueCounts, scale: Scale) -> FloatArray:
    return np.asarray(tree_distances(seen.starts, seen.value, seen.count, seen.margin, scale.starts))
