"""The table agrees with its groups: boxes cover their people, everyone appears once, counterfeits are counted."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import CodedColumn, Draft, Finding, Generalised, Policy, View
from seriatim.model.classes import class_text_codes, numbered_alike
from seriatim.model.draft import COUNTERFEITS
from seriatim.model.history import JudgedHistory, judged_draft_and_view
from seriatim.model.scale import IntArray
from seriatim.ports.promise import Need

GROUP = "group"


def coverage(policy: Policy) -> list[Coverage]:
    """Return the promise that every serial table keeps, whatever the policy says."""
    return [Coverage()] if policy.defence is not None and policy.defence.serial else []


@dataclass(frozen=True, slots=True)
class Coverage:
    """Compares the draft of a serial method with the view it was made from."""

    rule: str = "coverage"
    column: None = None
    judges: ClassVar[Literal["series"]] = "series"
    needs: ClassVar[Need] = "cells"

    def check(self, judged: JudgedHistory) -> Finding:
        draft, view = judged_draft_and_view(judged)
        faults = {
            "people outside their box": _box_coverage(draft, view),
            "people published more than once": _coverage_repeated(draft),
            "groups whose rows do not match their people and counterfeits": _unlike_groups(draft),
            "rows whose box matches no person or counterfeit": _unlike_boxes(draft),
        }
        total = sum(faults.values())
        detail = "; ".join(f"{n} {what}" for what, n in faults.items())
        return Finding(self.rule, total == 0, float(total), 0.0, n_classes=0, n_people=total, detail=detail)


def _box_coverage(draft: Draft, view: View) -> int:
    """Count published people with a value that the label of their box does not cover."""
    box = draft.grouping.group
    real = box >= 0
    outside = np.zeros(int(real.sum()), dtype=np.bool_)
    for column, shown in zip(view.quasi, draft.generalised, strict=True):
        outside |= ~_covered(column, shown, shown.label_of_group[box[real]], column.codes[real])
    return int(outside.sum())


def _covered(column: CodedColumn, shown: Generalised, label: IntArray, code: IntArray) -> npt.NDArray[np.bool_]:
    """Return for each record whether its label (a position in ``shown.labels``), as text, covers its code."""
    labels = pa.array(shown.labels, pa.string())
    coded = labels.dictionary_encode(null_encoding="encode")
    same = coded.indices.to_numpy()[label]
    texts = column.scale.texts.cast(pa.string())
    fits: npt.NDArray[np.bool_] = same == coded.dictionary.index("*").as_py()
    fits |= same == _numbers(texts, coded.dictionary)[code]
    if shown.form == "node":
        known = texts.is_valid().to_numpy(zero_copy_only=False)[code]  # a missing value is only under the top
        for height in column.scale.node_labels:
            fits |= known & (same == _numbers(pa.array(height, pa.string()), coded.dictionary)[code])
    elif shown.form == "set":
        pairs = pa.array(label.astype(np.int64) * len(texts) + code)
        members = pa.array(_members(labels, texts))
        fits |= pc.is_in(pairs, value_set=members).to_numpy(zero_copy_only=False)
    else:
        first, last = _ends(shown.labels, texts.to_pylist())
        fits |= (first[label] <= code) & (code <= last[label])
    return fits


def _numbers(texts: pa.Array, labels: pa.Array) -> npt.NDArray[np.int64]:
    """Return the position of each text among labels; -2 for a text that is no label."""
    return np.asarray(pc.index_in(texts, value_set=labels).fill_null(-2).to_numpy(), dtype=np.int64)


def _members(labels: pa.Array, texts: pa.Array) -> npt.NDArray[np.int64]:
    """Return label x texts + code for every code in a label's set; a missing value is in none."""
    sets = pc.and_(pc.starts_with(labels, "{"), pc.ends_with(labels, "}"))
    inside = pc.if_else(sets, pc.utf8_slice_codeunits(labels, 1, -1), None)
    quoted = pc.match_substring(inside, '"').fill_null(False)
    plain = pc.split_pattern(pc.if_else(quoted, None, inside), ",")
    at, words = pc.list_parent_indices(plain).to_numpy().astype(np.int64), pc.list_flatten(plain)
    rest = np.flatnonzero(quoted.to_numpy(zero_copy_only=False))
    listed = [next(csv.reader([text])) for text in inside.take(pa.array(rest)).to_pylist()]
    at = np.concatenate((at, np.repeat(rest, [len(one) for one in listed])))
    words = pa.concat_arrays([words, pa.array([word for one in listed for word in one], pa.string())])
    code = pc.index_in(words, value_set=texts, skip_nulls=True)
    known = code.is_valid().to_numpy(zero_copy_only=False)
    return np.asarray(at[known] * len(texts) + code.drop_null().to_numpy(), dtype=np.int64)


