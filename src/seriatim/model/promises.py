"""One row per promise. Everything that needs to know about a promise or its policy key asks here.

Promises of other packages have no row: they say themselves what they judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from seriatim.model.methods import quoted_methods
from seriatim.model.number_limits import (
    CHANCE,
    PARAMETER_LIMITS,
    SHARE,
    NumberLimits,
    number_above,
    number_from,
    whole_from,
)


class PromiseSubject(StrEnum):
    """What a promise looks at, and so which protocol of ``ports.promise`` it follows."""

    TABLE = "table"
    SERIES = "series"


class PromiseSection(StrEnum):
    """The section of the policy that has a promise."""

    PROMISE = "promise"
    DEFENCE = "defence"
    ADVERSARY = "adversary"
    NOWHERE = "nowhere"
    """Kept whatever the policy says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseRow:
    """What is known about a promise without loading it."""

    key: str
    """Its name in the policy."""
    section: PromiseSection = PromiseSection.PROMISE
    judges: PromiseSubject
    per_column: bool = False
    """Whether every sensitive column is judged, with its own thresholds if [promise.COLUMN] sets them."""
    limits: NumberLimits | None = None
    """What the number may be; None if the key is no number."""
    values: str = ""
    """What the key may say, if it is no number, or what messages say after the limits."""
    summary: str
    home: str = ""
    """``module:function``; empty for a key that is reserved and refused. Per column the function takes the column, the
    value and the parameters and returns a promise; others take the policy and return any number of promises."""
    parameters: tuple[str, ...] = ()
    """Keys of the same section that say more about it."""
    beside: str = ""
    """The key without which it is not judged."""
    findings: tuple[str, ...] = ()
    """The rules that its findings name, if not the key itself."""
    for_users: bool = False
    """Whether it is a promise to users of the table, rather than to the people in it."""

    @property
    def allowed(self) -> str:
        """Return what the key may say; messages repeat it."""
        return f"{self.limits.words if self.limits else ''}{self.values}"

    @property
    def rules(self) -> tuple[str, ...]:
        return self.findings or (self.key,)


