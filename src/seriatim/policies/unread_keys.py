"""Keys of a policy that its method ignores, reported so that nobody assumes they took effect.

It is no fault: trying another method must not need a new policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seriatim.model.adversary import Adversary
from seriatim.model.methods import MethodDegree, method_named
from seriatim.model.policy import PromiseTerms


def unread_keys(defence: Mapping[str, Any] | None, terms: PromiseTerms, adversary: Adversary) -> tuple[str, ...]:
    """Return a sentence for each key of the policy that neither its method nor any promise reads."""
    row = method_named(str((defence or {}).get("method")))
    if defence is None or row is None:
        return ()
    unread = [key for key in defence if key not in ("method", "suppress") and not row.reads(key)]
    found = [f"[defence] {key} is not read by method {row.name}" for key in unread]
    if row.degree is MethodDegree.MEANINGLESS and terms.series.n is not None:
        found.append(f"[promise] n is not judged: in a {row.name} nobody ever changes group, so it has no degree")
    if terms.series.odds is not None and (not row.reads_odds or terms.series.m is None):
        found.append(f"[promise] odds is not read by method {row.name}" if terms.series.m else "[promise] odds needs m")
    if terms.series.m is None and adversary.lifespan is not None and adversary.breach is None:
        found.append("[adversary] lifespan is not read: nothing is promised over releases")
    return tuple(found)
