"""One row per promise. Everything that needs to know about a promise or its policy key asks here.

Promises of other packages have no row: they say themselves what they judge.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from seriatim.model.policy_keys import (
    CHANCE,
    SHARE,
    Form,
    PolicySection,
    Setting,
    number_above,
    number_from,
    whole_from,
)


class PromiseSubject(StrEnum):
    """What a promise looks at, and so which protocol of ``ports.promise`` it follows."""

    TABLE = "table"
    SERIES = "series"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseRow(Setting):
    """What is known about a promise without loading it: its key, and who judges it."""

    section: PolicySection = PolicySection.PROMISE
    judges: PromiseSubject
    per_column: bool = False
    """Whether every sensitive column is judged, with its own thresholds if [promise.COLUMN] sets them."""
    per_series: bool = False
    """Whether a sensitive column with a table of its own may have its own value."""
    home: str = ""
    """``module:function``; empty for a key that is reserved and refused. Per column the function takes the column, the
    value and the parameters and returns a promise; others take the policy and return any number of promises."""
    parameters: tuple[Setting, ...] = ()
    """Keys of the same section that say more about it."""
    beside: str = ""
    """The key without which it is not judged."""
    findings: tuple[str, ...] = ()
    """The rules that its findings name, if not the key itself."""
    for_users: bool = False
    """Whether it is a promise to users of the table, rather than to the people in it."""

    @property
    def rules(self) -> tuple[str, ...]:
        return self.findings or (self.key,)


def _known(key: str, summary: str, **takes: Any) -> Setting:
    return Setting(key=key, section=PolicySection.ADVERSARY, summary=summary, **takes)


def _kind(key: str, summary: str, *words: str) -> Setting:
    return Setting(key=key, section=PolicySection.PROMISE, words=words, summary=summary)


ELIGIBLE = "eligible_table"
"""The promise that a verdict shows only when it is broken."""
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
        home=_SERIES + "kept_over_time:rules_for_m",
        per_series=True,
        parameters=(
            Setting(
                key="odds",
                section=PolicySection.PROMISE,
                limits=number_from(1, 5),
                values="; used only together with m",
                summary="values above 1/`m` are allowed: in a group the odds of a value grow at most so many times",
            ),
        ),
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
        words=("choose",),
        values=', or "choose"',
        per_series=True,
        summary="groups of different releases differ in at least n people",
        home=_SERIES + "kept_over_time:rules_for_n",
        beside="m",
        findings=("hc_safety", "union_safety", "subtraction"),
    ),
    PromiseRow(
        key="lifespan",
        section=PolicySection.ADVERSARY,
        judges=PromiseSubject.SERIES,
        limits=whole_from(1),
        values=": releases a person stays",
        summary="nobody is published more often than this",
        home=_SERIES + "kept_over_time:lifespan_bound",
        beside="m",
    ),
    PromiseRow(
        key="j",
        judges=PromiseSubject.SERIES,
        limits=number_from(0),
        summary="beliefs about the people of a class before the release differ little",
        home=_SERIES + "divergence:beliefs_alike",
    ),
    PromiseRow(
        key="withheld_leak",
        judges=PromiseSubject.SERIES,
        limits=number_from(1),
        per_series=True,
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
        parameters=(
            _kind("l_kind", "how diversity is counted", "distinct", "entropy", "recursive"),
            Setting(
                key="l_c",
                section=PolicySection.PROMISE,
                limits=number_above(0),
                values=", with l_kind = recursive only",
                summary="the factor c of recursive (c, l)-diversity; required with and only with it",
            ),
        ),
    ),
    PromiseRow(
        key="t",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_from(0, 1),
        summary="every class's mix of values is close to the whole table's",
        home=_SINGLE + "closeness:closeness",
        parameters=(
            _kind(
                "t_distance",
                "`ordered` needs a number, a date or an `order`; `hierarchical` a `hierarchy` of the sensitive column",
                "equal",
                "ordered",
                "hierarchical",
            ),
        ),
    ),
    PromiseRow(
        key="alpha_k",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_above(0, 1),
        summary="no value has a larger share of a class",
        home=_SINGLE + "closeness:dominant_value_likeness",
    ),
    PromiseRow(
        key="beta",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_above(0),
        summary="no value becomes much likelier in a class than it is in the table",
        home=_SINGLE + "closeness:likeness",
        parameters=(
            _kind("beta_kind", "whether gains of frequent values are bounded more closely", "basic", "enhanced"),
        ),
    ),
    PromiseRow(
        key="delta",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_above(0),
        summary="no value's share in a class is far from its share in the table, as a log ratio",
        home=_SINGLE + "closeness:disclosure_likeness",
    ),
    PromiseRow(
        key="value_bounds",
        judges=PromiseSubject.TABLE,
        per_column=True,
        form=Form.SHARES,
        summary="named values keep their share within bounds in every class",
        home=_SINGLE + "value_bounds:value_bounds",
    ),
    PromiseRow(
        key="distribution_leakage",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_from(0),
        summary="no class moves a belief far, as a distance",
        home=_SINGLE + "closeness:distribution_leakage",
    ),
    PromiseRow(
        key="entropy_leakage",
        judges=PromiseSubject.TABLE,
        per_column=True,
        limits=number_from(0),
        values=", in bits",
        summary="no class changes certainty by much",
        home=_SINGLE + "closeness:entropy_leakage",
    ),
    PromiseRow(
        key="min_entropy_at",
        judges=PromiseSubject.TABLE,
        per_column=True,
        form=Form.ENTROPIES,
        values='a table of "width" = bits from 0; a width is "5", "5%", "±5", "±5%" or "±5% or 100"',
        summary="entropy is left to an attacker who is content with a window of that width",
        home=_SINGLE + "equivocation:least_entropy",
    ),
    PromiseRow(
        key="max_hit_chance_at",
        judges=PromiseSubject.TABLE,
        per_column=True,
        form=Form.CHANCES,
        values='a table of "width" = chance from 0 to 1; a width is "5", "5%", "±5", "±5%" or "±5% or 100"',
        summary="a window of that width rarely holds the value, beyond what it holds in the whole table",
        home=_SINGLE + "equivocation:hit_chance",
        parameters=(
            _kind(
                "hit_chance_kind",
                "`lift`: the chance counts beyond the whole table's own; `chance`: the plain chance",
                "lift",
                "chance",
            ),
        ),
    ),
    PromiseRow(
        key="priors",
        section=PolicySection.ADVERSARY,
        judges=PromiseSubject.SERIES,
        form=Form.PRIORS,
        summary="m values stay possible for everyone, leaving out those their prior excludes",
        home=_SERIES + "possible_values:possible_values",
        findings=("possible_values",),
    ),
    PromiseRow(
        key="coverage",
        section=PolicySection.NOWHERE,
        judges=PromiseSubject.SERIES,
        values="nothing: every serial release is judged by it",
        summary="boxes cover their people, everyone appears once, counterfeits are counted correctly",
        home=_SERIES + "coverage:coverage",
    ),
    PromiseRow(
        key=ELIGIBLE,
        section=PolicySection.NOWHERE,
        judges=PromiseSubject.SERIES,
        values="nothing: a method without room for values above one m-th is always judged by it, cohort without odds",
        summary="at most one m-th of the people share a value",
        home=_SERIES + "eligible:eligible_table",
    ),
    PromiseRow(
        key="suppress",
        section=PolicySection.DEFENCE,
        judges=PromiseSubject.TABLE,
        limits=SHARE,
        summary="at most this share of the records is withheld",
        home=_SINGLE + "crowd:suppression",
        for_users=True,
    ),
    PromiseRow(
        key="breach",
        section=PolicySection.ADVERSARY,
        judges=PromiseSubject.SERIES,
        limits=CHANCE,
        summary="the closed-form chance of a breach over a lifespan stays below this",
        home=_SERIES + "kept_over_time:closed_form",
    ),
    PromiseRow(
        key="breach_share",
        section=PolicySection.ADVERSARY,
        judges=PromiseSubject.SERIES,
        limits=SHARE,
        summary="a simulated attack on all releases breaches at most this share of people",
        home=_SERIES + "breach_bounds:breach_share",
    ),
    PromiseRow(
        key="sure_share",
        section=PolicySection.ADVERSARY,
        judges=PromiseSubject.SERIES,
        limits=SHARE,
        summary="at most this share of people is ever inferred with certainty, looking back over all releases",
        home=_SERIES + "breach_bounds:sure_share",
        parameters=(
            _known(
                "sure",
                "beliefs above it are certain; 0.9 if omitted",
                limits=number_above(0, below=1),
                values=": beliefs above it are certain",
            ),
            _known(
                "raised",
                "certainty counts only where its odds are this many times those before any release; 10 if omitted",
                limits=number_from(1),
                values=": how many times the odds must have grown",
            ),
            _known(
                "harmless",
                'values whose disclosure does no harm, such as `["0"]`, as they are in the column',
                form=Form.VALUES,
                values="a list of values whose disclosure does no harm",
            ),
            _known(
                "window",
                "for values in an order, so many bands on either side of the truth count as right; 0 if omitted",
                limits=whole_from(0, 1000),
                values=": how many bands either side of the truth count as near it",
            ),
        ),
    ),
)
PROMISES: dict[str, PromiseRow] = {row.key: row for row in _ROWS}
"""The rows by key, in the order in which they are judged."""


def promise_keys(*, per_column: bool) -> tuple[str, ...]:
    """Return the keys of [promise] with their parameters: those that may differ by column, or the others."""
    return _with_parameters(row for row in _rows_of_promise() if row.per_column is per_column)


def promise_keys_over_releases() -> frozenset[str]:
    """Return the keys of [promise], with their parameters, that cover several releases."""
    return frozenset(_with_parameters(row for row in _rows_of_promise() if row.judges is PromiseSubject.SERIES))


def _rows_of_promise() -> list[PromiseRow]:
    return [row for row in PROMISES.values() if row.section is PolicySection.PROMISE]


def _with_parameters(rows: Iterable[PromiseRow]) -> tuple[str, ...]:
    return tuple(one.key for row in rows for one in (row, *row.parameters))


def promise_rules_for_users() -> frozenset[str]:
    """Return the rules of promises to users of the table."""
    return frozenset(rule for row in PROMISES.values() if row.for_users for rule in row.rules)
