"""A published table as anyone sees it: classes are rows with equal published quasi values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.kernels.check.classes import class_of_rows, rows_by_class
from seriatim.model.draft import Draft
from seriatim.model.scale import IntArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Classes:
    """Rows by class: those of class c are ``rows[starts[c]:starts[c + 1]]``."""

    starts: npt.NDArray[np.int64]
    rows: IntArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        return f"Classes({len(self)} classes of {len(self.rows)} rows)"

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        return np.diff(self.starts)


def classes_of(table: pa.Table, quasi: Sequence[str]) -> Classes:
    """The classes of a published table, numbered in order of first appearance."""
    codes = np.empty((table.num_rows, len(quasi)), dtype=np.int32)
    for index, name in enumerate(quasi):
        codes[:, index] = text_codes(table.column(name))[0]
    numbers, count = class_of_rows(codes)
    return Classes(*rows_by_class(numbers, count))


_KNOWN: WeakKeyDictionary[Draft, Classes] = WeakKeyDictionary()


def draft_classes(draft: Draft) -> Classes:
    """The classes of a draft's table; found once for all promises and measures that ask.

    A serial release publishes its groups and deals the values out inside them, so there a class is a group.
    """
    known = _KNOWN.get(draft)
    if known is None:
        known = _KNOWN[draft] = classes_of(draft.table, ("group",) if draft.serial else draft.quasi)
    return known


def text_codes(column: pa.ChunkedArray) -> tuple[IntArray, pa.Array]:
    """Codes by equal published value, -1 for a missing one, and the values; labels that read alike are alike."""
    if pat.is_dictionary(column.type):
        column = column.unify_dictionaries()
        words = column.chunk(0).dictionary if column.num_chunks else pa.array([], column.type.value_type)
        alike = words.dictionary_encode()
        place = np.append(alike.indices.to_numpy(zero_copy_only=False), -1).astype(np.int32)
        indices = [chunk.indices.fill_null(len(words)).to_numpy(zero_copy_only=False) for chunk in column.chunks]
        return place[np.concatenate(indices)] if indices else place[:0], alike.dictionary
    coded = pc.dictionary_encode(column)
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.unify_dictionaries()
        parts = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in coded.chunks]
        values = coded.chunk(0).dictionary if coded.num_chunks else pa.array([], column.type)
        return np.concatenate(parts).astype(np.int32) if parts else np.zeros(0, dtype=np.int32), values
    return coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32), coded.dictionary