_SINGLE, _SERIES = "seriatim.promises.single.", "seriatim.promises.series."
_ROWS = (
    PromiseRow(
        key="k",
        judges=PromiseSubject.TABLE,
        limits=whole_from(1),
        summary="every class has at least k people",
        home=_SINGLE + "crowd:crowd",
    ),
    PromiseRow(
        key="m",
        judges=PromiseSubject.SERIES,
        limits=whole_from(2),
        summary="m values stay possible for everyone over all releases; the method says in which form",
        home=_SERIES + "kept_over_time:kept_over_time_by_m",
        parameters=("odds",),
        findings=(
            "m_uniqueness",
            "m_invariance",
            "weak_m_uniqueness",
            "weak_m_invariance",
            "fair_cells",
        ),
    ),
    PromiseRow(
        key="n",
        judges=PromiseSubject.SERIES,
        limits=whole_from(1, up_to="m"),
        values=', or "choose"',
        summary="groups of different releases differ in at least n people",
        home=_SERIES + "kept_over_time:kept_over_time_by_n",
        beside="m",
        findings=("hc_safety", "union_safety", "subtraction"),
    ),
    PromiseRow(
        key="lifespan",
        section=PromiseSection.ADVERSARY,
        judges=PromiseSubject.SERIES,
        limits=whole_from(1),
        values=": releases a person stays",
        summary="nobody is published more often than this",
        home=_SERIES + "kept_over_time:kept_over_time_by_lifespan",
        beside="m",
    ),
    PromiseRow(
        key="group_cap",
        section=PromiseSection.DEFENCE,
        judges=PromiseSubject.SERIES,
        limits=whole_from(1),
        values=": different groups a person may ever be in",
        summary="nobody is in more different groups than this",
        home=_SERIES + "kept_over_time:kept_over_time_by_group_cap",
        beside="m",
    ),
    PromiseRow(
        key="j",
        judges=PromiseSubject.SERIES,
        limits=number_from(0),
        summary="beliefs about the people of a class before the release differ little",
        home=_SERIES + "divergence:series_divergence",
        parameters=("j_base",),
    ),
    PromiseRow(
        key="withheld_leak",
        judges=PromiseSubject.SERIES,
        limits=number_from(1),
        summary="being withheld does not reveal a value: none is much more frequent there than a group may have it",
        home=_SERIES + "withheld_leak:withheld_leak",
    ),
    PromiseRow(
        key="l",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_from(1),
        values="; whole when l_kind is distinct",
        summary="every class holds at least l values",
        home=_SINGLE + "diversity:diversity",
        parameters=("l_kind", "l_c"),
    ),
    PromiseRow(
        key="t",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_from(0, 1),
        summary="every class's mix of values is close to the whole table's",
        home=_SINGLE + "closeness:closeness",
        parameters=("t_distance",),
    ),
    PromiseRow(
        key="alpha_k",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_above(0, 1),
        summary="no value has a larger share of a class",
        home=_SINGLE + "likeness:dominant_value_likeness",
    ),
    PromiseRow(
        key="beta",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_above(0),
        summary="no value becomes much likelier in a class than it is in the table",
        home=_SINGLE + "likeness:likeness",
        parameters=("beta_kind",),
    ),
    PromiseRow(
        key="delta",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_above(0),
        summary="no value's share in a class is far from its share in the table, as a log ratio",
        home=_SINGLE + "likeness:disclosure_likeness",
    ),
    PromiseRow(
        key="value_bounds",
        judges=PromiseSubject.TABLE,
        per_column=True,
        values="a table of value = [low, high], shares from 0 to 1",
        summary="named values keep their share within bounds in every class",
        home=_SINGLE + "value_bounds:value_bounds",
    ),
    PromiseRow(
        key="distribution_leakage",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_from(0),
        summary="no class moves a belief far, as a distance",
        home=_SINGLE + "leakage:distribution_leakage",
    ),
    PromiseRow(
        key="entropy_leakage",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_from(0),
        values=", in bits",
        summary="no class changes certainty by much",
        home=_SINGLE + "leakage:entropy_leakage",
    ),
    PromiseRow(
        key="min_area",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_from(0),
        values=", in value units x bits",
        summary="a number stays hidden in a wide range; only beside max_hit_chance_at",
        home=_SINGLE + "equivocation:equivocation_area_bound",
    ),
    PromiseRow(
        key="min_entropy_at",
        judges=PromiseSubject.TABLE,
        per_column=True,
        values='a table of "width" = bits from 0; a width is "5", "5%", "±5", "±5%" or "±5% or 100"',
        summary="entropy is left to an attacker who is content with a window of that width",
        home=_SINGLE + "equivocation:equivocation_entropy_bound",
    ),
    PromiseRow(
        key="max_hit_chance_at",
        judges=PromiseSubject.TABLE,
        per_column=True,
        values='a table of "width" = chance from 0 to 1; a width is "5", "5%", "±5", "±5%" or "±5% or 100"',
        summary="a window of that width rarely holds the value, beyond what it holds in the whole table",
        home=_SINGLE + "equivocation:equivocation_hit_chance_bound",
        parameters=("hit_chance_kind",),
    ),
    PromiseRow(
        key="priors",
        section=PromiseSection.ADVERSARY,
        judges=PromiseSubject.SERIES,
        values="a file of respondent,value lines, or a table id = [values]",
        summary="m values stay possible for everyone, leaving out those their prior excludes",
        home=_SERIES + "possible_values:possible_values",
        findings=("possible_values",),
    ),
    PromiseRow(
        key="coverage",
        section=PromiseSection.NOWHERE,
        judges=PromiseSubject.SERIES,
        values="nothing: every serial release is judged by it",
        summary="boxes cover their people, everyone appears once, counterfeits are counted correctly",
        home=_SERIES + "coverage:coverage",
    ),
    PromiseRow(
        key="eligible_table",
        section=PromiseSection.NOWHERE,
        judges=PromiseSubject.SERIES,
        values=f"nothing: method {quoted_methods(lambda row: row.needs_eligible)} is always judged by it, "
        f"{quoted_methods(lambda row: row.reads_odds)} without odds",
        summary="at most one m-th of the people share a value",
        home=_SERIES + "eligible:eligible_table",
    ),
    PromiseRow(
        key="suppress",
        section=PromiseSection.DEFENCE,
        judges=PromiseSubject.TABLE,
        limits=SHARE,
        summary="at most this share of the records is withheld",
        home=_SINGLE + "suppression:suppression",
        for_users=True,
    ),
    PromiseRow(
        key="breach",
        section=PromiseSection.ADVERSARY,
        judges=PromiseSubject.SERIES,
        limits=CHANCE,
        summary="the closed-form chance of a breach over a lifespan stays below this",
        home=_SERIES + "breach_bounds:breach_bound_chance",
    ),
    PromiseRow(
        key="breach_share",
        section=PromiseSection.ADVERSARY,
        judges=PromiseSubject.SERIES,
        limits=SHARE,
        summary="a simulated attack on all releases breaches at most this share of people",
        home=_SERIES + "breach_bounds:breach_share",
    ),
    PromiseRow(
        key="sure_share",
        section=PromiseSection.ADVERSARY,
        judges=PromiseSubject.SERIES,
        limits=SHARE,
        summary="at most this share of people is ever inferred with certainty, looking back over all releases",
        home=_SERIES + "sure_bounds:sure_share",
        parameters=("sure", "raised", "harmless", "window"),
    ),
)
PROMISES: dict[str, PromiseRow] = {row.key: row for row in _ROWS}
"""The rows by key, in the order in which they are judged."""


def promise_key_limits(key: str) -> NumberLimits | None:
    """Return the limits of a key of the policy; None if it is no number."""
    return PROMISES[key].limits if key in PROMISES else PARAMETER_LIMITS.get(key)


def promise_keys(*, per_column: bool) -> tuple[str, ...]:
    """Return the keys of [promise] with their parameters: those that may differ by column, or the others."""
    rows = [row for row in PROMISES.values() if row.section is PromiseSection.PROMISE and row.per_column is per_column]
    return tuple(key for row in rows for key in (row.key, *row.parameters))


def promise_keys_over_releases() -> frozenset[str]:
    """Return the keys of [promise], with their parameters, that cover several releases."""
    rows = [
        row
        for row in PROMISES.values()
        if row.section is PromiseSection.PROMISE and row.judges is PromiseSubject.SERIES
    ]
    return frozenset(key for row in rows for key in (row.key, *row.parameters))


def promise_rules_for_users() -> frozenset[str]:
    """Return the rules of promises to users of the table."""
    return frozenset(rule for row in PROMISES.values() if row.for_users for rule in row.rules)
