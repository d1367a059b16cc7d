"""The curve is a Hilbert curve, and its segments are the best there are: held to plain enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import plain_promises
from support import random_lattices as plain

from seriatim.defences.single.curve.order import cell_axes, hilbert_rows, packed_records
from seriatim.defences.single.curve.segments import SegmentDemand, best_pieces, widths_of
from seriatim.defences.single.trim import class_tests
from seriatim.engines.threads import Threads
from seriatim.kernels.single.hilbert import RowScramble, curve_keys, fetch_packed_rows
from seriatim.kernels.single.segments import (
    WindowLanes,
    cut_by_size,
    cut_by_tests,
    window_cost_lanes,
    window_cost_runs,
    window_cost_width,
    window_cost_widths,
)
from seriatim.model import CodedColumn, Scale, Thresholds, scale_of

ONE, TWO = Threads(1), Threads(2)
NO_TESTS = class_tests((), {})
NO_SCRAMBLE = [np.array([1], dtype=np.uint64), np.array([1], dtype=np.uint64), np.array([0], dtype=np.uint64)]


@pytest.mark.parametrize(("d", "bits"), [(1, 4), (2, 1), (2, 4), (3, 3), (4, 2), (5, 2)])
def test_the_curve_visits_every_cell_once_in_steps_of_one(d, bits):
    side = 1 << bits
    points = np.array(list(itertools.product(range(side), repeat=d)), dtype=np.int32)
    packed = packed_records(
        [CodedColumn(f"q{i}", np.ascontiguousarray(points[:, i]), _scale("set", side)) for i in range(d)]
    )
    axes = cell_axes(np.tile(np.arange(side, dtype=np.uint16), (d, 1)), np.arange(d), bits)
    keys = np.empty(len(points), dtype=np.uint64)
    curve_keys(packed.words, packed.layout, axes, RowScramble(16, *NO_SCRAMBLE), 0, keys)
    places = keys >> np.uint64(16)
    assert sorted(places.tolist()) == list(range(side**d))
    walk = points[np.argsort(places)]
    assert (np.abs(np.diff(walk, axis=0)).sum(axis=1) == 1).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3000), st.integers(0, 2**32))
def test_the_scramble_gives_every_row_back(n, seed):
    column = CodedColumn("q", np.zeros(n, dtype=np.int32), _scale("interval", 3))
    order, _ = hilbert_rows([column], np.random.default_rng(seed), TWO)
    assert sorted(order.tolist()) == list(range(n))


def test_ties_follow_the_secret_and_not_the_input():
    column = CodedColumn("q", np.zeros(1000, dtype=np.int32), _scale("interval", 3))
    orders = [hilbert_rows([column], np.random.default_rng(seed), ONE)[0] for seed in (1, 1, 2)]
    assert (orders[0] == orders[1]).all()
    assert (orders[0] != orders[2]).any()
    assert abs(np.corrcoef(orders[0], np.arange(1000))[0, 1]) < 0.2


@pytest.mark.parametrize("sizes", [[50] * 9, [1, 1, 3], [90_000] * 7, [1 << 16] * 8 + [1], []])
def test_packed_rows_give_every_code_back(sizes):
    rng = np.random.default_rng(3)
    columns = [
        CodedColumn(f"q{i}", rng.integers(0, n, 500).astype(np.int32), _scale("set", n)) for i, n in enumerate(sizes)
    ]
    order, packed = hilbert_rows(columns, rng, TWO)
    words, layout = fetch_packed_rows(packed.words, order), packed.layout
    for index, column in enumerate(columns):
        codes = (words[layout.words[index]] >> layout.shifts[index]) & layout.masks[index]
        assert (codes == column.codes[order]).all()


@cache
def _scale(form: Any, size: int, nulls: int = 0) -> Scale:
    texts = pa.array([*(f"{i}" for i in range(size - nulls)), *([None] * nulls)], pa.string())
    return scale_of(form, texts, np.arange(size, dtype=np.float64) ** 2)


@st.composite
def orders(draw: Any, most: int = 11) -> tuple[list[CodedColumn], CodedColumn]:
    n = draw(st.integers(0, most))
    columns = []
    for index in range(draw(st.sampled_from([1, 2, 3, 9]))):
        if draw(st.booleans()):
            columns.append(draw(plain.coded_columns(n, f"q{index}")))
            continue
        size = draw(st.sampled_from([1, 2, 5, 400]))
        codes = draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))
        scale = _scale(draw(st.sampled_from(["interval", "set"])), size, draw(st.integers(0, 1)) if size > 2 else 0)
        columns.append(CodedColumn(f"q{index}", np.array(codes, dtype=np.int32), scale))
    return columns, draw(plain.coded_columns(n, "s", most=3))


def plain_width(scale: Scale, codes: list[int]) -> float:
    """What the range of some codes costs, from the scale alone."""
    low, high = min(codes), max(codes)
    if low == high:
        return 0.0
    if scale.form == "node":
        height = next(h for h in range(scale.top + 1) if scale.starts[h][low] == scale.starts[h][high])
        return (int(scale.ends[height][low]) - int(scale.starts[height][low]) - 1) / (len(scale) - 1)
    known = len(scale) - scale.texts.null_count
    places = scale.positions if scale.form == "interval" else np.arange(len(scale), dtype=float)
    span = places[known - 1] - places[0]
    shares = [2.0 if code >= known else (places[code] - places[0]) / span if span > 0 else 0.0 for code in (low, high)]
    return shares[1] - shares[0]


def lanes(columns: list[CodedColumn]) -> WindowLanes:
    packed = packed_records(columns)
    return WindowLanes(*window_cost_lanes(packed.words, packed.layout, widths_of([column.scale for column in columns])))


@settings(max_examples=150, deadline=None)
@given(orders(), st.integers(1, 4), st.integers(1, 3), st.integers(1, 5), st.integers(1, 12))
def test_windows_are_as_wide_as_their_records_span(made, step, least, n_lengths, first_end):
    columns, _ = made
    n = len(columns[0].codes)
    runs = window_cost_runs(lanes(columns), step)
    n_runs = -(-n // step)
    if first_end > n_runs:
        return

    def plainly(first: int, end: int) -> float:
        return sum(plain_width(c.scale, c.codes[first * step : end * step].tolist()) for c in columns)

    n_windows = n_runs + 1 - first_end
    wide = np.empty((n_lengths, n_windows + 1), dtype=np.float32)
    window_cost_widths(runs, (first_end, n_windows), least, *np.empty((2, n_windows), dtype=np.float32), wide)
    for length, end in itertools.product(range(least, least + n_lengths), range(first_end, n_runs + 1)):
        if length <= end:
            assert wide[length - least, end - first_end] == pytest.approx(plainly(end - length, end), abs=1e-5)
            assert window_cost_width(runs, end - length, end) == pytest.approx(plainly(end - length, end), abs=1e-5)


def plain_widths(columns: list[CodedColumn]) -> Callable[[int, int], float]:
    """Return what the records from one place to another cost; ways to cut share most of their runs."""
    return cache(lambda first, last: sum(plain_width(c.scale, c.codes[first:last].tolist()) for c in columns))


def plain_loss(wide: Callable[[int, int], float], bounds: list[int]) -> float:
    return sum((last - first) * wide(first, last) for first, last in itertools.pairwise(bounds))


def all_cuts(n: int, borders: list[int]) -> Any:
    for size in range(len(borders) + 1):
        for inner in itertools.combinations(borders, size):
            yield [0, *inner, n]


@settings(max_examples=150, deadline=None)
@given(orders(), st.integers(1, 4))
def test_segments_of_k_are_the_best_of_all_ways_to_cut(made, k):
    columns, _ = made
    n = len(columns[0].codes)
    starts = cut_by_size(lanes(columns), k)
    if n < k:
        assert starts.tolist() == [0] * (n > 0)
        return
    bounds = [*starts.tolist(), n]
    assert min(np.diff(bounds)) >= k
    wide = plain_widths(columns)
    ways = [cut for cut in all_cuts(n, list(range(1, n))) if all(b - a >= k for a, b in itertools.pairwise(cut))]
    least = min(plain_loss(wide, cut) for cut in ways)
    assert plain_loss(wide, bounds) == pytest.approx(least, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("k", [1, 2, 5, 40])
def test_long_orders_are_cut_as_well_as_by_the_plain_programme(k):
    """Longer than the runs of ends that the kernel measures together."""
    rng = np.random.default_rng(k)
    n, scales = 2500 if k < 40 else 1100, [_scale("interval", 400), _scale("set", 7)]
    columns = [CodedColumn("q", rng.integers(0, len(scale), n).astype(np.int32), scale) for scale in scales]
    columns.append(_in_tree(rng.integers(0, 12, n)))
    bounds = [*cut_by_size(lanes(columns), k).tolist(), n]
    assert min(np.diff(bounds)) >= k
    best = [0.0] + [np.inf] * n
    for end in range(k, n + 1):
        for start in range(max(end - 2 * k + 1, 0), end - k + 1):
            if best[start] < best[end]:
                cost = sum(plain_width(c.scale, c.codes[start:end].tolist()) for c in columns)
                best[end] = min(best[end], best[start] + (end - start) * cost)
    assert plain_loss(plain_widths(columns), bounds) == pytest.approx(best[n], rel=1e-5)


def _in_tree(codes: np.ndarray) -> CodedColumn:
    levels = [tuple("aaabbbccdddd"), tuple("AAAAAACCCCCC"), ("*",) * 12]
    return CodedColumn(
        "h", codes.astype(np.int32), scale_of("node", pa.array(list("0123456789xy")), np.arange(12.0), levels)
    )


@settings(max_examples=150, deadline=None)
@given(orders(), st.integers(1, 3), st.integers(1, 3), st.sampled_from([1, 2, 4, 12]), st.sampled_from([2, 3, 0.4]))
def test_segments_under_tests_are_the_best_on_their_grid(made, k, step, most, asked):
    columns, sensitive = made
    n = len(sensitive.codes)
    if not n:
        return
    terms = Thresholds(t=asked) if asked < 1 else Thresholds(l=asked)
    tests = class_tests((sensitive,), {"s": terms})
    starts = cut_by_tests(lanes(columns), sensitive.codes[None, :], k, step, most, tests)
    domain, everyone = list(range(len(sensitive.scale))), sensitive.codes.tolist()

    @cache  # ways to cut share most of their runs
    def passes(first: int, last: int) -> bool:
        values = everyone[first:last]
        if len(values) < k:
            return False
        if asked >= 1:
            return plain_promises.distinct(values) >= asked
        shares = plain_promises.shares(values, domain), plain_promises.shares(everyone, domain)
        return plain_promises.equal_distance(*shares) <= asked + 1e-9

    grid = list(all_cuts(n, list(range(step, n, step))))
    ways = [cut for cut in grid if all(passes(first, last) for first, last in itertools.pairwise(cut))]
    if not ways:
        assert not len(starts)
        return
    bounds, wide = [*starts.tolist(), n], plain_widths(columns)
    if most >= n:
        least = min(plain_loss(wide, way) for way in ways)
        assert plain_loss(wide, bounds) == pytest.approx(least, rel=1e-5, abs=1e-5)
    short = [
        way for way in ways if all(-(-last // step) - first // step <= most for first, last in itertools.pairwise(way))
    ]
    if short:
        assert plain_loss(wide, bounds) <= min(plain_loss(wide, way) for way in short) + 1e-4
    if len(starts):
        assert all(passes(first, last) for first, last in itertools.pairwise(bounds))


def _world(n: int, seed: int) -> tuple[list[CodedColumn], CodedColumn]:
    rng = np.random.default_rng(seed)
    columns = [CodedColumn(f"q{i}", rng.integers(0, 9, n).astype(np.int32), _scale("interval", 9)) for i in range(3)]
    sick = np.where(rng.random(n) < 0.8, rng.integers(0, 4, n), columns[0].codes // 3).astype(np.int32)
    return columns, CodedColumn("s", sick, _scale("set", 4))


@pytest.mark.parametrize(
    "asked", [None, Thresholds(l=3), Thresholds(t=0.2), Thresholds(l=2.5, l_kind="entropy", t=0.4)]
)
def test_many_blocks_keep_every_promise_and_workers_change_nothing(asked, monkeypatch):
    monkeypatch.setattr("seriatim.defences.single.curve.segments._BLOCK", 300)
    columns, sensitive = _world(5000, 1)
    shown = () if asked is None else (sensitive,)
    tests = class_tests(shown, {"s": asked} if asked else {})
    both = [
        best_pieces(columns, shown, SegmentDemand(4, tests), np.random.default_rng(7), workers)
        for workers in (ONE, TWO)
    ]
    assert (both[0].order == both[1].order).all()
    assert (both[0].bounds == both[1].bounds).all()
    pieces = both[0]
    assert sorted(pieces.order.tolist()) == list(range(5000))
    assert np.diff(pieces.bounds).min() >= 4
    assert pieces.n_groups > 10
    everyone = sensitive.codes.tolist()
    for first, last in itertools.pairwise(pieces.bounds.tolist()):
        values = sensitive.codes[pieces.order[first:last]].tolist()
        if asked and asked.t is not None:
            shares = plain_promises.shares(values, [0, 1, 2, 3]), plain_promises.shares(everyone, [0, 1, 2, 3])
            assert plain_promises.equal_distance(*shares) <= asked.t + 1e-9
        if asked and asked.l_kind == "entropy":
            assert plain_promises.entropy(values) >= np.log(2.5) - 1e-9
        elif asked and asked.l is not None:
            assert plain_promises.distinct(values) >= 3


@pytest.mark.parametrize("k", [7, 11, 40, 99])
def test_a_crowd_larger_than_a_block_is_still_a_crowd(k, monkeypatch):
    monkeypatch.setattr("seriatim.defences.single.curve.segments._BLOCK", 10)
    columns, _ = _world(99, 3)
    pieces = best_pieces(columns, (), SegmentDemand(k, NO_TESTS), np.random.default_rng(1), ONE)
    assert np.diff(pieces.bounds).min() >= k


def test_what_no_segment_can_keep_is_one_group_of_all():
    columns, _ = _world(50, 2)
    constant = CodedColumn("s", np.zeros(50, dtype=np.int32), _scale("set", 4))
    tests = class_tests((constant,), {"s": Thresholds(l=2)})
    pieces = best_pieces(columns, (constant,), SegmentDemand(3, tests), np.random.default_rng(1), ONE)
    assert pieces.bounds.tolist() == [0, 50]
