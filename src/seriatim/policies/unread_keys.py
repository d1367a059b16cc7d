"""Which keys each method reads. A key that nothing reads would pass for a wish that was heard, so the verdict says so.

It is no fault: methods are one word of a policy away from each other, and trying another must not need a new policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seriatim.model.policy import Terms

_EVERY_METHOD = ("method", "suppress", "form")
_OWN = {
    "median": ("mode",),
    "lattice": ("loss",),
    "curve": (),
    "invariant": ("when_not_eligible",),
    "historical": ("mode", "sticky", "group_cap", "when_not_eligible"),
    "lineage": ("when_not_eligible", "lineage_size"),
}


def unread_keys(
    defence: Mapping[str, Any] | None, terms: Terms, adversary: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """A sentence for each key of the policy that neither its method nor any law reads."""
    method = (defence or {}).get("method")
    if defence is None or method not in _OWN:
        return ()
    known = (*_EVERY_METHOD, *_OWN[method])
    found = [f"[defence] {key} is not read by method {method}" for key in defence if key not in known]
    if method == "lineage" and "n" in terms.further:
        found.append("[promise] n is not judged: in a lineage nobody ever changes group, so it has no degree")
    known_now = adversary or {}
    if "m" not in terms.further and known_now.get("lifespan") is not None and known_now.get("breach") is None:
        found.append("[adversary] lifespan is not read: nothing is promised over releases")
    return tuple(found)
