"""The one numbering of classes: records that are equal in every column that others may know.

Promises, measures, attacks and the audit all number classes here, by first records: class 0 is that of record 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.kernels.check.classes import class_ids, rows_by_class
from seriatim.kernels.check.value_counts import class_value_counts
from seriatim.model.scale import IntArray

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


def number_classes(columns: Sequence[IntArray], sizes: Sequence[int], n_records: int) -> Classes:
    """Number records by equal codes in all columns; column i has the codes 0 .. ``sizes[i]`` - 1."""
    return _numbered(zip(columns, sizes, strict=True), n_records)


def _numbered(columns: Iterable[tuple[IntArray, int]], n_records: int) -> Classes:
    of_record, n_classes = class_ids(columns, n_records)
    return Classes(of_record, class_value_counts(of_record, n_classes))


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
