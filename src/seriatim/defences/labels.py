"""Labels groups for publishing: one label per group and column, and its cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import CodedColumn, Generalised, Scale
from seriatim.model.scale import TOP, FloatArray, IntArray, interval_label, word_in_set

_BITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class LabelPieces:
    """Groups as pieces of an order: the rows of group g are ``order[bounds[g]:bounds[g + 1]]``."""

    order: npt.NDArray[np.integer]
    bounds: npt.NDArray[np.int64]

    @property
    def n_groups(self) -> int:
        return len(self.bounds) - 1


def column_labels(column: CodedColumn, pieces: LabelPieces) -> Generalised:
    """Return the label of every group in one column: interval, set or hierarchy node, as its scale says."""
    codes = column.codes[pieces.order]
    if not pieces.n_groups:
        return Generalised(
            column.name,
            column.scale.form,
            label_of_group=np.zeros(0, dtype=np.int32),
            labels=(),
            loss_of_group=np.zeros(0),
        )
    if column.scale.form == "set":
        return _by_sets(column, codes, pieces.bounds)
    low = np.minimum.reduceat(codes, pieces.bounds[:-1]).astype(np.int32)
    high = np.maximum.reduceat(codes, pieces.bounds[:-1]).astype(np.int32)
    return range_texts(column.name, column.scale, low, high)


def range_texts(name: str, scale: Scale, low: IntArray, high: IntArray) -> Generalised:
    """Return labels of the ranges low to high (codes, both included): intervals, or the lowest common nodes."""
    size = np.int64(len(scale))
    heights = scale.heights(low, high)
    if scale.form == "node":
        # all ranges under one node have its label, so they must share one label number
        key = heights.astype(np.int64) * size + scale.starts[heights, low]
        distinct, which = np.unique(key, return_inverse=True)
        labels = tuple(_node_label(scale, int(k // size), int(k % size)) for k in distinct)
        first, last = scale.starts[heights, low], (scale.ends[heights, low] - 1).astype(np.int32)
    else:
        first, last = low, high
        key = low.astype(np.int64) * size + high
        distinct, which = np.unique(key, return_inverse=True)
        labels = _interval_labels(scale, distinct // size, distinct % size)
    loss = label_penalties(scale, low, high, heights)
    return Generalised(
        name,
        scale.form,
        label_of_group=which.astype(np.int32),
        labels=labels,
        loss_of_group=loss,
        low=first,
        high=last,
    )


def label_penalties(scale: Scale, low: IntArray, high: IntArray, heights: IntArray) -> FloatArray:
    """Return the normalised certainty penalty (Xu et al. 2006): width of the label over width of the domain."""
    n = len(scale)
    if scale.form == "node":
        width = (scale.ends[heights, low] - scale.starts[heights, low] - 1) / max(n - 1, 1)
        star = scale.texts.index(TOP).as_py()  # an unseen value that the policy publishes as ``*``
        return np.where(low == high, np.where(low == star, 1.0, 0.0), width).astype(np.float64)
    known = n - int(scale.texts.null_count)
    span = scale.positions[known - 1] - scale.positions[0] if known else 0.0
    width = (scale.positions[high] - scale.positions[low]) / (span if span > 0 else 1.0)
    mixed = (high >= known) & (low < known)
    return np.where(low == high, 0.0, np.where(mixed, 1.0, width)).astype(np.float64)


def _interval_labels(scale: Scale, low: npt.NDArray[np.int64], high: npt.NDArray[np.int64]) -> tuple[str | None, ...]:
    """Write a single value as it is, a range as an interval, and a range that includes missing cells as ``*``."""
    first, last = scale.texts.take(pa.array(low)).to_pylist(), scale.texts.take(pa.array(high)).to_pylist()
    return tuple(
        a if one else TOP if b is None else interval_label(a, b)
        for a, b, one in zip(first, last, (low == high).tolist(), strict=True)
    )


def _node_label(scale: Scale, height: int, start: int) -> str | None:
    if height == 0:
        return scale.texts[start].as_py()  # type: ignore[no-any-return]
    return scale.node_labels[height - 1][start]


class _Sets(NamedTuple):
    """Distinct sets of codes: the members of set i, ascending, are ``members[starts[i]:starts[i + 1]]``."""

    members: IntArray
    starts: npt.NDArray[np.int64]

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        return np.diff(self.starts)


def _by_sets(column: CodedColumn, codes: IntArray, bounds: npt.NDArray[np.int64]) -> Generalised:
    """Label each group by the set of its values; the whole domain, or a mixture with missing cells, is ``*``."""
    scale = column.scale
    sets, which = _few_values(codes, bounds) if len(scale) <= _BITS else _many_values(codes, bounds, len(scale))
    return Generalised(
        column.name,
        scale.form,
        label_of_group=which,
        labels=_set_labels(scale, sets),
        loss_of_group=_set_penalties(scale, sets)[which],
    )


def _few_values(codes: IntArray, bounds: npt.NDArray[np.int64]) -> tuple[_Sets, IntArray]:
    """Return the distinct sets and each group's set, for at most 64 values: a set is one word."""
    words = np.bitwise_or.reduceat(np.uint64(1) << codes.astype(np.uint64), bounds[:-1])
    distinct, which = np.unique(words, return_inverse=True)
    holds = (distinct[:, None] >> np.arange(_BITS, dtype=np.uint64) & np.uint64(1)).astype(np.bool_)
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(holds.sum(axis=1))))
    return _Sets(np.nonzero(holds)[1].astype(np.int32), starts), which.astype(np.int32)


