"""The optimum of random lattices equals that of trying every node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import plain_promises
from support import random_lattices as plain

from seriatim.defences.single.lattice import optimum
from seriatim.defences.single.lattice.generalisation import SearchTask, pruning_bars, published_pieces
from seriatim.defences.single.lattice.nodes import LossKind, all_heights, finest_node_classes
from seriatim.defences.single.lattice.optimum import NodeDemand, NodeSearch, find_best
from seriatim.defences.single.trim import class_tests
from seriatim.engines.threads import Threads
from seriatim.kernels.single.rollup import NodeClasses, count_values
from seriatim.kernels.single.shortfall import shortfall
from seriatim.model import CodedColumn, Thresholds, scale_of

ONE = Threads(1)

ASKED = [
    None,
    Thresholds(l=2),
    Thresholds(l=1.7, l_kind="entropy"),
    Thresholds(l=2, l_kind="recursive", l_c=2.0),
    Thresholds(t=0.3),
    Thresholds(alpha_k=0.7),
    Thresholds(beta=0.9),
    Thresholds(beta=1.0, beta_kind="enhanced"),
    Thresholds(delta=1.2),
    Thresholds(value_bounds={"v0": [0.1, 0.8]}),
    Thresholds(distribution_leakage=0.4),
    Thresholds(entropy_leakage=0.5),
]


@st.composite
def cases(draw: Any) -> tuple[list[CodedColumn], CodedColumn, Thresholds | None, int, int]:
    n = draw(st.sampled_from([0, 1, 2, 5, 12, 30]))
    columns = [draw(plain.coded_columns(n, f"q{index}")) for index in range(draw(st.integers(1, 4)))]
    sensitive = draw(plain.coded_columns(n, "s", most=4))
    asked = draw(st.sampled_from(ASKED))
    return columns, sensitive, asked, draw(st.integers(1, 5)), draw(st.sampled_from([0, 0, n // 10, n // 3]))


def task_of(
    columns: list[CodedColumn], sensitive: CodedColumn, asked: Thresholds | None, k: int, budget: int, loss: LossKind
) -> SearchTask:
    lattice = all_heights(columns, loss)
    finest, ids = finest_node_classes(columns, lattice)
    shown = () if asked is None else (sensitive,)
    tests = class_tests(shown, {} if asked is None else {"s": asked})
    if asked is not None:
        values = count_values(ids, len(finest.sizes), sensitive.codes[None, :], int(tests.offsets[-1]))
        finest = NodeClasses(finest.codes, finest.sizes, *values)
    demand = NodeDemand(pruning_bars(tests, k, budget), loss, len(sensitive.codes))
    return SearchTask(
        quasi=tuple(columns), sensitive=shown, lattice=lattice, demand=demand, finest=finest, class_of_record=ids
    )


def holds(codes: list[int], margin: list[int], size: int, asked: Thresholds | None) -> bool:
    """Whether a class keeps what is asked, from its values one by one."""
    if asked is None:
        return True
    domain = list(range(size))
    x, a = plain_promises.shares(codes, domain), plain_promises.shares(margin, domain)
    if asked.l is not None:
        if asked.l_kind == "distinct":
            return plain_promises.distinct(codes) >= asked.l
        if asked.l_kind == "entropy":
            return plain_promises.entropy(codes) >= np.log(asked.l) - 1e-9
        return plain_promises.recursive_holds(codes, asked.l_c or 0.0, int(asked.l))
    if asked.t is not None:
        return plain_promises.equal_distance(x, a) <= asked.t + 1e-9
    ((name, limit),) = [(k, v) for k, v in asked.beyond_l_and_t.items() if k != "beta_kind"]
    if name == "alpha_k":
        return max(x) <= limit + 1e-9
    if name == "beta":
        caps = [limit if asked.beta_kind is None else min(limit, -np.log(p) if p else 0) for p in a]
        return all(p == 0 or (s - p) / p <= cap + 1e-9 for s, p, cap in zip(x, a, caps, strict=True))
    if name == "delta":
        return all(p == 0 or (s > 0 and abs(np.log(s / p)) <= limit + 1e-9) for s, p in zip(x, a, strict=True))
    if name == "value_bounds":
        return limit["v0"][0] - 1e-9 <= x[0] <= limit["v0"][1] + 1e-9
    if name == "distribution_leakage":
        return float(np.linalg.norm(np.subtract(x, a))) <= limit + 1e-9
    bits = [-sum(p * np.log2(p) for p in q if p) for q in (x, a)]
    return abs(bits[0] - bits[1]) <= limit + 1e-9


def plain_kept(
    columns: list[CodedColumn], sensitive: CodedColumn, asked: Thresholds | None, k: int, heights: Any
) -> list[Any]:
    """The classes that stay: against the margin of all, then of what stays, until nothing falls."""
    size, everyone = len(sensitive.scale), sensitive.codes.tolist()
    kept = [rows for rows in plain.plain_classes(columns, heights) if len(rows) >= k]
    kept = [rows for rows in kept if holds([everyone[row] for row in rows], everyone, size, asked)]
    while True:
        margin = [everyone[row] for rows in kept for row in rows]
        again = [rows for rows in kept if holds([everyone[row] for row in rows], margin, size, asked)]
        if len(again) == len(kept):
            return kept
        kept = again


@contextmanager
def few_being(n: int) -> Iterator[None]:
    """With this many classes taken for few: with none, failing nodes are sifted and sources kept also here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimum, "SMALL", n)
        patch.setattr(optimum, "SMALL", n)
        yield


SMALL = pytest.mark.parametrize("small", [0, optimum.SMALL])


