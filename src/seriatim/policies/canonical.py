"""Writes a policy as canonical text: equal policies, however written, have equal text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from seriatim.model.policy import ColumnRule, DefenceSettings, Policy, PromiseTerms, Thresholds


def recorded_policy(policy: Policy, adversary: Mapping[str, Any] | None = None) -> Policy:
    """Return the policy with its canonical text and digest; ``adversary`` is its section as written, without people.

    The epoch is omitted: it is the steward's word that a change is meant, not a change.
    """
    content = {
        "series": {"name": policy.series, "respondent": policy.respondent},
        "columns": {name: _column(rule) for name, rule in policy.columns.items()},
        "promise": _terms(policy.terms),
        "defence": _defence(policy.defence) if policy.defence else None,
        "adversary": _plain(adversary) if adversary is not None else None,
    }
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return replace(policy, canonical=text, digest=digest)


def _column(rule: ColumnRule) -> dict[str, Any]:
    return {
        "role": rule.role.value,
        "kind": rule.kind.value if rule.kind else None,
        "hierarchy": rule.hierarchy.digest if rule.hierarchy else None,
        "order": list(rule.order) if rule.order is not None else None,
        "unit": rule.unit,
        "missing": rule.missing.value,
        "on_unseen": rule.on_unseen.value,
        # written only if set: earlier policies keep their digest
        **({} if rule.bands is None else {"bands": _plain(rule.bands)}),
        **({} if rule.rounding is None else {"rounding": _plain(rule.rounding)}),
        **({} if rule.level is None else {"level": rule.level}),
    }


def _terms(terms: PromiseTerms) -> dict[str, Any]:
    per_column = {name: _thresholds(thresholds) for name, thresholds in terms.per_column.items()}
    over_time = {name: _plain(series.stated) for name, series in terms.series_by_column.items()}
    return {
        "k": terms.k,
        "per_column": per_column,
        "further": _plain(terms.series.stated),
        **({"further_by_column": over_time} if over_time else {}),
    }


def _thresholds(thresholds: Thresholds) -> dict[str, Any]:
    return {
        "l": thresholds.l,
        "l_kind": thresholds.l_kind,
        "l_c": thresholds.l_c,
        "t": thresholds.t,
        "t_distance": thresholds.t_distance,
        "further": _plain(thresholds.beyond_l_and_t),
    }


def _defence(settings: DefenceSettings) -> dict[str, Any]:
    return {
        "method": settings.method,
        "suppress": settings.suppress or 0.0,
        **({"nobody_withheld": True} if settings.for_now and settings.suppress == 0 else {}),
        "mode": settings.mode,
        "form": settings.form,
        "further": _plain(settings.options.stated),
    }


def _plain(value: Any) -> Any:
    """Return frozen mappings and tuples in JSON's types; 3.0 and 3 are the same number."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)
