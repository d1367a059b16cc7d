"""The policy that a series is published under, as far as its ledger knows it.

The ledger keeps a policy as canonical text, without the people whom its files name. Whoever judges a delivery or
forecasts a series reads it here, as values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from seriatim.errors import Fault, PolicyError
from seriatim.model.adversary import NOBODY_KNOWN, Adversary
from seriatim.model.history import SeriesState
from seriatim.model.methods import Method, method_named
from seriatim.model.policy import Policy, Role, SeriesTerms

_NOT_IN_THE_TEXT = ("priors", "known", "value_priors", "classes", "sequence")
"""What an adversary knows from files, or about people: the steward has it, the ledger has not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyInForce:
    """What the newest epoch of a series promises. Nothing is known of a series that was only imported."""

    method: str | None = None
    register: str | None = None
    """The list of people that respondents are in; two series of one register are about the same people."""
    sensitive: tuple[str, ...] = ()
    series: SeriesTerms = field(default_factory=SeriesTerms)
    series_by_column: Mapping[str, SeriesTerms] = field(default_factory=lambda: MappingProxyType({}))
    adversary: Adversary = NOBODY_KNOWN
    """Without what it knows from files."""
    has_priors: bool = False
    """Whether the attacker knows what is possible for people whom the ledger does not name."""

    @property
    def row(self) -> Method | None:
        return None if self.method is None else method_named(self.method)

    def series_of(self, column: str | None) -> SeriesTerms:
        """Return what is required of the series of one sensitive column, or of any."""
        return self.series if column is None else self.series_by_column.get(column, self.series)


def policy_in_force(canonical: str | None) -> PolicyInForce:
    """Read the canonical text of a policy; None if the series has none."""
    whole = json.loads(canonical or "{}")
    promise, known = whole.get("promise") or {}, whole.get("adversary") or {}
    columns, series, by_column = (
        whole.get("columns") or {},
        whole.get("series") or {},
        promise.get("further_by_column") or {},
    )
    return PolicyInForce(
        method=(whole.get("defence") or {}).get("method"),
        register=series.get("people") or series.get("respondent"),
        sensitive=tuple(name for name, rule in columns.items() if rule["role"] == Role.SENSITIVE),
        series=_series_terms(promise.get("further") or {}),
        series_by_column=MappingProxyType({name: _series_terms(own) for name, own in by_column.items()}),
        adversary=_adversary(known),
        has_priors=any(known.get(key) is not None for key in ("priors", "known")),
    )


def _series_terms(stated: Mapping[str, Any]) -> SeriesTerms:
    # older ledgers have odds by the name that it had before
    stated = {"odds" if key == "common" else key: value for key, value in stated.items()}
    ours = {one.name for one in fields(SeriesTerms)} - {"foreign"}
    foreign = {key: value for key, value in stated.items() if key not in ours}
    return SeriesTerms(**{key: stated[key] for key in ours & stated.keys()}, foreign=MappingProxyType(foreign))


def _adversary(known: Mapping[str, Any]) -> Adversary:
    names = (one.name for one in fields(Adversary) if one.name not in _NOT_IN_THE_TEXT)
    stated = {name: known[name] for name in names if name in known}
    values: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in stated.items()}
    return Adversary(**values)


# All releases of an epoch have the same policy; a changed one must start the next epoch. The history of the series
# continues, so that promises over several releases still see all of them.
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