PLAIN_LOSS = {
    LossKind.NCP: plain.plain_ncp,
    LossKind.PRECISION: plain.plain_precision,
    LossKind.ENTROPY: plain.plain_entropy_loss,
    LossKind.DISCERNIBILITY: None,
    LossKind.CLASS_SIZE: None,
}


def plain_cost(loss: LossKind, columns: list[CodedColumn], heights: Any, kept: list[Any]) -> float:
    n = len(columns[0].codes)
    suppressed = set(range(n)) - {row for rows in kept for row in rows}
    additive = PLAIN_LOSS[loss]
    if additive is not None:
        return additive(columns, heights, suppressed)
    if loss is LossKind.DISCERNIBILITY:
        return sum(len(rows) ** 2 for rows in kept) + n * len(suppressed)
    return n - len(kept) - (len(suppressed) > 0)


@SMALL
@pytest.mark.parametrize("loss", list(LossKind))
@settings(max_examples=60, deadline=None)
@given(made=cases())
def test_the_optimum_is_that_of_brute_force(loss, small, made):
    columns, sensitive, asked, k, budget = made
    n = len(sensitive.codes)
    costs = {}
    for node in plain.all_nodes(columns):
        kept = plain_kept(columns, sensitive, asked, k, node)
        if n - sum(map(len, kept)) <= budget:
            costs[node] = plain_cost(loss, columns, node, kept)
    task = task_of(columns, sensitive, asked, k, budget, loss)
    with few_being(small):
        found = find_best(NodeSearch(task.lattice, task.finest, task.demand, ONE))
    if not costs:
        assert found is None
        return
    assert found is not None
    node = tuple(int(height) for height in found.heights)
    assert costs[node] == pytest.approx(min(costs.values()), abs=1e-8)
    shown = found.cost / task.lattice.whole if loss.additive and n else found.cost
    assert shown == pytest.approx(costs[node] if n else 0, abs=1e-8)


@settings(max_examples=100, deadline=None)
@given(cases())
def test_a_shortfall_is_never_more_than_there_is(made):
    columns, sensitive, _, k, budget = made
    task = task_of(columns, sensitive, None, k, budget, LossKind.NCP)
    for heights in plain.all_nodes(columns)[:20]:
        lacking = sum(len(rows) for rows in plain.plain_classes(columns, heights) if len(rows) < k)
        node = task.lattice.node(np.array(heights))
        told = shortfall(task.finest, task.lattice.lookups, node, k, budget)
        assert told <= lacking


def test_a_shortfall_of_many_classes_is_nearly_all_of_it():
    rng = np.random.default_rng(5)
    columns = [_flat(f"q{i}", rng.integers(0, size, 40_000), size) for i, size in enumerate([300, 40, 9])]
    task = task_of(columns, columns[2], None, 4, 8_000, LossKind.NCP)
    for heights in plain.all_nodes(columns):
        joined = sum(c.codes.astype(np.int64) * 1000**i for i, c in enumerate(columns) if not heights[i])
        counts = np.unique(np.broadcast_to(joined, 40_000), return_counts=True)[1]
        lacking = int(counts[counts < 4].sum())
        told = shortfall(task.finest, task.lattice.lookups, task.lattice.node(np.array(heights)), 4, 8_000)
        assert told <= lacking
        assert (told > 8_000) == (lacking > 8_000)  # none of these is near the budget


def _flat(name: str, codes: Any, size: int) -> CodedColumn:
    scale = scale_of("node", pa.array([str(i) for i in range(size)]), np.arange(float(size)), [("*",) * size])
    return CodedColumn(name, codes.astype(np.int32), scale)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_pieces_hold_exactly_the_kept_classes(made):
    columns, sensitive, asked, k, budget = made
    task = task_of(columns, sensitive, asked, k, budget, LossKind.NCP)
    for node in plain.all_nodes(columns)[:20]:
        rows = np.arange(len(sensitive.codes)) * 3
        pieces = published_pieces(task, np.array(node, dtype=np.int64), rows)
        found = [
            sorted((pieces.order[a:b] // 3).tolist()) for a, b in zip(pieces.bounds, pieces.bounds[1:], strict=False)
        ]
        assert sorted(found) == sorted(plain_kept(columns, sensitive, asked, k, node))


def test_without_a_budget_classes_still_face_the_margin_of_what_is_kept():
    """The lone record falls, and then a pair of the two values is further from the rest than beta allows."""
    column = _flat("q", np.array([0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 1]), 3)
    sensitive = _flat("s", np.array([0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1]), 2)
    asked = Thresholds(beta=1.0, beta_kind="enhanced")
    task = task_of([column], sensitive, asked, 1, 0, LossKind.NCP)
    pieces = published_pieces(task, np.zeros(1, dtype=np.int64), np.arange(12))
    assert pieces.order.tolist() == [0, 1, 2, 4, 5, 6, 7, 8, 10]
    assert pieces.bounds.tolist() == [0, 9]


@settings(max_examples=20, deadline=None)
@given(cases(), st.integers(0, 2**32))
def test_neither_the_order_of_records_nor_of_workers_matters(made, seed):
    columns, sensitive, asked, k, budget = made
    turn = np.random.default_rng(seed).permutation(len(sensitive.codes))
    turned = [CodedColumn(c.name, c.codes[turn], c.scale) for c in columns]
    results = []
    for cols, sens, workers in (
        (columns, sensitive, ONE),
        (turned, CodedColumn("s", sensitive.codes[turn], sensitive.scale), Threads(2)),
    ):
        task = task_of(cols, sens, asked, k, budget, LossKind.NCP)
        found = find_best(NodeSearch(task.lattice, task.finest, task.demand, workers))
        results.append(None if found is None else (tuple(found.heights.tolist()), found.cost))
    assert results[0] == results[1]
