"""Epochs: a policy may change during a series only if it says so itself.

All releases of an epoch have the same policy. A changed policy must start the next epoch; the history of the series
continues, so that promises over several releases still see all of them.
"""

from __future__ import annotations

import json
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.model.history import SeriesState
from seriatim.model.policy import Policy


def check_epoch(state: SeriesState, policy: Policy) -> None:
    """Raise PolicyError if the series may not continue under this policy. Publishing calls this before any work."""
    current, stated = state.epoch, policy.epoch
    if stated not in (current, current + 1) or stated < 1:
        raise PolicyError(_wrong_epoch(current, stated))
    if stated == current and policy.digest != state.policy_digest:
        changed = _changed_sections(state.policy, policy.canonical)
        where = ", ".join(f"[{name}]" for name in changed) or "policy"
        raise PolicyError(
            Fault(
                where,
                f"changed inside epoch {current} of series {policy.series!r}",
                "one policy per epoch",
                f"undo the change, or set [series] epoch = {current + 1}; the history is kept",
            )
        )


def check_epoch_columns(state: SeriesState, policy: Policy) -> None:
    """Raise PolicyError if a sensitive column seems to have another name than before.

    Earlier releases count by the name of the column: under another name, nobody would look at them any more.
    """
    serial = policy.defence is not None and policy.defence.serial
    if not state.n_releases or not (serial or policy.looks_back):
        return
    rules = {name: rule for name, rule in _sections(state.policy).items() if isinstance(rule, dict)}
    before = {name.removeprefix("columns.") for name, rule in rules.items() if rule.get("role") == "sensitive"}
    now = {rule.name for rule in policy.sensitive}
    if before and now - before and before - now:
        gone, new = ", ".join(sorted(before - now)), ", ".join(sorted(now - before))
        remedy = "keep the name under which it was published, add a column in one epoch, or start a new series"
        raise PolicyError(Fault("[columns]", f"sensitive {new} instead of {gone}", "the same names", remedy))


def _wrong_epoch(current: int, stated: int) -> Fault:
    if current == 0:
        return Fault("[series] epoch", str(stated), "1", "a new series starts with epoch 1")
    return Fault(
        "[series] epoch",
        str(stated),
        f"{current} or {current + 1}",
        f"the series is in epoch {current}; a changed policy starts the next one",
    )


def _changed_sections(before: str | None, after: str) -> list[str]:
    """Return the names of the sections in which two canonical policies differ: ``promise``, ``columns.age`` ..."""
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
