"""A policy: the record of what was promised about a series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from seriatim.model.adversary import NOBODY_KNOWN, Adversary
from seriatim.model.hierarchies import Hierarchy
from seriatim.model.methods import method_named

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class Role(StrEnum):
    """What a column is. Nothing defaults: an undeclared column is an error."""

    QUASI = "quasi"
    SENSITIVE = "sensitive"
    PLAIN = "plain"
    WEIGHT = "weight"
    """Of a survey: how many people a record stands for. Published as it is."""
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
    """What happens to a record whose value is not in its hierarchy or order."""

    ERROR = "error"
    SUPPRESS = "suppress"
    TOP = "top"


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """One ``[columns.NAME]`` of a policy."""

    name: str
    role: Role
    _: KW_ONLY
    kind: Kind | None = None
    hierarchy: Hierarchy | None = None
    order: tuple[str, ...] | None = None
    unit: str | None = None
    missing: Missing = Missing.ERROR
    on_unseen: Unseen = Unseen.ERROR
    bands: tuple[float, ...] | None = None
    """For numeric sensitive columns: the edges of the bands that are published instead of numbers."""
    rounding: float | None = None
    """For numbers: they are rounded to multiples of this before anything else."""
    level: int | None = None
    """For quasi-identifiers with a hierarchy: values are replaced by their labels at this level first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What every class must fulfil for one sensitive column. ``None`` requires nothing."""

    l: float | None = None  # noqa: E741 - the field's own name
    l_kind: str = "distinct"
    l_c: float | None = None
    t: float | None = None
    t_distance: str = "equal"
    alpha_k: float | None = None
    beta: float | None = None
    beta_kind: str | None = None
    delta: float | None = None
    value_bounds: Mapping[str, Sequence[float]] | None = None
    distribution_leakage: float | None = None
    entropy_leakage: float | None = None
    min_entropy_at: Mapping[str, float] | None = None
    max_hit_chance_at: Mapping[str, float] | None = None
    hit_chance_kind: str | None = None
    foreign: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    """Values of promises without a field here, by their key: those of other packages, and rows that need none."""

    def value_of(self, key: str) -> object:
        """Return the value of a key of the policy; None if it is not set."""
        return self.foreign.get(key) if key not in self.__slots__ else getattr(self, key)

    @property
    def beyond_l_and_t(self) -> dict[str, object]:
        """Return what else is set, by its key in the policy, for records and reports."""
        return _set_fields(self, ("l", "l_kind", "l_c", "t", "t_distance"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesTerms:
    """What ``[promise]`` requires of a whole series."""

    m: int | None = None
    """Values that stay possible for everyone."""
    n: int | Literal["choose"] | None = None
    """Groups of different releases differ in at least n people."""
    odds: float | None = None
    """How much the odds of a value with more than one m-th of the table may grow in a group."""
    j: float | None = None
    withheld_leak: float | None = None
    """How many times what a group may have of a value the people withheld may."""
    foreign: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    """Values of promises without a field here, by their key: those of other packages, and rows that need none."""

    @property
    def degree(self) -> int | None:
        """Return the degree n if it is a number; ``"choose"`` is resolved before anything is judged."""
        return self.n if isinstance(self.n, int) else None

    @property
    def stated(self) -> dict[str, object]:
        """Return what is set, by its key in the policy, for records and reports."""
        return _set_fields(self, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseTerms:
    """The ``[promise]`` of a policy: a conjunction, with nothing on by default."""

    k: int | None = None
    per_column: Mapping[str, Thresholds] = field(default_factory=lambda: MappingProxyType({}))
    series: SeriesTerms = field(default_factory=SeriesTerms)
    series_by_column: Mapping[str, SeriesTerms] = field(default_factory=lambda: MappingProxyType({}))
    """Sensitive columns for which ``[promise.COLUMN]`` says something else over the series, with all that holds."""

    @property
    def least_people(self) -> int:
        """Return how many people every class has at least: 1 if nothing is promised."""
        return 1 if self.k is None else self.k

    def series_of(self, column: str) -> SeriesTerms:
        """Return what is required of the series of one sensitive column."""
        return self.series_by_column.get(column, self.series)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefenceOptions:
    """Keys of ``[defence]`` that only some methods read. ``None`` leaves the method its default."""

    loss: str | None = None
    sticky: bool | None = None
    cohort_size: int | None = None
    relation: tuple[str, ...] | None = None
    leftovers: str | None = None
    cuts: str | None = None
    rate: float | None = None
    noise: Mapping[str, str] | None = None
    foreign: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    """Options without a field here, by their key: those of methods of other packages."""

    @property
    def stated(self) -> dict[str, object]:
        """Return what is set, by its key in the policy, for records and reports."""
        return _set_fields(self, ())


WITHHELD_FOR_NOW = 0.05
"""The share of people whom a serial method may withhold for now where the policy says nothing."""


@dataclass(frozen=True, slots=True)
class DefenceSettings:
    """The ``[defence]`` of a policy."""

    method: str
    suppress: float | None = None
    """The share of records that may be left out, where the policy says so."""
    mode: str | None = None
    form: str | None = None
    options: DefenceOptions = field(default_factory=DefenceOptions)

    @property
    def serial(self) -> bool:
        """Return whether the method looks back over the releases so far."""
        row = method_named(self.method)
        return row is not None and row.serial

    @property
    def rate(self) -> float | None:
        """Return the share of the records that the method draws; None if it draws no sample."""
        return self.options.rate if self._reads("rate") else None

    @property
    def noise(self) -> Mapping[str, str]:
        """Return the most that the method moves a value, by column; empty if it adds no noise."""
        amounts = self.options.noise if self._reads("noise") else None
        return {} if amounts is None else amounts

    @property
    def looks(self) -> str:
        """Return what the method looks at of who holds which value; empty if nothing of it decides who is together."""
        row = method_named(self.method)
        if row is None or (row.blind_cuts and self.options.cuts == "blind"):
            return ""
        return row.looks

    @property
    def leftovers(self) -> str | None:
        """Return what the policy wants done with whoever fits no group; None leaves the method its default."""
        return self.options.leftovers if self._reads("leftovers") else None

    def _reads(self, key: str) -> bool:
        row = method_named(self.method)
        return row is not None and row.reads(key)

    @property
    def compiled_ahead(self) -> tuple[str, ...]:
        """Return the steps of ``kernels.warm_up`` that the method's first use waits for."""
        row = method_named(self.method)
        return row.compiled_ahead if row is not None else ()

    @property
    def for_now(self) -> bool:
        """Return whether people who cannot be grouped are withheld and tried again in the next release."""
        return self.serial and self.leftovers != "suppress"

    @property
    def allowed(self) -> float:
        """Return the share of records that may be withheld: ``suppress``, else the default of the method."""
        if self.suppress is not None:
            return self.suppress
        if self.rate is not None:
            return 1.0 - self.rate  # who is not drawn is not published: that is the method
        return WITHHELD_FOR_NOW if self.for_now else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Roles, hierarchies, defence, promises and adversary of a series."""

    series: str
    columns: Mapping[str, ColumnRule]
    terms: PromiseTerms
    defence: DefenceSettings | None
    respondent: str | None = None
    people: str | None = None
    """The register of people that respondents are in, if it bears another name than their column."""
    epoch: int = 1
    publisher: str | None = field(default=None, compare=False)
    head: Path | None = field(default=None, compare=False)
    """The file outside the shelf that names the newest release; where it lies is no promise."""
    adversary: Adversary = NOBODY_KNOWN
    canonical: str = ""
    """The policy as canonical JSON, hierarchies as digests; equal policies have equal text."""
    digest: str = ""
    unread: tuple[str, ...] = field(default=(), compare=False)
    """Keys that are set but that the method does not read; the verdict says so."""

    def with_role(self, role: Role) -> tuple[ColumnRule, ...]:
        return tuple(rule for rule in self.columns.values() if rule.role is role)

    @property
    def quasi(self) -> tuple[ColumnRule, ...]:
        return self.with_role(Role.QUASI)

    @property
    def sensitive(self) -> tuple[ColumnRule, ...]:
        return self.with_role(Role.SENSITIVE)

    @property
    def register(self) -> str | None:
        """Return the register of people that respondents are in; two series of one register are about the same."""
        return self.people or self.respondent

    @property
    def looks_back(self) -> bool:
        """Return whether anything in the policy judges a release together with the earlier ones."""
        known = self.adversary
        return self.terms.series.m is not None or known.breach_share is not None or known.sure_share is not None


def _set_fields(settings: DataclassInstance, own: tuple[str, ...]) -> dict[str, object]:
    found: dict[str, object] = {}
    for one in fields(settings):
        value = getattr(settings, one.name)
        if one.name == "foreign":
            found |= value
        elif one.name not in own and value is not None:
            found[one.name] = value
    return found
