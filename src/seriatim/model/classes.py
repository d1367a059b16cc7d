"""Classes: records that are equal in every column that others may know, and what a draft publishes of them.

Promises, measures, attacks and the audit all number classes here, by first records: class 0 is that of record 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.kernels.check.classes import class_ids, class_sizes, rows_by_class
from seriatim.model.draft import Draft
from seriatim.model.scale import IntArray
from seriatim.model.view import CodedColumn

LongArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Classes:
    """The class of every record, numbered from 0 in the order of first records, and the size of each class."""

    of_record: IntArray
    sizes: LongArray

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        return f"Classes({len(self)} classes of {len(self.of_record)} records)"

    @property
    def starts(self) -> LongArray:
        """Return where each class starts in ``rows``, and where the last one ends."""
        return self._by_class[0]

    @property
    def rows(self) -> IntArray:
        """Return records by class: those of class c are ``rows[starts[c]:starts[c + 1]]``."""
        return self._by_class[1]

    @property
    def first(self) -> IntArray:
        """Return the first record of each class."""
        return self.rows[self.starts[:-1]]

    @cached_property
    def _by_class(self) -> tuple[LongArray, IntArray]:
        starts, rows = rows_by_class(self.of_record, len(self.sizes))
        return starts, rows


def numbered_alike(columns: Sequence[IntArray], sizes: Sequence[int], n_records: int) -> Classes:
    """Number records by equal codes in all columns; column i has the codes 0 .. ``sizes[i]`` - 1."""
    return _numbered(zip(columns, sizes, strict=True), n_records)


def _numbered(columns: Iterable[tuple[IntArray, int]], n_records: int) -> Classes:
    of_record, n_classes = class_ids(columns, n_records)
    return Classes(of_record, class_sizes(of_record, n_classes))


def classes_of(table: pa.Table, names: Sequence[str]) -> Classes:
    """Number the rows of a published table by their cells in these columns; a missing cell is a value like any."""
    coded = (class_text_codes(table.column(name)) for name in names)
    return _numbered(((codes + 1, len(values) + 1) for codes, values in coded), table.num_rows)


def class_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary column with the same words in all its chunks; those encoded at once have them already."""
    first = column.chunk(0).dictionary if column.num_chunks else None
    alike = all(chunk.dictionary.equals(first) for chunk in column.chunks)
    return column if alike else column.unify_dictionaries()


def class_text_codes(column: pa.ChunkedArray) -> tuple[IntArray, pa.Array]:
    """Return codes by equal published value, -1 for a missing one, and the values; labels with equal text are equal."""
    if pat.is_dictionary(column.type):
        column = class_dictionary(column)
        words = column.chunk(0).dictionary if column.num_chunks else pa.array([], column.type.value_type)
        alike = words.dictionary_encode()
        place = np.append(alike.indices.to_numpy(zero_copy_only=False), -1).astype(np.int32)
        indices = [chunk.indices.fill_null(len(words)).to_numpy(zero_copy_only=False) for chunk in column.chunks]
        return place[np.concatenate(indices)] if indices else place[:0], alike.dictionary
    coded = pc.dictionary_encode(column)
    if isinstance(coded, pa.ChunkedArray):
        coded = class_dictionary(coded)
        parts = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in coded.chunks]
        values = coded.chunk(0).dictionary if coded.num_chunks else pa.array([], column.type)
        return np.concatenate(parts).astype(np.int32) if parts else np.zeros(0, dtype=np.int32), values
    return coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32), coded.dictionary


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
    found = numbered_alike(columns, sizes, len(classes) + draft.grouping.n_groups)
    if len(found) != len(classes):
        raise AssertionError("the groups of a draft are not the classes of its table")
    return found.of_record[len(classes) :]
