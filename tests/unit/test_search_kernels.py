"""The kernels that search, held to plain twins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from support import plain_promises as plain

from seriatim.defences.single import median as defence
from seriatim.defences.single.trim import class_tests, whole_passes
from seriatim.engines.threads import Threads
from seriatim.kernels.single.median import CutRules
from seriatim.model import CodedColumn, Scale, Thresholds
from seriatim.model.scale import scale_of

VALUES = [f"s{i}" for i in range(6)]
LEVELS = [("a", "a", "b", "b", "c", "c"), ("*",) * 6]
TREE = scale_of("node", pa.array(VALUES), np.arange(6.0), LEVELS)


@dataclass(frozen=True)
class Asked:
    """What one sensitive column is held to."""

    thresholds: Thresholds

    def holds(self, members: list[int], everyone: list[int]) -> bool:
        asked, domain = self.thresholds, list(range(6))
        if asked.l is not None:
            kept = {
                "distinct": lambda: plain.distinct(members) >= (asked.l or 0),
                "entropy": lambda: plain.entropy(members) >= math.log(asked.l or 1) - 1e-9,
                "recursive": lambda: plain.recursive_holds(members, asked.l_c or 0, int(asked.l or 0)),
            }[asked.l_kind]()
            if not kept:
                return False
        if asked.t is None:
            return True
        p, q = plain.shares(members, domain), plain.shares(everyone, domain)
        if asked.t_distance == "equal":
            return plain.equal_distance(p, q) <= asked.t + 1e-9
        if asked.t_distance == "ordered":  # no order is declared here, so values nobody has are no steps
            here = sorted(set(everyone))
            return plain.ordered_distance(plain.shares(members, here), plain.shares(everyone, here)) <= asked.t + 1e-9
        cost = [[0 if a == b else 0.5 if a // 2 == b // 2 else 1.0 for a in domain] for b in domain]
        return plain.transport_distance(p, q, cost) <= asked.t + 1e-9


ASKED = st.builds(
    lambda diverse, kind, close, apart: Asked(Thresholds(l=diverse, l_kind=kind, l_c=1.5, t=close, t_distance=apart)),
    st.one_of(st.none(), st.sampled_from([1, 2, 3])),
    st.sampled_from(["distinct", "entropy", "recursive"]),
    st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 0.8])),
    st.sampled_from(["equal", "ordered", "hierarchical"]),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=14), st.data(), ASKED)
def test_a_class_is_accepted_exactly_when_the_plain_rules_hold(everyone: list[int], data: Any, asked: Asked) -> None:
    members = data.draw(st.lists(st.sampled_from(everyone), min_size=1, max_size=10))
    column = CodedColumn("s", np.array(everyone, dtype=np.int32), TREE)
    tests = class_tests((column,), {"s": asked.thresholds})
    counts = np.bincount(members, minlength=6).astype(np.int64)
    assert whole_passes(tests, counts, len(members)) == asked.holds(members, everyone)


def test_a_declared_order_counts_all_its_values_as_steps() -> None:
    values = np.array([0, 0, 1, 1], dtype=np.int32)
    asked = {"s": Thresholds(t=0.2, t_distance="ordered")}
    declared = CodedColumn("s", values, scale_of("set", pa.array(VALUES), np.arange(6.0)))
    found = CodedColumn("s", values, scale_of("interval", pa.array(VALUES), np.arange(6.0)))
    half = np.array([2, 0, 0, 0, 0, 0], dtype=np.int64)  # a step away for half the people: 0.5 / 5 or 0.5 / 1
    assert whole_passes(class_tests((declared,), asked), half, 2)
    assert not whole_passes(class_tests((found,), asked), half, 2)


@st.composite
def columns(draw: Any, n: int) -> CodedColumn:
    """A quasi column: numbers far apart, categories, a hierarchy, or numbers with a missing value."""
    kind = draw(st.sampled_from(["interval", "set", "node", "missing"]))
    size = draw(st.integers(1, 9))
    texts: list[str | None] = [f"v{i}" for i in range(size)]
    positions = np.cumsum(draw(st.lists(st.sampled_from([0.5, 1.0, 40.0]), min_size=size, max_size=size)))
    levels = None
    if kind == "node":
        levels = [tuple(str(i // 2) for i in range(size)), tuple(str(i // 4) for i in range(size)), ("*",) * size]
    if kind == "missing" and size > 1:
        texts[-1] = None
    form: Any = kind if kind != "missing" else "interval"
    scale = scale_of(form, pa.array(texts, pa.string()), np.asarray(positions, dtype=np.float64), levels)
    codes = draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))
    return CodedColumn("q", np.array(codes, dtype=np.int32), scale)


def nodes_below(scale: Scale, codes: np.ndarray) -> np.ndarray:
    """For each code the child it is in of the lowest node that holds all of them."""
    low, high = int(codes.min()), int(codes.max())
    height = next(h for h in range(scale.top + 1) if scale.starts[h, low] == scale.starts[h, high])
    return scale.starts[height - 1][codes]


def can_be_cut(codes: np.ndarray, scale: Scale, k: int, fits: Any) -> bool:
    """The stated rule: between two children, next to the child that holds the median."""
    if codes.min() == codes.max():
        return False
    child = nodes_below(scale, codes)
    median = child[np.argsort(codes, kind="stable")[len(codes) // 2]]
    for left in (child < median, child <= median):
        if left.sum() >= k and (~left).sum() >= k and fits(left) and fits(~left):
            return True
    return False


@st.composite
def problems(draw: Any) -> tuple[list[CodedColumn], CodedColumn, Asked, int]:
    n = draw(st.sampled_from([1, 2, 5, 17, 40]))
    quasi = [draw(columns(n)) for _ in range(draw(st.integers(0, 3)))]
    values = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    return quasi, CodedColumn("s", np.array(values, dtype=np.int32), TREE), draw(ASKED), draw(st.integers(1, 5))


def pieces_of(
    problem: tuple[list[CodedColumn], CodedColumn, Asked, int], relaxed: bool, workers: int = 1
) -> list[np.ndarray]:
    quasi, sensitive, asked, k = problem
    rows = np.arange(len(sensitive.codes), dtype=np.int32)
    tests = class_tests((sensitive,), {"s": asked.thresholds})
    rules = CutRules(k, relaxed, 0)
    found = defence.cut_pieces(quasi, (sensitive,), rows, rules, tests, Threads(workers))
    return [found.order[a:b].copy() for a, b in zip(found.bounds[:-1], found.bounds[1:], strict=True)]


@settings(max_examples=120, deadline=None)
@given(problems())
def test_strict_pieces_part_the_rows_keep_the_rules_and_cannot_be_cut(problem: Any) -> None:
    quasi, sensitive, asked, k = problem
    everyone = sensitive.codes.tolist()
    pieces = pieces_of(problem, relaxed=False)
    assert sorted(np.concatenate(pieces).tolist()) == list(range(len(everyone)))
    for piece in pieces:
        if len(pieces) > 1:
            assert len(piece) >= k
            assert asked.holds(sensitive.codes[piece].tolist(), everyone)

        def fits(part: np.ndarray, piece: np.ndarray = piece) -> bool:
            return asked.holds(sensitive.codes[piece[part]].tolist(), everyone)

        for column in quasi:
            assert not can_be_cut(column.codes[piece], column.scale, k, fits)
    # strict: equal rows stay together
    of_row = {int(row): index for index, piece in enumerate(pieces) for row in piece}
    alike: dict[tuple[int, ...], set[int]] = {}
    for row in range(len(everyone)):
        alike.setdefault(tuple(int(column.codes[row]) for column in quasi), set()).add(of_row[row])
    assert all(len(found) == 1 for found in alike.values())


@settings(max_examples=60, deadline=None)
@given(problems())
def test_relaxed_pieces_part_the_rows_and_keep_the_rules(problem: Any) -> None:
    quasi, sensitive, asked, k = problem
    pieces = pieces_of(problem, relaxed=True)
    everyone = sensitive.codes.tolist()
    assert sorted(np.concatenate(pieces).tolist()) == list(range(len(everyone)))
    assert len(pieces) == 1 or all(len(piece) >= k for piece in pieces)
    assert len(pieces) == 1 or all(asked.holds(sensitive.codes[piece].tolist(), everyone) for piece in pieces)
    free = asked.thresholds.l is None and asked.thresholds.t is None
    if free and any(column.codes.min() < column.codes.max() for column in quasi) and len(everyone) >= 2 * k:
        assert len(pieces) > 1


@settings(max_examples=60, deadline=None)
@given(problems(), st.booleans())
def test_neither_workers_nor_the_width_of_codes_change_a_piece(problem: Any, relaxed: bool) -> None:
    alone = [piece.tolist() for piece in pieces_of(problem, relaxed)]
    assert [piece.tolist() for piece in pieces_of(problem, relaxed, workers=2)] == alone
    assert [piece.tolist() for piece in pieces_of(problem, relaxed, workers=3)] == alone


def test_wide_and_narrow_codes_give_the_same_pieces() -> None:
    chance = np.random.default_rng(7)
    n = 3_000
    small = chance.integers(0, 200, n).astype(np.int32)
    age = CodedColumn("age", chance.integers(0, 90, n).astype(np.int32), made_scale(90))
    narrow = CodedColumn("q", small, made_scale(200))
    # the same order and the same positions among seventy thousand values, too many for a byte
    wide_scale = made_scale(70_000)
    wide = CodedColumn("q", small, wide_scale)
    narrow_as_wide = Scale(
        "interval",
        narrow.scale.texts,
        positions=narrow.scale.positions / 199 * 69_999,
        starts=narrow.scale.starts,
        ends=narrow.scale.ends,
    )
    spread = CodedColumn(
        "q", np.searchsorted(wide_scale.positions, narrow_as_wide.positions[small]).astype(np.int32), wide_scale
    )
    sensitive = CodedColumn("s", chance.integers(0, 6, n).astype(np.int32), TREE)
    asked = Asked(Thresholds(l=2, t=0.5))
    few = pieces_of(([age, CodedColumn("q", small, narrow_as_wide)], sensitive, asked, 4), relaxed=False)
    many = pieces_of(([age, spread], sensitive, asked, 4), relaxed=False)
    assert [piece.tolist() for piece in few] == [piece.tolist() for piece in many]
    assert defence._rows([wide], (), np.arange(n, dtype=np.int32), Threads(1)).n_wide == 1
    assert defence._rows([narrow], (), np.arange(n, dtype=np.int32), Threads(1)).n_wide == 0
    assert len(few) > 100


def made_scale(size: int) -> Scale:
    return scale_of("interval", pa.array([str(i) for i in range(size)]), np.arange(float(size)))


def test_more_columns_than_one_block_of_lanes() -> None:
    chance = np.random.default_rng(11)
    n = 400
    quasi = [CodedColumn(f"q{i}", chance.integers(0, 5, n).astype(np.int32), made_scale(5)) for i in range(19)]
    sensitive = CodedColumn("s", np.zeros(n, dtype=np.int32), TREE)
    problem = (quasi, sensitive, Asked(Thresholds()), 3)
    pieces = pieces_of(problem, relaxed=False)
    assert sorted(np.concatenate(pieces).tolist()) == list(range(n))
    assert min(map(len, pieces)) >= 3
    assert len(pieces) > 40
    # the last column alone decides
    only_last = [CodedColumn("q", np.zeros(n, dtype=np.int32), made_scale(5)) for _ in range(18)] + [quasi[18]]
    parts = pieces_of((only_last, sensitive, Asked(Thresholds()), 3), relaxed=False)
    assert all(len(set(quasi[18].codes[piece].tolist())) == 1 for piece in parts)
