"""Checks the promises of a policy on a published table: which are broken, in which classes, for how many people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seriatim.model import CodedColumn, ColumnRule, Finding, Policy, Scale
from seriatim.model.audited import AuditedTable
from seriatim.model.classes import Classes
from seriatim.model.policy import SeriesTerms
from seriatim.model.published import PublishedTable
from seriatim.promises import promises_of


def audit_promise_findings(audited: AuditedTable, policy: Policy, classes: Classes) -> tuple[Finding, ...]:
    """Return a finding per promise of the policy; none if it has only roles."""
    whole = PublishedTable(classes=classes, sensitive={column.name: column for column in audited.sensitive})
    said = {column.name: whole.where_said(column.name) for column in audited.sensitive}
    found = []
    for promise in promises_of(_alone(policy)):
        if promise.judges != "table":
            continue
        finding = promise.check(whole if promise.column is None else said[promise.column])
        if promise.column is not None:
            finding = _renumbered(finding, whole.sensitive[promise.column], classes)
        found.append(finding)
    return tuple(found)


def _alone(policy: Policy) -> Policy:
    """Return the policy without its promises about a series."""
    foreign = SeriesTerms(foreign=policy.terms.series.foreign)
    return replace(policy, terms=replace(policy.terms, series=foreign))


def audit_promises_not_judged(policy: Policy) -> tuple[str, ...]:
    """Name the promises about a series, which one table can neither keep nor break."""
    judged = {promise.rule for promise in promises_of(_alone(policy)) if promise.judges == "table"}
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


def _renumbered(finding: Finding, column: CodedColumn, classes: Classes) -> Finding:
    """Renumber classes, which were numbered among records with a published value, among all records."""
    said = column.codes >= 0
    if said.all() or not finding.classes:
        return finding
    numbers, first = np.unique(classes.of_record[said], return_index=True)
    in_order = numbers[np.argsort(first)]
    return replace(finding, classes=tuple(int(in_order[c]) for c in finding.classes))
