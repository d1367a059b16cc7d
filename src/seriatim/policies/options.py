"""Which keys each method reads. A key that nothing reads would pass for a wish that was heard, so it is a fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seriatim.model.policy import Terms
from seriatim.policies.faults import Faults
from seriatim.policies.shapes import DefenceShape

SERIAL_METHODS = ("invariant", "historical", "lineage", "sequence")
_EVERY_METHOD = ("method", "suppress", "form")
_OWN = {
    "median": ("mode",),
    "lattice": ("loss",),
    "curve": (),
    "invariant": ("when_not_eligible",),
    "historical": ("mode", "sticky", "group_cap", "when_not_eligible"),
    "lineage": ("when_not_eligible",),
}


def check_options(section: Mapping[str, Any], faults: Faults) -> None:
    """The keys of [defence] against what its method reads; also where other keys have faults of their own."""
    method = section.get("method")
    own = _OWN.get(method) if isinstance(method, str) else None
    if own is None:
        return  # no method, or one kept for later: told elsewhere
    known = (*_EVERY_METHOD, *own)
    for key in section:
        if key in DefenceShape.model_fields and key not in known:
            others = [name for name, keys in _OWN.items() if key in keys]
            remedy = f"remove it, or choose a method that does: {', '.join(others)}" if others else "remove it"
            faults.add(("defence", key), f"method {method} does not read defence.{key}", ", ".join(known), remedy)
    if section.get("form") == "buckets":
        faults.add(("defence", "form"), 'defence.form "buckets" is kept for later', "intervals", "remove it")


def check_unread(
    section: Mapping[str, Any] | None, terms: Terms, adversary: Mapping[str, Any] | None, faults: Faults
) -> None:
    """Keys of [promise] and [adversary] that no law of this method reads."""
    if section is None:
        return
    if section.get("method") == "lineage" and "n" in terms.further:
        found = "promise.n is asked, but in a lineage nobody ever changes group, so it has no degree"
        faults.add(("promise", "n"), found, "n with invariant or historical", "remove n")
    alone = "m" not in terms.further and ("promise", "m") not in faults.faulty
    if alone and (adversary or {}).get("lifespan") is not None and (adversary or {}).get("breach") is None:
        found = "adversary.lifespan is given, but nothing is promised over releases that reads it"
        faults.add(("adversary", "lifespan"), found, "beside promise.m", "promise m or remove lifespan")
