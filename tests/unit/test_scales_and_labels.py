"""Scales nest; labels say what a group holds and cost what they hide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.defences.labels import LabelPieces, column_labels, label_column
from seriatim.model import CodedColumn, Scale
from seriatim.model.scale import scale_of, set_label
from seriatim.policies import policy_from_dict
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of


def nests(scale: Scale) -> None:
    """Height 0 is single values, the top is everything, and every range lies in one range of the next height."""
    n = len(scale)
    assert scale.starts[0].tolist() == list(range(n))
    assert scale.ends[0].tolist() == list(range(1, n + 1))
    assert set(scale.starts[-1].tolist()) <= {0}
    assert set(scale.ends[-1].tolist()) <= {n}
    for lower in range(scale.top):
        for code in range(n):
            inside = range(scale.starts[lower, code], scale.ends[lower, code])
            assert code in inside
            assert len({int(scale.starts[lower + 1, other]) for other in inside}) == 1
            assert len({int(scale.starts[lower, other]) for other in inside}) == 1


RULES: list[dict[str, Any]] = [
    {"kind": "number"},
    {"kind": "category"},
    {"hierarchy": {"prefix": [2, 1, 0]}},
    {"kind": "number", "hierarchy": {"interval": [5, 10, 20]}},
    {"order": ["1", "2", "3"], "on_unseen": "top"},
    {"hierarchy": {"group": [["1", "12"], ["3"]]}, "on_unseen": "top"},
]


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 40).map(str)), max_size=25),
    st.sampled_from(RULES),
    st.sampled_from(["value", "suppress"]),
)
def test_every_scale_nests_and_codes_point_at_their_value(
    cells: list[str | None], rule: dict[str, Any], missing: str
) -> None:
    policy = policy_from_dict(
        {"series": {"name": "s"}, "columns": {"q": {"role": "quasi", "missing": missing, **rule}}, "promise": {"k": 1}}
    )
    view = view_of(read_table(pa.table({"q": pa.array(cells, pa.string())})), policy)
    (column,) = view.quasi
    nests(column.scale)
    texts = column.scale.texts.to_pylist()
    assert (np.diff(column.scale.positions) > 0).all()
    for cell, code, withheld in zip(cells, column.codes.tolist(), view.suppressed.tolist(), strict=True):
        assert withheld == (cell is None and missing == "suppress")
        assert withheld or texts[code] == cell or texts[code] == "*"


def labelled(scale: Scale, groups: list[list[int]]) -> tuple[list[str | None], list[float]]:
    codes = np.array([code for group in groups for code in group], dtype=np.int32)
    bounds = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    made = column_labels(CodedColumn("q", codes, scale), LabelPieces(np.arange(len(codes)), bounds))
    column = label_column(made, np.arange(len(groups)))
    return column.to_pylist(), made.loss_of_group.tolist()


def test_intervals_and_their_cost() -> None:
    scale = scale_of("interval", pa.array(["0", "10", "40", None]), np.array([0.0, 10.0, 40.0, 80.0]))
    labels, loss = labelled(scale, [[0], [0, 1], [1, 2], [0, 2], [3, 3], [0, 3]])
    assert labels == ["0", "[0,10]", "[10,40]", "[0,40]", None, "*"]
    assert loss == [0.0, 0.25, 0.75, 1.0, 0.0, 1.0]


def test_sets_and_their_cost() -> None:
    scale = scale_of("set", pa.array(["a", "b,c", 'd"e', "{f}", None]), np.arange(5.0))
    labels, loss = labelled(scale, [[0], [0, 1], [1, 2], [2, 3], [0, 4], [0, 1, 2, 3], [0, 1, 2, 3, 4]])
    assert labels == ["a", '{a,"b,c"}', '{"b,c","d""e"}', '{"d""e","{f}"}', "*", '{a,"b,c","d""e","{f}"}', "*"]
    assert loss == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 1, 1, 1])


def test_a_set_with_an_unseen_value_is_everything() -> None:
    scale = scale_of("set", pa.array(["low", "mid", "high", "*"]), np.arange(4.0))
    labels, loss = labelled(scale, [[0, 1], [2, 3], [3, 3], [0, 1, 2]])
    assert labels == ["{low,mid}", "*", "*", "{low,mid,high}"]
    assert loss == pytest.approx([0.5, 1, 1, 1])


def test_nodes_and_their_cost() -> None:
    levels = [("x", "x", "y", "y", "*", "*"), ("*",) * 6]
    scale = scale_of("node", pa.array(["a", "b", "c", "d", "*", None]), np.arange(6.0), levels)
    labels, loss = labelled(scale, [[0], [0, 1], [2, 3], [1, 2], [4], [5, 5], [0, 5]])
    assert labels == ["a", "x", "y", "*", "*", None, "*"]
    assert loss == pytest.approx([0, 0.2, 0.2, 1, 1, 0, 1])


TEXTS = st.lists(st.text(st.sampled_from("ab,{}\"' \n"), max_size=4), min_size=2, max_size=5, unique=True)


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_different_sets_never_read_alike(one: list[str], other: list[str]) -> None:
    assert (set_label(one) == set_label(other)) == (one == other)
    assert parsed(set_label(one)) == one


def parsed(label: str) -> list[str]:
    """By the codebook's words: commas between values, double quotes around a value with marks, quotes doubled."""
    inner, found, place = label[1:-1], [], 0
    while True:
        if inner[place : place + 1] == '"':
            end = place + 1
            while inner[end] != '"' or inner[end : end + 2] == '""':
                end += 2 if inner[end] == '"' else 1
            found.append(inner[place + 1 : end].replace('""', '"'))
            place = end + 1
        else:
            end = inner.find(",", place)
            end = len(inner) if end < 0 else end
            found.append(inner[place:end])
            place = end
        if place >= len(inner):
            return found
        place += 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.sampled_from([0, 1, 2, 63, 64, 70, 99, 100, 101]), min_size=1), min_size=1), st.booleans())
def test_sets_of_many_values_are_those_of_few(sets: list[set[int]], many: bool) -> None:
    words: list[str | None] = [f"w{i:02},{i % 3}" for i in range(100)] + ["*", None]
    kept = list(range(102)) if many else sorted(set().union(*sets))
    texts = [words[i] for i in kept]
    scale = scale_of("set", pa.array(texts, pa.string()), np.arange(float(len(texts))))
    codes = [sorted(kept.index(i) for i in one) for one in sets]
    bounds = np.cumsum([0, *map(len, codes)])
    column = CodedColumn("q", np.array([code for one in codes for code in one], dtype=np.int32), scale)
    made = column_labels(column, LabelPieces(np.arange(len(column.codes)), bounds))
    shown = [made.labels[at] for at in made.label_of_group]
    assert shown == [plain_set_label([texts[code] for code in one], len(texts)) for one in codes]
    known = sum(text not in (None, "*") for text in texts)
    assert made.loss_of_group.tolist() == [
        1.0 if label == "*" else (len(one) - 1) / max(known - 1, 1) for label, one in zip(shown, codes, strict=True)
    ]


def plain_set_label(members: list[str | None], size: int) -> str | None:
    if len(members) == 1:
        return members[0]
    if len(members) == size or None in members or "*" in members:
        return "*"
    return set_label([text for text in members if text is not None])
