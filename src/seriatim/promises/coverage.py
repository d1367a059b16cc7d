"""The published table says what the groups say: boxes cover their people, everyone once, counterfeits counted right."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model import Coded, Draft, Finding, Generalised, History, View
from seriatim.model.published import text_codes
from seriatim.model.scale import IntArray

GROUP, COUNTERFEITS = "group", "counterfeits"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Asks a draft of a serial method against the view it was made from."""

    view: View
    rule: str = "coverage"

    def check(self, draft: Draft, history: History) -> Finding:  # noqa: ARG002 - a law of one release
        faults = {
            "people outside their box": uncovered(draft, self.view),
            "people more than once": repeated(draft),
            "groups whose rows are not those of their people and counterfeits": unlike_groups(draft),
            "rows whose box is not that of a person or counterfeit": unlike_boxes(draft),
        }
        total = sum(faults.values())
        detail = "; ".join(f"{n} {what}" for what, n in faults.items())
        return Finding(self.rule, total == 0, float(total), 0.0, None, 0, total, detail)


def uncovered(draft: Draft, view: View) -> int:
    """Published people with a value that the label of their box does not cover."""
    box = draft.grouping.group
    outside = np.zeros(len(box), dtype=np.bool_)
    real = box >= 0
    for column, shown in zip(view.quasi, draft.generalised, strict=True):
        label = shown.label_of_group[box[real]].astype(np.int64)
        pairs, which = np.unique(label * len(column.scale) + column.codes[real], return_inverse=True)
        fits = [_covers(column, shown, *divmod(int(pair), len(column.scale))) for pair in pairs]
        outside[np.flatnonzero(real)[~np.array(fits, dtype=np.bool_)[which]]] = True
    return int(outside.sum())


def _covers(column: Coded, shown: Generalised, label_at: int, code: int) -> bool:
    """Whether a label, as text, covers a code of the column's scale."""
    label, texts = shown.labels[label_at], column.scale.texts
    text = texts[code].as_py()
    if label == text or label == "*":
        return True
    if label is None or text is None:
        return False
    if shown.form == "node":
        return any(height[code] == label for height in column.scale.node_labels)
    if shown.form == "set":
        return text in next(csv.reader([label[1:-1]]))
    ends = [pc.index(texts, end).as_py() for end in label[1:-1].split(",")]
    return len(ends) == 2 and 0 <= ends[0] <= code <= ends[1]


def repeated(draft: Draft) -> int:
    """How often too often somebody is published."""
    who = _published(draft).filter(pc.invert(_published(draft).column("counterfeit"))).column("respondent")
    return len(who) - len(pc.unique(who))


def unlike_groups(draft: Draft) -> int:
    """Groups of the table with no like among the groups of the record: the same values, the same counterfeits."""
    name = next(iter(draft.sensitive))
    record = _published(draft)
    values = pc.unique(pa.chunked_array([_text(record.column(name)), _text(draft.table.column(name))]))
    fake = record.column("counterfeit").combine_chunks().to_numpy(zero_copy_only=False).astype(np.int64)
    inside = _keys(record.column(GROUP), record.column(name), values)
    shown = _keys(draft.table.column(GROUP), draft.table.column(name), values)
    inside_fakes = np.bincount(inside.group, weights=fake, minlength=len(inside.key)).astype(np.int64)
    shown_fakes = np.zeros(len(shown.key), dtype=np.int64)
    if draft.counterfeits is not None:
        at = pc.index_in(draft.counterfeits.column(GROUP), value_set=shown.names).to_numpy(zero_copy_only=False)
        np.add.at(shown_fakes, at.astype(np.int64), draft.counterfeits.column(COUNTERFEITS).to_numpy())
    one = Counter(zip(inside.key.tolist(), inside_fakes.tolist(), strict=True))
    other = Counter(zip(shown.key.tolist(), shown_fakes.tolist(), strict=True))
    return max((one - other).total(), (other - one).total())


def unlike_boxes(draft: Draft) -> int:
    """Rows of the table with no like among the people's boxes and the counterfeits of the side table."""
    box = draft.grouping.group[draft.grouping.group >= 0]
    rows = [draft.table.select(draft.quasi)]
    people = [
        pa.array(shown.labels, pa.string()).take(pa.array(shown.label_of_group[box])) for shown in draft.generalised
    ]
    rows.append(pa.table(people, names=list(draft.quasi)))
    count = [np.ones(draft.table.num_rows, dtype=np.int64), -np.ones(len(box), dtype=np.int64)]
    if draft.counterfeits is not None:
        rows.append(draft.counterfeits.select(draft.quasi))
        count.append(-draft.counterfeits.column(COUNTERFEITS).to_numpy())
    codes = [text_codes(pa.chunked_array([_text(t.column(name)) for t in rows]))[0] for name in draft.quasi]
    _, which = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    balance = np.bincount(which.ravel(), weights=np.concatenate(count)).astype(np.int64)
    return int(np.maximum(balance, 0).sum() + np.maximum(-balance, 0).sum())


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
