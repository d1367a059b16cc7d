"""No value becomes much likelier in a class than it is in the whole release.

(alpha, k)-anonymity (Wong et al. 2006), beta-likeness (Cao and Karras 2012), delta-disclosure (Brickell and
Shmatikov 2008).
"""

from __future__ import annotations

from seriatim.promises.single.class_bound import MARGIN, ClassBound, class_bound_figure


def dominant_value_likeness(column: str, alpha: float) -> ClassBound:
    """Return the promise that no value has more than ``alpha`` of a class; the k of (alpha, k) is the promise k."""
    return ClassBound(
        "alpha_k",
        column,
        threshold=alpha,
        figure=class_bound_figure("max_p"),
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
        figure=class_bound_figure("beta"),
        detail=f"basic: largest relative gain of a value; {MARGIN}",
    )


def enhanced_likeness(column: str, beta: float) -> ClassBound:
    """Return the promise (x - a) / a <= min(beta, -ln a): frequent values may gain less; beyond -ln a is infinite."""
    detail = f"enhanced: largest relative gain of a value, infinite above -ln of its share; {MARGIN}"
    return ClassBound("beta", column, threshold=beta, figure=class_bound_figure("beta_enhanced"), detail=detail)


def disclosure_likeness(column: str, delta: float) -> ClassBound:
    """Return the promise |ln(x / a)| <= delta for every value; a value missing from a class breaks every delta."""
    detail = f"largest |ln| of a value's share in a class over its share in the release; {MARGIN}"
    return ClassBound("delta", column, threshold=delta, figure=class_bound_figure("delta"), detail=detail)
