"""In every class, the sensitive column's distribution is close to the whole release's.

By distance: t-closeness (Li et al. 2007). By the gain of a single value: (alpha, k)-anonymity (Wong et al. 2006),
beta-likeness (Cao and Karras 2012), delta-disclosure (Brickell and Shmatikov 2008). By how far a class moves a belief:
eps-distribution and alpha-entropy leakage (Ren and Li). A search cannot prune by the last: merging two classes can
raise the entropy leakage, and withholding records shifts the published margin that both are measured against.
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.check.class_figures import tree_distances
from seriatim.model import Scale
from seriatim.model.class_counts import ValueCounts
from seriatim.model.scale import FloatArray
from seriatim.promises.single.class_bound import MARGIN, ClassBound, Figure, figure_named


def closeness(column: str, t: float, t_distance: str = "equal") -> ClassBound:
    """Return the promise that no class is farther than t from the published margin, by a distance of the policy.

    ``equal``: total variation, half the L1 distance. ``ordered``: earth mover's distance on ranks, among the values of
    the declared order, or of the published table if none is declared. ``hierarchical``: earth mover's distance on the
    column's value tree.
    """
    figure: Figure = {"ordered": _ordered, "hierarchical": _hierarchical}.get(t_distance, figure_named("tv"))
    detail = f"{t_distance} distance of the farthest class from the published margin"
    return ClassBound("t", column, threshold=t, figure=figure, detail=detail)


def _ordered(seen: ValueCounts, scale: Scale) -> FloatArray:
    # without a declared order a reader knows only the published values
    return (seen if scale.form == "set" else seen.shown_only()).figures["emd"]


def _hierarchical(seen: ValueCounts, scale: Scale) -> FloatArray:
    return np.asarray(tree_distances(seen.starts, seen.value, seen.count, seen.margin, scale.starts))


def dominant_value_likeness(column: str, alpha: float) -> ClassBound:
    """Return the promise that no value has more than ``alpha`` of a class; the k of (alpha, k) is the promise k."""
    return ClassBound(
        "alpha_k",
        column,
        threshold=alpha,
        figure=figure_named("max_p"),
        detail="largest share of one value in a class",
        by_margin=False,
    )


def likeness(column: str, beta: float, beta_kind: str | None = None) -> ClassBound:
    """Return the promise ``beta`` of the kind in the policy; basic by default."""
    return (enhanced_likeness if beta_kind == "enhanced" else basic_likeness)(column, beta)


def basic_likeness(column: str, beta: float) -> ClassBound:
    """Return the promise that no value's share grows by more than ``beta`` times: (x - a) / a <= beta."""
    return ClassBound(
        "beta",
        column,
        threshold=beta,
        figure=figure_named("beta"),
        detail=f"basic: largest relative gain of a value; {MARGIN}",
    )


def enhanced_likeness(column: str, beta: float) -> ClassBound:
    """Return the promise (x - a) / a <= min(beta, -ln a): frequent values may gain less; beyond -ln a is infinite."""
    detail = f"enhanced: largest relative gain of a value, infinite above -ln of its share; {MARGIN}"
    return ClassBound("beta", column, threshold=beta, figure=figure_named("beta_enhanced"), detail=detail)


def disclosure_likeness(column: str, delta: float) -> ClassBound:
    """Return the promise |ln(x / a)| <= delta for every value; a value missing from a class breaks every delta."""
    detail = f"largest |ln| of a value's share in a class over its share in the release; {MARGIN}"
    return ClassBound("delta", column, threshold=delta, figure=figure_named("delta"), detail=detail)


def distribution_leakage(column: str, eps: float) -> ClassBound:
    """Return the promise that every class is within ``eps`` of the published margin, by Euclid (Definition 7)."""
    return ClassBound(
        "distribution_leakage",
        column,
        threshold=eps,
        figure=figure_named("l_d"),
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
