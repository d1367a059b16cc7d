"""The thresholds of a policy, judged on a published table: which fail, in which classes, for how many people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from seriatim.model import Coded, ColumnRule, Draft, Finding, Grouping, Policy, Scale
from seriatim.model.audited import Audited
from seriatim.model.draft import TABLE
from seriatim.model.history import no_history
from seriatim.model.policy import SeriesTerms
from seriatim.model.tabulation import Membership
from seriatim.promises import promises_of


def findings_of(audited: Audited, policy: Policy, membership: Membership) -> tuple[Finding, ...]:
    """One finding per threshold that the policy names; none when it only says roles."""
    if policy.terms.k is None and not policy.terms.per_column:
        return ()
    alone = replace(policy, terms=replace(policy.terms, series=SeriesTerms()))
    whole = _as_draft(audited, audited.table, {})
    columns = {column.name: column for column in audited.sensitive}
    drafts = {name: _said(audited, column) for name, column in columns.items()}
    found = []
    for promise in promises_of(alone):
        name = getattr(promise, "column", None)
        finding = promise.check(whole if name is None else drafts[name], no_history())
        if name is not None:
            finding = _renumbered(finding, columns[name], membership)
        found.append(finding)
    return tuple(found)


def not_judged(policy: Policy) -> tuple[str, ...]:
    """Laws about a series, which one table can neither keep nor break."""
    return tuple(
        f"{name}: a law about a series, not judged on a single table" for name in sorted(policy.terms.series.stated)
    )


def reading_of(rule: ColumnRule, scale: Scale) -> dict[str, str]:
    """Which distances were taken, and in which order the values stand."""
    order = "as numbers or dates" if scale.form == "interval" else "in alphabetical order"
    if rule.order is not None:
        order = "in the policy's order"
    elif rule.hierarchy is not None:
        order = "in the hierarchy's order"
    return {"tv": "equal distance", "emd": f"ordered distance, values {order}"}


def carried(audited: Audited, policy: Policy) -> tuple[str, ...]:
    """A respondent column in a table that is to leave the house."""
    if policy.respondent is None or policy.respondent not in audited.table.column_names:
        return ()
    return (f"the column {policy.respondent} says whom a record is about: with it every record is found",)


def grouped(audited: Audited) -> tuple[str, ...]:
    """A release of a series: what a class is there, and whom it counts."""
    if [column.name for column in audited.given] != ["group"]:
        return ()
    return (
        "classes are the groups of the release; counterfeit rows count as records, as no reader of the table can tell "
        "them apart, so classes may look larger, and fewer people withheld, than is so",
    )


def _renumbered(finding: Finding, column: Coded, membership: Membership) -> Finding:
    """Classes were numbered among the records whose value is published; the audit counts them among all."""
    said = column.codes >= 0
    if said.all() or not finding.classes:
        return finding
    numbers, first = np.unique(membership.of_record[said], return_index=True)
    in_order = numbers[np.argsort(first)]
    return replace(finding, classes=tuple(int(in_order[c]) for c in finding.classes))


def _as_draft(audited: Audited, table: pa.Table, sensitive: Mapping[str, Coded]) -> Draft:
    """A published table in the form that promises judge; nothing but the table is known of it."""
    nobody = Grouping(np.zeros(table.num_rows, dtype=np.int32), 1)
    return Draft(
        files={TABLE: table},
        quasi=tuple(c.name for c in audited.given),
        sensitive=sensitive,
        grouping=nobody,
        generalised=(),
        groups=pa.table({}),
    )


def _said(audited: Audited, column: Coded) -> Draft:
    """The records whose value is published: the others say nothing about this column."""
    said = column.codes >= 0
    if said.all():
        return _as_draft(audited, audited.table, {column.name: column})
    shown = Coded(column.name, column.codes[said], column.scale)
    return _as_draft(audited, audited.table.filter(pa.array(said)), {column.name: shown})