def _many_values(codes: IntArray, bounds: npt.NDArray[np.int64], size: int) -> tuple[_Sets, IntArray]:
    """Return the same for larger domains: a set is the bytes of its codes, and Arrow tells which are equal."""
    n_groups = len(bounds) - 1
    group = np.repeat(np.arange(n_groups, dtype=np.int64), np.diff(bounds))
    present = group * size + codes
    present.sort()
    present = present[np.concatenate((present[:1] >= 0, present[1:] != present[:-1]))]
    members = (present % size).astype(np.int32)
    ends = np.cumsum(np.bincount(present // size, minlength=n_groups))
    starts = np.concatenate((np.zeros(1, dtype=np.int64), ends)) * members.itemsize
    keys = pa.Array.from_buffers(pa.large_binary(), n_groups, [None, pa.py_buffer(starts), pa.py_buffer(members)])
    coded = keys.dictionary_encode()
    _, distinct_starts, distinct = coded.dictionary.buffers()
    found = np.frombuffer(distinct_starts, dtype=np.int64)[: len(coded.dictionary) + 1] // members.itemsize
    return _Sets(np.frombuffer(distinct, dtype=np.int32)[: found[-1]], found), coded.indices.to_numpy()


def _set_labels(scale: Scale, sets: _Sets) -> tuple[str | None, ...]:
    """Return the labels of sets: a value alone as it is, ``{a,b}``, or ``*`` for all of them and for missing cells."""
    texts: list[str | None] = scale.texts.to_pylist()
    words = pa.array(["" if text is None else word_in_set(text) for text in texts], pa.string())
    listed = pa.ListArray.from_arrays(pa.array(sets.starts.astype(np.int32)), words.take(pa.array(sets.members)))
    braced = pc.binary_join_element_wise("{", pc.binary_join(listed, ","), "}", "")
    first = scale.texts.cast(pa.string()).take(pa.array(sets.members[sets.starts[:-1]]))
    missing = np.array([text is None or text == TOP for text in texts])[sets.members]
    top = np.maximum.reduceat(missing, sets.starts[:-1]) | (sets.sizes == len(texts))
    shown = pc.if_else(pa.array(sets.sizes == 1), first, pc.if_else(pa.array(top), TOP, braced))
    return tuple(shown.to_pylist())


def _set_penalties(scale: Scale, sets: _Sets) -> FloatArray:
    """Return the share of known values in each set; codes of missing or unseen cells come last on the scale."""
    texts: list[str | None] = scale.texts.to_pylist()
    known = len(texts) - (texts[-1] is None) - (TOP in texts)
    unseen = np.array([text == TOP for text in texts])[sets.members]
    share = np.where(sets.members[sets.starts[1:] - 1] >= known, 1.0, (sets.sizes - 1) / max(known - 1, 1))
    alone = np.where(sets.sizes == 1, 0.0, share)
    return np.where(np.maximum.reduceat(unseen, sets.starts[:-1]), 1.0, alone)


def label_column(generalised: Generalised, group_of_row: npt.NDArray[np.integer]) -> pa.DictionaryArray:
    """Return the published column: one label index per row."""
    indices = generalised.label_of_group[group_of_row] if len(generalised.label_of_group) else group_of_row
    missing = [place for place, label in enumerate(generalised.labels) if label is None]
    mask = np.isin(indices, missing) if missing else None
    words = pa.array(["" if label is None else label for label in generalised.labels], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int32), mask=mask), words)
