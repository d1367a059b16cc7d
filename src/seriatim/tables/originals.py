"""The table an audited one was made from: its quasi-identifiers on their scales, and the labels published for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from seriatim.errors import Fault, TableError
from seriatim.model import Policy, PromiseTerms, Role, Table
from seriatim.model.audited import AuditedOriginal, AuditedQuasi
from seriatim.model.classes import LongArray, class_text_codes
from seriatim.model.foreign_tables import numbers_alike
from seriatim.model.scale import span_point
from seriatim.reading.label_cover import covers, lowest_levels
from seriatim.tables.views import view_of


@dataclass(frozen=True, slots=True)
class OriginalSource:
    """Where an audited table came from. ``aligned`` says that its row i was made from row i of the original."""

    table: Table
    aligned: bool = False


def original_of(table: Table, policy: Policy, source: OriginalSource) -> AuditedOriginal:
    """Code the original by the same policy; report all columns it lacks at once."""
    before = source.table
    names = [rule.name for rule in policy.columns.values() if rule.role in (Role.QUASI, Role.SENSITIVE)]
    faults = [
        Fault(f"{before.name}, column {name!r}", "not in the original", "every quasi and sensitive column")
        for name in names if name not in before.data.column_names
    ]  # fmt: skip
    if not before.data.num_rows:
        faults.append(Fault(before.name, "no records", "the table before it was made safe"))
    if faults:
        raise TableError(faults)
    quasi = {rule.name: rule for rule in policy.quasi}
    alone = replace(policy, columns=quasi, respondent=None, terms=PromiseTerms())
    view = view_of(replace(before, data=before.data.select(list(quasi))), alone)
    facing = []
    for column in view.quasi:
        codes, values = class_text_codes(table.data.column(column.name))
        labels = [*values.cast(pa.string()).to_pylist(), None]
        facing.append(
            AuditedQuasi(
                column,
                np.where(codes < 0, np.int32(len(values)), codes).astype(np.int32),
                tuple(covers(labels, column.scale)),
                np.array([span_point(label) for label in labels]),
                lowest_levels(labels, column.scale),
            )
        )
    margins = tuple(_margins(before, table, rule.name) for rule in policy.sensitive)
    return AuditedOriginal(before.name, before.data.num_rows, tuple(facing), margins, _match(table, policy, source))


def _margins(before: Table, after: Table, name: str) -> tuple[LongArray, LongArray]:
    columns = [table.data.column(name).cast(pa.string()) for table in (before, after)]
    both = pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.string())
    codes, values = class_text_codes(numbers_alike(both))
    n = before.data.num_rows
    first, second = (np.bincount(part[part >= 0], minlength=len(values)) for part in (codes[:n], codes[n:]))
    return first.astype(np.int64), second.astype(np.int64)


def _match(table: Table, policy: Policy, source: OriginalSource) -> LongArray | None:
    n, before = table.data.num_rows, source.table
    if source.aligned:
        if n != before.data.num_rows:
            found = f"{n} records beside {before.data.num_rows}"
            raise TableError(Fault(table.name, found, "the same records in the same order", "leave it out (aligned)"))
        return np.arange(n, dtype=np.int64)
    key = policy.respondent
    if key is None or key not in table.data.column_names or key not in before.data.column_names:
        return None
    place = _rows_by_key(before, key)
    people = table.data.column(key).cast(pa.string()).to_pylist()
    return np.array([-1 if person is None else place.get(person, -1) for person in people], dtype=np.int64)


def _rows_by_key(before: Table, key: str) -> dict[Any, int]:
    people = before.data.column(key).cast(pa.string()).to_pylist()
    place = {person: row for row, person in enumerate(people)}
    if len(place) < len(people):
        found = f"{len(people) - len(place)} respondents occur more than once"
        raise TableError(
            Fault(f"{before.name}, column {key!r}", found, "one record each", "name their order instead (aligned)")
        )
    return place
