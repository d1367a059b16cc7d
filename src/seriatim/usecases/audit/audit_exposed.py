"""The private list of an audit: which records are in a class that breaks a promise. For the publisher's eyes only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from seriatim.model import Policy
from seriatim.model.audited import AuditedTable
from seriatim.model.classes import Classes
from seriatim.promises.single.worst_classes import worst_classes_all_named
from seriatim.usecases.audit.audit_promises import audit_promise_findings

_HEAD = {"row": pa.int64(), "promise": pa.string(), "column": pa.string(), "class": pa.int64()}


def audit_exposed(audited: AuditedTable, policy: Policy, classes: Classes) -> pa.Table:
    """Return a row per record and cause: its row in the table from 1, the promise, the column and the class.

    A policy without promises lists records that are alone in their class, and those whose class has one value. A
    respondent is named if the table has their column.
    """
    causes = list(_broken(audited, policy, classes)) or list(_plainly(audited, policy, classes))
    found = [(record + 1, *cause, int(classes.of_record[record])) for numbers, *cause in causes for record in numbers]
    found.sort(key=lambda row: (row[0], row[1], row[2] or ""))
    columns = list(zip(*found, strict=True)) or [()] * len(_HEAD)
    table = pa.table({name: pa.array(cells, kind) for (name, kind), cells in zip(_HEAD.items(), columns, strict=True)})
    if policy.respondent is None or policy.respondent not in audited.table.column_names:
        return table
    rows = np.array(columns[0], dtype=np.int64) - 1
    return table.append_column("respondent", audited.table.column(policy.respondent).take(pa.array(rows)))


def _broken(audited: AuditedTable, policy: Policy, classes: Classes) -> Iterator[tuple[list[int], str, str | None]]:
    with worst_classes_all_named():
        findings = audit_promise_findings(audited, policy, classes)
    for finding in findings:
        if not finding.kept:
            hit = np.isin(classes.of_record, finding.classes)
            yield np.flatnonzero(hit).tolist(), finding.rule, finding.column


def _plainly(audited: AuditedTable, policy: Policy, classes: Classes) -> Iterator[tuple[list[int], str, str | None]]:
    with worst_classes_all_named():
        if audit_promise_findings(audited, policy, classes):
            return  # every promise is kept
    yield np.flatnonzero(classes.sizes[classes.of_record] == 1).tolist(), "alone", None
    for column in audited.sensitive:
        told = column.codes >= 0
        least, most = np.full(len(classes), len(column.scale)), np.full(len(classes), -1)
        np.minimum.at(least, classes.of_record[told], column.codes[told])
        np.maximum.at(most, classes.of_record[told], column.codes[told])
        one = (least == most) & (classes.sizes > 1)
        yield np.flatnonzero(one[classes.of_record] & told).tolist(), "one value", column.name
