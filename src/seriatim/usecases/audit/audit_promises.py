"""The promises of a policy that an audit checks, and what it says about the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seriatim.model import ColumnRule, Policy, Scale
from seriatim.model.audited import AuditedTable
from seriatim.model.policy import SeriesTerms
from seriatim.ports import TablePromise
from seriatim.promises import promises_of


def audit_promises_of(policy: Policy) -> tuple[TablePromise, ...]:
    """Return the promises of a policy that one table can keep or break; none if it has only roles."""
    foreign = SeriesTerms(foreign=policy.terms.series.foreign)
    alone = replace(policy, terms=replace(policy.terms, series=foreign))
    return tuple(promise for promise in promises_of(alone) if promise.judges == "table")


def audit_promises_not_judged(policy: Policy, promises: Sequence[TablePromise]) -> tuple[str, ...]:
    """Name the promises about a series, which one table can neither keep nor break."""
    judged = {promise.rule for promise in promises}
    names = sorted(name for name in policy.terms.series.stated if name not in judged)
    return tuple(f"{name}: a promise about a series, not judged on a single table" for name in names)


def audit_promise_reading(rule: ColumnRule, scale: Scale) -> dict[str, str]:
    """Return which distances were used, and the order of the values."""
    order = "as numbers or dates" if scale.form == "interval" else "in alphabetical order"
    if rule.order is not None:
        order = "in the policy's order"
    elif rule.hierarchy is not None:
        order = "in the hierarchy's order"
    return {"tv": "equal distance", "emd": f"ordered distance, values {order}"}


def audit_promises_carried(audited: AuditedTable, policy: Policy) -> tuple[str, ...]:
    """Return a note if the table has the respondent column."""
    if policy.respondent is None or policy.respondent not in audited.table.column_names:
        return ()
    return (f"the column {policy.respondent} identifies the person each record is about: with it, nobody is protected",)


def audit_promises_grouped(audited: AuditedTable) -> tuple[str, ...]:
    """Return a note for a release of a series: what a class is there, and whom it counts."""
    if [column.name for column in audited.given] != ["group"]:
        return ()
    return (
        "classes are the groups of the release; counterfeit rows count as records, as no reader of the table can tell "
        "them apart, so classes may look larger, and fewer people withheld, than they are",
    )
