"""Finds who fits a published box: ranges of numbers, intervals ``[a,b]``, sets ``{x,y}``, ``*``, labels, values."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.model.classes import class_text_codes
from seriatim.model.spans import span_of, span_point

Packed = npt.NDArray[np.uint8]


def people_who_fit(
    published: pa.Table,
    group: npt.NDArray[np.int32],
    register: pa.Table,
    known: Mapping[str, Mapping[str, set[str]]],
) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Yield each box with its group and the rows of the register that fit it.

    A group may have several boxes: cohorts publish finer ones, which cross groups.
    """
    keys = [group, *(class_text_codes(published.column(name))[0] for name in register.column_names)]
    boxes, first = np.unique(np.column_stack(keys), axis=0, return_index=True)
    n = register.num_rows
    columns = [
        (_texts(published.column(name).take(first)), _fits(published, register, name, known.get(name, {})))
        for name in register.column_names
    ]
    for at, number in enumerate(boxes[:, 0].tolist()):
        inside = np.full(-(-n // 8), 255, dtype=np.uint8)
        for labels, fits in columns:
            inside &= fits[labels[at]]
        yield number, np.flatnonzero(np.unpackbits(inside, count=n))


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    return [None if value is None else str(value).strip() for value in column.to_pylist()]


def _fits(
    published: pa.Table, register: pa.Table, name: str, known: Mapping[str, set[str]]
) -> dict[str | None, Packed]:
    """Return for each label of a column the people who fit it, as bits."""
    values = np.array([text or "" for text in _texts(register.column(name))], dtype=object)
    distinct, which = np.unique(values, return_inverse=True)
    return {
        label: np.packbits(np.array([fits(value, label, known) for value in distinct.tolist()], dtype=np.bool_)[which])
        for label in set(_texts(published.column(name)))
    }


def fits(value: str, label: str | None, known: Mapping[str, set[str]]) -> bool:
    """Return whether a value lies under a published label; a missing cell fits everyone, an unknown one every label."""
    if label is None or label == "*" or value in ("", label):
        return True
    if label in known:
        return value in known[label]
    if label.startswith("{") and label.endswith("}"):
        return value in next(csv.reader([label[1:-1]]))
    number, span = span_point(value), span_of(label)
    if span is not None and not math.isnan(number):
        return span.holds(number)
    if label.startswith("[") and label.endswith("]") and "," in label:
        low, _, high = label[1:-1].partition(",")  # dates, by text
        return low.strip() <= value <= high.strip()
    if label.endswith("*"):
        return len(value) == len(label) and value.startswith(label.rstrip("*"))
    return False
