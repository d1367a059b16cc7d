"""Ways to make a draft from a view, a policy and where the series stands."""

from __future__ import annotations

from importlib import import_module

from seriatim.errors import Fault, PolicyError
from seriatim.ports import Defence

METHODS = {
    "median": ("seriatim.defences.single.median", "median"),
    "lattice": ("seriatim.defences.single.lattice.generalisation", "lattice"),
    "curve": ("seriatim.defences.single.curve.segments", "curve"),
    "invariant": ("seriatim.defences.series.request", "invariant"),
    "historical": ("seriatim.defences.series.request", "historical"),
    "lineage": ("seriatim.defences.series.request", "lineage"),
}
SERIAL = frozenset({"invariant", "historical", "lineage"})
"""Methods that look back: they need a respondent and the history of the series."""


def defence_named(method: str) -> Defence:
    """The defence a policy names; loaded only now, since each brings its own compiled kernels."""
    if method not in METHODS:
        known = ", ".join(METHODS)
        raise PolicyError(
            Fault("policy: defence.method", f"this version has no method {method!r}", known, "choose another")
        )
    module, name = METHODS[method]
    found: Defence = getattr(import_module(module), name)
    return found
