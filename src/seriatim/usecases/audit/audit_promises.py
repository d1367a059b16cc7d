"""The promises of a policy that an audit checks, the private list of who breaks them, and what is said of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from seriatim.model import ColumnRule, Policy, Scale
from seriatim.model.audited import AuditedTable
from seriatim.model.policy import SeriesTerms
from seriatim.ports import TablePromise
from seriatim.promises import promises_of
from seriatim.promises.single.class_bound import worst_classes_all_named

if TYPE_CHECKING:
    from seriatim.usecases.audit.audit import Audit

_HEAD = {"row": pa.int64(), "promise": pa.string(), "column": pa.string(), "class": pa.int64()}


def about_one_table(policy: Policy) -> tuple[TablePromise, ...]:
    """Return the promises of a policy that one table can keep or break; none if it has only roles."""
    foreign = SeriesTerms(foreign=policy.terms.series.foreign)
    alone = replace(policy, terms=replace(policy.terms, series=foreign))
    return tuple(promise for promise in promises_of(alone) if promise.judges == "table")


def not_judged(policy: Policy, promises: Sequence[TablePromise]) -> tuple[str, ...]:
    """Name the promises about a series, which one table can neither keep nor break."""
    judged = {promise.rule for promise in promises}
    names = sorted(name for name in policy.terms.series.stated if name not in judged)
    return tuple(f"{name}: a promise about a series, not judged on a single table" for name in names)


def distances_read(rule: ColumnRule, scale: Scale) -> dict[str, str]:
    """Return which distances were used, and the order of the values."""
    order = "as numbers or dates" if scale.form == "interval" else "in alphabetical order"
    if rule.order is not None:
        order = "in the policy's order"
    elif rule.hierarchy is not None:
        order = "in the hierarchy's order"
    return {"tv": "equal distance", "emd": f"ordered distance, values {order}"}


def respondent_noted(audited: AuditedTable, policy: Policy) -> tuple[str, ...]:
    """Return a note if the table has the respondent column."""
    if policy.respondent is None or policy.respondent not in audited.table.column_names:
        return ()
    return (f"the column {policy.respondent} identifies the person each record is about: with it, nobody is protected",)


def groups_noted(audited: AuditedTable) -> tuple[str, ...]:
    """Return a note for a release of a series: what a class is there, and whom it counts."""
    if [column.name for column in audited.given] != ["group"]:
        return ()
    return (
        "classes are the groups of the release; counterfeit rows count as records, as no reader of the table can tell "
        "them apart, so classes may look larger, and fewer people withheld, than they are",
    )


def private_list(audit: Audit) -> pa.Table:
    """Return a row per record and cause, for the publisher's eyes only: its row from 1, promise, column and class.

    A policy without promises lists records that are alone in their class, and those whose class has one value. A
    respondent is named if the table has their column.
    """
    of_record, who = audit.membership.of_record, audit.policy.respondent
    causes = _broken(audit) if audit.promises else _plainly(audit)
    found = [(record + 1, *cause, int(of_record[record])) for numbers, *cause in causes for record in numbers]
    found.sort(key=lambda row: (row[0], row[1], row[2] or ""))
    columns = list(zip(*found, strict=True)) or [()] * len(_HEAD)
    table = pa.table({name: pa.array(cells, kind) for (name, kind), cells in zip(_HEAD.items(), columns, strict=True)})
    if who is None or who not in audit.audited.table.column_names:
        return table
    rows = np.array(columns[0], dtype=np.int64) - 1
    return table.append_column("respondent", audit.audited.table.column(who).take(pa.array(rows)))


def _broken(audit: Audit) -> Iterator[tuple[list[int], str, str | None]]:
    for promise in audit.promises:
        with worst_classes_all_named():
            finding = promise.check(audit.counts)
        if not finding.kept:
            hit = np.isin(audit.membership.of_record, finding.classes)
            yield np.flatnonzero(hit).tolist(), finding.rule, finding.column


def _plainly(audit: Audit) -> Iterator[tuple[list[int], str, str | None]]:
    of_record, sizes = audit.membership.of_record, audit.counts.sizes
    yield np.flatnonzero(sizes[of_record] == 1).tolist(), "alone", None
    for column in audit.audited.sensitive:
        one = (np.diff(audit.counts.values[column.name].starts) == 1) & (sizes > 1)
        yield np.flatnonzero(one[of_record] & (column.codes >= 0)).tolist(), "one value", column.name
