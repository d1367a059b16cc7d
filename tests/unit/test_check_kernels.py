"""The kernels that judge, held to plain twins."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from support import plain_promises as plain

from seriatim.kernels.check.box_counts import count_inside, expected_inside
from seriatim.kernels.check.class_figures import tree_distances
from seriatim.kernels.check.classes import class_ids, rows_by_class
from seriatim.model.class_counts import ValueCounts
from seriatim.model.classes import Classes
from seriatim.model.scale import scale_of

few = settings(max_examples=80, deadline=None)
CODES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(-1, 3), min_size=width, max_size=width), max_size=40)
)


@few
@given(CODES)
def test_rows_are_one_class_exactly_when_they_are_equal(rows: list[list[int]]) -> None:
    codes = np.array(rows, dtype=np.int32).reshape(len(rows), len(rows[0]) if rows else 1)
    classes, count = class_ids([(column, 5) for column in codes.T + 1], len(codes))
    first: dict[tuple[int, ...], int] = {}
    assert classes.tolist() == [first.setdefault(tuple(row), len(first)) for row in rows]
    assert count == len(first)
    starts, order = rows_by_class(classes, count)
    assert starts[0] == 0
    assert starts[-1] == len(rows)
    for each in range(count):
        members = order[starts[each] : starts[each + 1]].tolist()
        assert members == [row for row in range(len(rows)) if classes[row] == each]


def test_rows_without_columns_are_one_class() -> None:
    classes, count = class_ids([], 3)
    assert (classes.tolist(), count) == ([0, 0, 0], 1)


@st.composite
def classes_of_values(draw: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Classes of values, each with at least one row: starts, values in class order, size of the domain."""
    n_values = draw(st.integers(1, 6))
    classes = draw(st.lists(st.lists(st.integers(0, n_values - 1), min_size=1, max_size=12), min_size=1, max_size=6))
    starts = np.cumsum([0, *map(len, classes)]).astype(np.int64)
    return starts, np.concatenate([np.array(each) for each in classes]).astype(np.int32), n_values


def counted(starts: np.ndarray, values: np.ndarray, n_values: int) -> ValueCounts:
    sizes = np.diff(starts)
    return ValueCounts.of(Classes(np.repeat(np.arange(len(sizes)), sizes).astype(np.int32), sizes), values, n_values)


def split(starts: np.ndarray, values: np.ndarray) -> list[list[int]]:
    return [values[a:b].tolist() for a, b in pairwise(starts)]


@few
@given(classes_of_values(), st.integers(1, 5), st.sampled_from([0.1, 0.5, 1.0, 3.0]))
def test_diversity_of_every_class(made: tuple[np.ndarray, np.ndarray, int], depth: int, c: float) -> None:
    starts, values, n_values = made
    seen = counted(starts, values, n_values)
    figures = seen.figures_against(seen.margin, depth)
    for each, members in enumerate(split(starts, values)):
        assert figures["distinct_l"][each] == plain.distinct(members)
        assert abs(np.log(figures["entropy_l"][each]) - plain.entropy(members)) < 1e-12
        assert (figures["recursive_c"][each] < c) == plain.recursive_holds(members, c, depth)


@few
@given(classes_of_values())
def test_equal_and_ordered_distance_of_every_class(made: tuple[np.ndarray, np.ndarray, int]) -> None:
    starts, values, n_values = made
    seen, domain = counted(starts, values, n_values), list(range(n_values))
    margin, equal, ordered = seen.margin, seen.figures["tv"], seen.figures["emd"]
    for each, members in enumerate(split(starts, values)):
        shares = plain.shares(members, domain)
        assert abs(equal[each] - plain.equal_distance(shares, margin.tolist())) < 1e-12
        assert abs(ordered[each] - plain.ordered_distance(shares, margin.tolist())) < 1e-12
        apart = [[abs(a - b) / max(n_values - 1, 1) for a in domain] for b in domain]
        assert abs(ordered[each] - plain.transport_distance(shares, margin.tolist(), apart)) < 1e-9


LEVELS = {  # three heights over six values
    6: [("a", "a", "b", "b", "c", "c"), ("x", "x", "x", "x", "y", "y"), ("*",) * 6],
    5: [("a", "a", "b", "c", "c"), ("*",) * 5],
    4: [("*",) * 4],
    3: [("a", "b", "b"), ("x", "x", "x"), ("*",) * 3],
    2: [("*",) * 2],
    1: [("*",)],
}


def heights_apart(levels: list[tuple[str, ...]], n: int) -> list[list[float]]:
    """By the book: the height of the lowest common node over the height of the tree."""

    def height(a: int, b: int) -> int:
        return 0 if a == b else next(h for h, labels in enumerate(levels, start=1) if labels[a] == labels[b])

    return [[height(a, b) / len(levels) for a in range(n)] for b in range(n)]


@settings(max_examples=50, deadline=None)
@given(classes_of_values())
def test_hierarchical_distance_is_the_cheapest_transport(made: tuple[np.ndarray, np.ndarray, int]) -> None:
    starts, values, n_values = made
    levels = LEVELS[n_values]
    scale = scale_of("node", pa.array([f"v{i}" for i in range(n_values)]), np.arange(float(n_values)), levels)
    seen = counted(starts, values, n_values)
    margin = seen.margin
    found = tree_distances(seen.starts, seen.value, seen.count, margin, scale.starts)
    for each, members in enumerate(split(starts, values)):
        shares = plain.shares(members, list(range(n_values)))
        wanted = plain.transport_distance(shares, margin.tolist(), heights_apart(levels, n_values))
        assert abs(found[each] - wanted) < 1e-9


@st.composite
def boxes_and_query(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    width, n = draw(st.integers(1, 3)), draw(st.integers(0, 10))
    ranges = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(sorted)
    table = st.lists(st.lists(ranges, min_size=n, max_size=n), min_size=width, max_size=width)
    boxes = np.array(draw(table), dtype=np.int32).reshape(width, n, 2)
    query = np.array(draw(st.lists(ranges, min_size=width, max_size=width)), dtype=np.int32)
    return np.ascontiguousarray(boxes[..., 0]), np.ascontiguousarray(boxes[..., 1]), query[:, 0], query[:, 1]


@few
@given(boxes_and_query(), st.sets(st.integers(0, 2)))
def test_counting_inside_a_box(made: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], chosen: set[int]) -> None:
    lows, highs, low, high = (np.ascontiguousarray(part) for part in made)
    width, n = lows.shape
    columns = sorted(c for c in chosen if c < width)
    asked = np.array(columns, dtype=np.int32)
    inside = sum(all(low[c] <= lows[c, i] <= high[c] for c in columns) for i in range(n))
    assert count_inside(lows, asked, low, high) == inside
    weights = np.arange(1.0, n + 1)
    expected = 0.0
    for i in range(n):
        share = float(weights[i])
        for c in columns:
            values = range(lows[c, i], highs[c, i] + 1)
            share *= sum(low[c] <= value <= high[c] for value in values) / len(values)
        expected += share
    assert abs(expected_inside(lows, highs, weights, asked, low, high) - expected) < 1e-9
