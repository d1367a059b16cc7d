"""Coverage asks all records at once; here every record is asked by itself, in plain words."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.defences.labels import LabelPieces, column_labels
from seriatim.model import CodedColumn, Generalised
from seriatim.model.scale import Scale, scale_of
from seriatim.promises.series.coverage import _covered

WORDS = ["a", "b", "c,d", 'e"f', "{g}", "*", "dab"]


def plainly(scale: Scale, shown: Generalised, label_at: int, code: int) -> bool:
    label, text = shown.labels[label_at], scale.texts[code].as_py()
    if label == text or label == "*":
        return True
    if label is None or text is None:
        return False
    if shown.form == "node":
        return any(height[code] == label for height in scale.node_labels)
    if shown.form == "set":
        return label[0] + label[-1] == "{}" and text in next(csv.reader([label[1:-1]]), [])
    ends = [scale.texts.to_pylist().index(end) for end in label[1:-1].split(",") if end in scale.texts.to_pylist()]
    return len(ends) == 2 and ends[0] <= code <= ends[1]


@st.composite
def scales(draw: st.DrawFn) -> Scale:
    form: Any = draw(st.sampled_from(["interval", "set", "node"]))
    n = draw(st.integers(1, 6))
    missing = draw(st.booleans())
    texts = [str(i * 3) for i in range(n)] if form == "interval" else WORDS[:n]
    whole = pa.array([*texts, *([None] if missing else [])], pa.string())
    levels = None
    if form == "node":
        cut = draw(st.integers(0, n))
        levels = [tuple("low" if i < cut else "high" for i in range(len(whole))), ("*",) * len(whole)]
    return scale_of(form, whole, np.arange(len(whole), dtype=np.float64), levels, int(missing and form == "node"))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_all_at_once_is_one_by_one(data: st.DataObject) -> None:
    scale = data.draw(scales())
    codes = np.array(data.draw(st.lists(st.integers(0, len(scale) - 1), min_size=1, max_size=12)), dtype=np.int32)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(codes)), max_size=4)) | {0, len(codes)})
    column = CodedColumn("q", codes, scale)
    shown = column_labels(column, LabelPieces(np.arange(len(codes)), np.array(cuts, dtype=np.int64)))
    group = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    label = shown.label_of_group[group]
    assert _covered(column, shown, label, codes).all()
    mixed = np.array(data.draw(st.permutations(label.tolist())), dtype=np.int32)
    found = _covered(column, shown, mixed, codes)
    expected = [plainly(scale, shown, int(at), int(code)) for at, code in zip(mixed, codes, strict=True)]
    assert found.tolist() == expected


def test_a_missing_value_is_under_no_branch_but_the_whole() -> None:
    levels = [("high", "high", "high"), ("*", "*", "*")]
    scale = scale_of("node", pa.array(["a", "b", None]), np.arange(3.0), levels, 1)
    column = CodedColumn("q", np.array([0, 1, 2], dtype=np.int32), scale)
    shown = column_labels(column, LabelPieces(np.arange(3), np.array([0, 2, 3])))
    high = shown.label_of_group[[0, 0, 0]].astype(np.int32)
    assert [shown.labels[at] for at in high] == ["high"] * 3
    assert _covered(column, shown, high, column.codes).tolist() == [True, True, False]