def _ends(
    labels: Sequence[str | None], texts: Sequence[str | None]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first and last code of every label that is an interval; for others, ends with nothing between.

    A missing value comes last on its scale and is inside no interval.
    """
    code_of = {text: code for code, text in reversed(list(enumerate(texts))) if text is not None}
    out = np.full((2, len(labels)), -1, dtype=np.int64)
    out[0] = len(texts)
    for at, label in enumerate(labels):
        ends = [] if label is None else [code_of.get(end, -1) for end in label[1:-1].split(",")]
        if len(ends) == 2 and ends[0] >= 0:
            out[:, at] = ends
    return out[0], out[1]


def _coverage_repeated(draft: Draft) -> int:
    """Count the extra times that people are published."""
    record = _published(draft)
    who = record.column("respondent").filter(pc.invert(record.column("counterfeit")))
    return len(who) - len(pc.unique(who))


def _unlike_groups(draft: Draft) -> int:
    """Count the published groups that match no group in release.groups: the same values, the same counterfeits."""
    name = next(iter(draft.sensitive))
    record = _published(draft)
    values = pc.unique(pa.chunked_array([_text(record.column(name)), _text(draft.table.column(name))]))
    counterfeit = record.column("counterfeit").combine_chunks().to_numpy(zero_copy_only=False).astype(np.int64)
    inside = _keys(record.column(GROUP), record.column(name), values)
    shown = _keys(draft.table.column(GROUP), draft.table.column(name), values)
    inside_counterfeits = np.bincount(inside.group, weights=counterfeit, minlength=len(inside.key)).astype(np.int64)
    shown_counterfeits = np.zeros(len(shown.key), dtype=np.int64)
    if draft.counterfeits is not None:
        at = pc.index_in(draft.counterfeits.column(GROUP), value_set=shown.names).to_numpy(zero_copy_only=False)
        np.add.at(shown_counterfeits, at.astype(np.int64), draft.counterfeits.column(COUNTERFEITS).to_numpy())
    one = Counter(zip(inside.key.tolist(), inside_counterfeits.tolist(), strict=True))
    other = Counter(zip(shown.key.tolist(), shown_counterfeits.tolist(), strict=True))
    return max((one - other).total(), (other - one).total())


def _unlike_boxes(draft: Draft) -> int:
    """Count the published rows that match no person's box and no counterfeit of the second table."""
    box, side = draft.grouping.group[draft.grouping.group >= 0], draft.counterfeits
    count = [np.ones(draft.table.num_rows, dtype=np.int64), -np.ones(len(box), dtype=np.int64)]
    if side is not None:
        count.append(-side.column(COUNTERFEITS).to_numpy())
    columns, sizes = [], []
    for shown in draft.generalised:
        shown_as = [class_text_codes(table.column(shown.name)) for table in (draft.table, side) if table is not None]
        words = pa.chunked_array(
            [pa.array(shown.labels, pa.string()), *(values.cast(pa.string()) for _, values in shown_as)]
        )
        number = np.split(_text_numbers(words), np.cumsum([len(chunk) for chunk in words.chunks])[:-1])
        parts = [np.append(own, np.int32(0))[codes] for own, (codes, _) in zip(number[1:], shown_as, strict=True)]
        parts.insert(1, number[0][shown.label_of_group[box]])
        columns.append(np.concatenate(parts))
        sizes.append(int(max(part.max(initial=0) for part in number)) + 1)
    boxes = numbered_alike(columns, sizes, sum(map(len, count)))
    balance = np.bincount(boxes.of_record, weights=np.concatenate(count), minlength=len(boxes)).astype(np.int64)
    return int(np.abs(balance).sum())


def _text_numbers(texts: pa.ChunkedArray) -> IntArray:
    """Return a number from 1 on for each text, equal for equal ones; 0 for a missing one."""
    coded = pc.dictionary_encode(pa.concat_arrays(texts.chunks))
    return np.asarray(coded.indices.fill_null(-1).to_numpy(zero_copy_only=False) + 1, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class _Keys:
    names: pa.Array
    group: IntArray
    key: npt.NDArray[np.uint64]
    """One number for each group's multiset of values."""


def _keys(group: pa.ChunkedArray, value: pa.ChunkedArray, values: pa.Array) -> _Keys:
    names = pc.unique(group)
    where = pc.index_in(group, value_set=names).to_numpy(zero_copy_only=False).astype(np.int32)
    code = pc.index_in(pa.chunked_array([_text(value)]), value_set=values).to_numpy(zero_copy_only=False)
    salt = np.random.default_rng(20101117).integers(1, 1 << 63, size=max(len(values), 1), dtype=np.uint64)
    key = np.zeros(len(names), dtype=np.uint64)
    np.add.at(key, where, salt[code.astype(np.int64)])
    return _Keys(names, where, key)


def _published(draft: Draft) -> pa.Table:
    table = draft.groups
    return table.filter(pc.and_(pc.invert(table.column("suppressed")), pc.is_valid(table.column(GROUP))))


def _text(column: pa.ChunkedArray) -> pa.Array:
    whole = column.cast(pa.string()).combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
