"""A policy: the record of what was asked of a series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from seriatim.model.hierarchies.paths import Hierarchy
from seriatim.model.priors import PriorSets


class Role(StrEnum):
    """What a column is. Nothing defaults: an undeclared column is an error."""

    QUASI = "quasi"
    SENSITIVE = "sensitive"
    PLAIN = "plain"
    DROP = "drop"


class Kind(StrEnum):
    """How the values of a column are read."""

    NUMBER = "number"
    CATEGORY = "category"
    DATE = "date"


class Missing(StrEnum):
    """What happens to a record with an empty cell in a quasi or sensitive column."""

    ERROR = "error"
    VALUE = "value"
    SUPPRESS = "suppress"


class Unseen(StrEnum):
    """What happens to a record whose value its hierarchy or order does not know."""

    ERROR = "error"
    SUPPRESS = "suppress"
    TOP = "top"


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """One ``[columns.NAME]`` of a policy."""

    name: str
    role: Role
    kind: Kind | None = None
    hierarchy: Hierarchy | None = None
    order: tuple[str, ...] | None = None
    unit: str | None = None
    missing: Missing = Missing.ERROR
    on_unseen: Unseen = Unseen.ERROR


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What is demanded of every class for one sensitive column. ``None`` demands nothing."""

    l: float | None = None  # noqa: E741 - the field's own name
    l_kind: str = "distinct"
    l_c: float | None = None
    t: float | None = None
    t_distance: str = "equal"
    further: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Thresholds of further promises by their name in the policy (alpha_k, beta, delta, ...)."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The ``[promise]`` of a policy: a conjunction, nothing on by default."""

    k: int | None = None
    per_column: Mapping[str, Thresholds] = field(default_factory=lambda: MappingProxyType({}))
    further: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Promises about the whole release or series (m, n, j, ...), by their name in the policy."""


SERIAL_METHODS = ("invariant", "historical", "lineage", "sequence")


@dataclass(frozen=True, slots=True)
class DefenceSettings:
    """The ``[defence]`` of a policy."""

    method: str
    suppress: float = 0.0
    mode: str | None = None
    form: str | None = None
    further: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def bounded(self) -> bool:
        """Whether ``suppress`` bounds who is left out: serial methods withhold for now, so only more than 0 does."""
        for_now = self.method in SERIAL_METHODS and self.further.get("when_not_eligible") != "suppress"
        return self.suppress > 0 or not for_now


@dataclass(frozen=True, slots=True)
class Policy:
    """Roles, hierarchies, defence, promises and adversary of a series."""

    series: str
    columns: Mapping[str, ColumnRule]
    terms: Terms
    defence: DefenceSettings | None
    respondent: str | None = None
    epoch: int = 1
    adversary: Mapping[str, Any] | None = None
    canonical: str = ""
    """The policy as canonical JSON, hierarchies as digests; equal policies have equal text."""
    digest: str = ""
    priors: PriorSets | None = field(default=None, compare=False)
    """What the adversary holds possible of somebody beforehand; who is named may change without a new epoch."""
    unread: tuple[str, ...] = field(default=(), compare=False)
    """What was asked for and the method does not read; the verdict says so."""

    def with_role(self, role: Role) -> tuple[ColumnRule, ...]:
        return tuple(rule for rule in self.columns.values() if rule.role is role)

    @property
    def quasi(self) -> tuple[ColumnRule, ...]:
        return self.with_role(Role.QUASI)

    @property
    def sensitive(self) -> tuple[ColumnRule, ...]:
        return self.with_role(Role.SENSITIVE)
