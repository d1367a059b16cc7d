"""A published table as anyone sees it: its classes, and its sensitive columns on their scales.

Publishing makes one of a draft, the audit one of a table of any tool. Promises judge its counts (``class_counts``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model.classes import Classes, class_text_codes, classes_of, number_classes
from seriatim.model.draft import Draft
from seriatim.model.scale import IntArray
from seriatim.model.view import CodedColumn

RESPONDENT, GROUP, CLASS = "respondent", "group", "class"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class PublishedTable:
    """Rows by class and their sensitive values; whom they are about only if the publisher judges."""

    classes: Classes
    labels: pa.Table
    """The columns that make the classes, row by row."""
    sensitive: Mapping[str, CodedColumn]
    """The sensitive columns, row by row. In a table that was only read, the code -1 is a cell without a value."""
    serial: bool = False
    """Whether a class is a group of a series, rather than equal quasi values."""
    named: pa.Table | None = field(default=None)
    """The publisher's knowledge: the respondent and class of every published record, without counterfeits."""
    offered: int | None = None
    """Records of the view that this was made from; None if unknown."""
    withheld: int = 0

    def __repr__(self) -> str:
        return f"PublishedTable({self.classes!r}, sensitive {[*self.sensitive]})"

    def __len__(self) -> int:
        return len(self.classes.of_record)


def published_of(draft: Draft) -> PublishedTable:
    """Return what a reader of the draft's table sees, and what the publisher knows about its records."""
    labels = draft.table.select([GROUP] if draft.by_group else draft.quasi)
    classes = classes_of(draft.table, labels.column_names)
    return PublishedTable(
        classes=classes,
        labels=labels,
        sensitive={name: _on_scale(draft.table.column(name), coded) for name, coded in draft.sensitive.items()},
        serial=draft.by_group,
        named=_named(draft, classes),
        offered=draft.n_records,
        withheld=draft.grouping.n_suppressed,
    )


def _on_scale(column: pa.ChunkedArray, coded: CodedColumn) -> CodedColumn:
    """Place each published value on its scale.

    The draft says where its rows are; here the published values themselves decide, and the two must agree: equal values
    at one position, whatever the order of the rows.
    """
    seen, values = class_text_codes(column)
    place = np.zeros(len(values) + 1, dtype=np.int32)
    place[seen] = coded.codes
    found = place[seen]
    if not np.array_equal(found, coded.codes):
        raise AssertionError(f"column {coded.name!r}: equal published values have different positions on the scale")
    return CodedColumn(coded.name, found, coded.scale)


def _named(draft: Draft, classes: Classes) -> pa.Table | None:
    """Return respondent and class of every published record; None without a respondent column."""
    if RESPONDENT not in draft.groups.column_names:
        return None
    who = draft.groups.column(RESPONDENT)
    if len(who) and who.null_count == len(who):
        return None
    inside = draft.groups.select([RESPONDENT, GROUP]).filter(pc.and_(pc.is_valid(who), draft.groups[GROUP].is_valid()))
    class_of = _class_of_serial(draft, classes) if draft.by_group else published_class_of_groups(draft, classes)
    return pa.table({RESPONDENT: inside[RESPONDENT], CLASS: pa.array(class_of[inside[GROUP].to_numpy()])})


def _class_of_serial(draft: Draft, classes: Classes) -> IntArray:
    """Return the class of each published group id: a serial table has the ids of release.groups."""
    group = draft.table.column(GROUP).to_numpy()
    class_of: npt.NDArray[np.int32] = np.full(int(group.max(initial=-1)) + 1, -1, dtype=np.int32)
    class_of[group] = classes.of_record
    return class_of


def published_class_of_groups(draft: Draft, classes: Classes) -> IntArray:
    """Return the class of each group: groups with equal labels are one class to a reader."""
    first = pa.array(classes.first)
    by_name = {column.name: column for column in draft.generalised}
    columns, sizes = [], []
    for name in draft.quasi:
        column = by_name[name]
        shown, values = class_text_codes(draft.table.column(name).take(first))
        labels = pa.array(column.labels, pa.string())
        texts, words = class_text_codes(pa.chunked_array([values.cast(pa.string()), labels]))
        of_values = np.append(texts[: len(values)], np.int32(-1))  # the last is a missing value
        columns.append(np.append(of_values[shown], texts[len(values) :][column.label_of_group]) + 1)
        sizes.append(len(words) + 1)
    found = number_classes(columns, sizes, len(classes) + draft.grouping.n_groups)
    if len(found) != len(classes):
        raise AssertionError("the groups of a draft are not the classes of its table")
    return found.of_record[len(classes) :]
