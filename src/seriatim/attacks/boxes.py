"""Who fits a published box: intervals ``[a,b]``, sets ``{x,y}``, ``*``, hierarchy labels, plain values."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Packed = npt.NDArray[np.uint8]


def people_in(
    published: pa.Table,
    group: npt.NDArray[np.int32],
    register: pa.Table,
    known: Mapping[str, Mapping[str, set[str]]],
) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Each group with the rows of the register whose values fit its box (that of its first row)."""
    groups, first = np.unique(group, return_index=True)
    n = register.num_rows
    columns = [
        (_texts(published.column(name).take(first)), _fits(published, register, name, known.get(name, {})))
        for name in register.column_names
    ]
    for at, number in enumerate(groups.tolist()):
        inside = np.full(-(-n // 8), 255, dtype=np.uint8)
        for labels, fits in columns:
            inside &= fits[labels[at]]
        yield number, np.flatnonzero(np.unpackbits(inside, count=n))


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    return [None if value is None else str(value) for value in column.to_pylist()]


def _fits(
    published: pa.Table, register: pa.Table, name: str, known: Mapping[str, set[str]]
) -> dict[str | None, Packed]:
    """For each label of a column the people who fit it, as bits."""
    values = np.array(_texts(register.column(name)), dtype=object)
    distinct, which = np.unique(values.astype(str), return_inverse=True)
    return {
        label: np.packbits(np.array([fits(value, label, known) for value in distinct.tolist()], dtype=np.bool_)[which])
        for label in set(_texts(published.column(name)))
    }


def fits(value: str, label: str | None, known: Mapping[str, set[str]]) -> bool:
    """Whether a value lies under a published label; a missing cell fits everybody."""
    if label is None or label == "*" or value == label:
        return True
    if label in known:
        return value in known[label]
    if label.startswith("{") and label.endswith("}"):
        return value in next(csv.reader([label[1:-1]]))
    if label.startswith("[") and label.endswith("]") and "," in label:
        return _between(value, label[1:-1])
    if label.endswith("*"):
        return len(value) == len(label) and value.startswith(label.rstrip("*"))
    return False


def _between(value: str, ends: str) -> bool:
    """Numbers by size, anything else (dates) by text."""
    low, _, high = ends.partition(",")
    try:
        return float(low) <= float(value) <= float(high)
    except ValueError:
        return low.strip() <= value <= high.strip()
