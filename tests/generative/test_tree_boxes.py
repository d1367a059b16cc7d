"""Boxes cut along hierarchies: all people once, none too small, and no boundary crossed without need."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.defences.series.boxes import cuts_along_hierarchies, number_groups, number_runs
from seriatim.defences.series.contract import SerialView
from seriatim.model.scale import scale_of

CODES = [f"{a}{b}" for a in "abcd" for b in range(6)]
TREE = scale_of("node", pa.array(CODES), np.arange(24.0), [tuple(code[0] for code in CODES), ("*",) * 24])
AGES = scale_of("interval", pa.array([str(age) for age in range(30)]), np.arange(30.0))
GAPS = scale_of("interval", pa.array([*map(str, range(9)), None]), np.array([*range(9), np.inf]))


def view_of(n: int, seed: int) -> SerialView:
    chance = np.random.default_rng(seed)
    columns = [chance.integers(0, len(scale), n) for scale in (TREE, AGES, GAPS)]
    blank = np.zeros(n, dtype=np.int32)
    return SerialView(
        quasi=np.column_stack(columns).astype(np.int32),
        scales=(TREE, AGES, GAPS),
        sensitive=blank,
        n_values=1,
        person=np.arange(n),
    )


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 300), min_size=1, max_size=3), st.integers(2, 6), st.integers(0, 999))
def test_boxes_hold_enough_people_of_one_run(runs: list[int], m: int, seed: int) -> None:
    view = view_of(sum(runs), seed)
    starts = np.concatenate(([0], np.cumsum(runs))).astype(np.int64)
    records = np.random.default_rng(seed).permutation(len(view)).astype(np.int32)
    box = number_runs(view, records, starts, view.place(), m)
    assert cuts_along_hierarchies(view)
    assert (box >= 0).all()
    for lo, hi in pairwise(starts):
        sizes = Counter(box[records[lo:hi]].tolist())
        assert all(size >= min(m, hi - lo) for size in sizes.values())
        others = set(box[records[:lo]].tolist()) | set(box[records[hi:]].tolist())
        assert others.isdisjoint(sizes)


@settings(max_examples=40, deadline=None)
@given(st.integers(100, 400), st.integers(2, 4), st.integers(0, 999))
def test_a_box_is_left_whole_only_if_no_column_can_be_cut(n: int, m: int, seed: int) -> None:
    view = view_of(n, seed)
    records = np.arange(n, dtype=np.int32)
    box = number_runs(view, records, np.array([0, n]), view.place(), m)
    for one in np.flatnonzero(np.bincount(box) >= 2 * m):
        inside = view.quasi[box == one]
        assert (inside[:, 1] == inside[0, 1]).all(), "ages can always be halved"
        branches = Counter((inside[:, 0] // 6).tolist())
        assert len(branches) == 1 or all(count < m or len(inside) - count < m for count in branches.values())


def lost(view: SerialView, rows: list[int]) -> float:
    """The certainty that a box of these people loses, summed over the columns."""
    total = 0.0
    for column, scale in enumerate(view.scales):
        low, high = min(view.quasi[rows, column]), max(view.quasi[rows, column])
        if scale is TREE:
            total += 0.0 if low == high else (5 if low // 6 == high // 6 else 23) / 23
        elif low != high:
            known = scale.positions[np.isfinite(scale.positions)]
            total += min((scale.positions[high] - scale.positions[low]) / (known[-1] - known[0]), 1.0)
    return total


def plainly_cut(view: SerialView, rows: list[int], m: int) -> list[list[int]]:
    """Boxes of few people: every cut along every column is tried, and the best one taken, again and again."""
    best, chosen = np.inf, None
    for column in range(len(view.scales)):
        if len(set(view.quasi[rows, column].tolist())) == 1:
            continue
        order = sorted(rows, key=lambda row: view.quasi[row, column])
        for n in range(m, len(rows) - m + 1):
            loss = n * lost(view, order[:n]) + (len(rows) - n) * lost(view, order[n:])
            near = chosen is not None and abs(2 * n - len(rows)) < abs(2 * len(chosen[0]) - len(rows))
            if loss < best - 1e-9 or (abs(loss - best) <= 1e-9 and near):
                best, chosen = loss, (order[:n], order[n:])
    if chosen is None:
        return [rows]
    return [*plainly_cut(view, chosen[0], m), *plainly_cut(view, chosen[1], m)]


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.integers(3, 5), st.integers(0, 999))
def test_few_people_are_cut_where_both_sides_lose_least(n: int, m: int, seed: int) -> None:
    view = view_of(n, seed)
    box = number_runs(view, np.arange(n, dtype=np.int32), np.array([0, n]), view.place(), m)
    found = sum(
        len(rows) * lost(view, rows) for one in range(box.max() + 1) if (rows := np.flatnonzero(box == one).tolist())
    )
    plain = sum(len(rows) * lost(view, rows) for rows in plainly_cut(view, list(range(n)), m))
    assert abs(found - plain) < 1e-6


def test_boundaries_are_respected() -> None:
    view = view_of(2_000, 1)
    box = number_runs(view, np.arange(2_000, dtype=np.int32), np.array([0, 2_000]), view.place(), 3)
    top = view.quasi[:, 0] // 6
    crossing = sum(len(set(top[box == one].tolist())) > 1 for one in range(box.max() + 1))
    assert crossing < 0.05 * (box.max() + 1)


def test_small_groups_have_boxes_of_the_table_along_a_hierarchy() -> None:
    view = view_of(900, 2)
    group = np.where(np.arange(900) < 20, -1, np.arange(900) // 3).astype(np.int32)
    box = number_groups(view, group, view.place(), 3)
    assert ((box < 0) == (group < 0)).all()
    assert min(Counter(box[box >= 0].tolist()).values()) >= 3
    crossing = sum(len(set((view.quasi[box == one, 0] // 6).tolist())) > 1 for one in range(box.max() + 1))
    assert crossing < 0.1 * (box.max() + 1)
    assert number_groups(replace(view, plain=True), group, view.place(), 3) is group
    flat = replace(view, quasi=view.quasi[:, 1:], scales=view.scales[1:])
    assert number_groups(flat, group, flat.place(), 3) is group
