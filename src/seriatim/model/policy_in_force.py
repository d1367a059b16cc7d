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

from seriatim.model.adversary import NOBODY_KNOWN, Adversary
from seriatim.model.methods import Method, method_named
from seriatim.model.policy import Role, SeriesTerms

_NOT_IN_THE_TEXT = ("priors", "value_priors", "classes", "sequence")
"""What an adversary knows from files, or about people: the steward has it, the ledger has not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyInForce:
    """What the newest epoch of a series promises. Nothing is known of a series that was only imported."""

    method: str | None = None
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
    columns, by_column = whole.get("columns") or {}, promise.get("further_by_column") or {}
    return PolicyInForce(
        method=(whole.get("defence") or {}).get("method"),
        sensitive=tuple(name for name, rule in columns.items() if rule["role"] == Role.SENSITIVE),
        series=_series_terms(promise.get("further") or {}),
        series_by_column=MappingProxyType({name: _series_terms(own) for name, own in by_column.items()}),
        adversary=_adversary(known),
        has_priors=known.get("priors") is not None,
    )


def _series_terms(stated: Mapping[str, Any]) -> SeriesTerms:
    stated = {"odds" if key == "common" else key: value for key, value in stated.items()}  # as it was called before
    ours = {one.name for one in fields(SeriesTerms)} - {"foreign"}
    foreign = {key: value for key, value in stated.items() if key not in ours}
    return SeriesTerms(**{key: stated[key] for key in ours & stated.keys()}, foreign=MappingProxyType(foreign))


def _adversary(known: Mapping[str, Any]) -> Adversary:
    names = (one.name for one in fields(Adversary) if one.name not in _NOT_IN_THE_TEXT)
    stated = {name: known[name] for name in names if name in known}
    values: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in stated.items()}
    return Adversary(**values)
