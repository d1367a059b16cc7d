"""Epochs: a policy may change in the middle of a series only where it says so itself.

Inside an epoch every release was asked for by the same policy. A policy that changes must open the next
epoch; the history of the series goes on, so that promises over several releases still see all of them.
"""

from __future__ import annotations

import json
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.model.history import SeriesState
from seriatim.model.policy import Policy


def check_epoch(state: SeriesState, policy: Policy) -> None:
    """PolicyError when the series may not go on under this policy; publishing asks before any work."""
    current, asked = state.epoch, policy.epoch
    if asked not in (current, current + 1) or asked < 1:
        raise PolicyError(_wrong_epoch(current, asked))
    if asked == current and policy.digest != state.policy_digest:
        changed = changed_sections(state.policy, policy.canonical)
        where = ", ".join(f"[{name}]" for name in changed) or "policy"
        raise PolicyError(
            Fault(
                where,
                f"changed inside epoch {current} of series {policy.series!r}",
                "the policy of an epoch stays as it is",
                f"take the change back, or set epoch = {current + 1} in [series]: the history is kept",
            )
        )


def _wrong_epoch(current: int, asked: int) -> Fault:
    if current == 0:
        return Fault("[series] epoch", str(asked), "1", "a new series begins with epoch 1")
    return Fault(
        "[series] epoch",
        str(asked),
        f"{current} or {current + 1}",
        f"the series stands in epoch {current}; a changed policy opens the next one",
    )


def changed_sections(before: str | None, after: str) -> list[str]:
    """The names of the sections in which two canonical policies differ: ``promise``, ``columns.age`` ..."""
    old, new = _sections(before), _sections(after)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _sections(canonical: str | None) -> dict[str, Any]:
    try:
        whole = json.loads(canonical or "{}")
    except ValueError:
        return {}
    if not isinstance(whole, dict):
        return {}
    columns = whole.pop("columns", {})
    if isinstance(columns, dict):
        whole |= {f"columns.{name}": rule for name, rule in columns.items()}
    elif isinstance(columns, list):
        whole["columns"] = columns
    return whole
