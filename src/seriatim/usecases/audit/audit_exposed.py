"""The private list of an audit: which records are in a class that breaks a promise. For the publisher's eyes only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from seriatim.promises.single.worst_classes import worst_classes_all_named

if TYPE_CHECKING:
    from seriatim.usecases.audit.audit import Audit

_HEAD = {"row": pa.int64(), "promise": pa.string(), "column": pa.string(), "class": pa.int64()}


def audit_exposed(audit: Audit) -> pa.Table:
    """Return a row per record and cause: its row in the table from 1, the promise, the column and the class.

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
