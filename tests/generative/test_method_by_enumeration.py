"""Who knows the algorithm is never falsely certain: small tables, against all tables that give the same cells."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.old_cut import OldCut, first_release

from seriatim.attacks import prepare
from seriatim.attacks.method import rebuilt_cuts
from seriatim.attacks.traces_by_person import trace, trace_flags
from seriatim.model.history import History, PastRelease
from seriatim_papers.halved_buckets import halved_buckets

MOST = 3_000


def arrangements(held: list[int]) -> Iterator[list[int]]:
    """Every distinct order of some values."""
    if not held:
        yield []
    for one in sorted(set(held)):
        rest = held.copy()
        rest.remove(one)
        yield from ([one, *more] for more in arrangements(rest))


def same_cells(cut: OldCut, cells: list[np.ndarray], place: np.ndarray, value: np.ndarray) -> Iterator[np.ndarray]:
    """Every assignment of values with the counts of these cells that the algorithm cuts into the same cells."""
    each = [list(arrangements(value[cell].tolist())) for cell in cells]
    assume(np.prod([float(len(one)) for one in each]) <= MOST)
    wanted = [frozenset(cell.tolist()) for cell in cells]
    for told in product(*each):
        world = value.copy()
        for cell, held in zip(cells, told, strict=True):
            world[cell] = held
        if [frozenset(cell.tolist()) for cell in cut.cells(place, world)] == wanted:
            yield world


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_value_is_excluded_that_some_table_allows(data: st.DataObject) -> None:
    chance = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n, n_values = data.draw(st.integers(8, 16)), data.draw(st.integers(2, 3))
    near = data.draw(st.sampled_from([0.0, 0.5, 3.0]))
    place = np.column_stack((chance.integers(0, 9, n) / 8, chance.integers(0, 4, n) / 4)).astype(np.float32)
    drift = place[:, 0] * near + chance.random(n)
    value = np.digitize(drift, np.quantile(drift, [0.4, 0.7][: n_values - 1]))
    cap, often = (np.full(n_values, data.draw(st.integers(low, 9))) for low in (5, 2))
    ten = np.full(n_values, 10)
    strangers, least = data.draw(st.integers(0, 1)), data.draw(st.integers(3, 5))
    cut = OldCut(cap=(cap, ten), often=(often, ten), strangers=strangers, least=least)
    cells = cut.cells(place, value)
    assume(len(cells) > 1)
    possible = np.zeros((n, n_values), dtype=bool)
    known = chance.random(n) < data.draw(st.sampled_from([0.0, 0.2]))
    for world in same_cells(cut, cells, place, value):
        if (world == value)[known].all():
            possible[np.arange(n), world] = True
    assert possible[np.arange(n), value].all()
    history = first_release(cells, value)
    traces = trace(history)
    cuts = rebuilt_cuts(traces, place)
    found = prepare(history).knowing(cuts).compromise(np.flatnonzero(known).astype(np.int32), keep_log=False)
    assert not found.conflicts
    assert not (possible[:, : traces.n_values] & ~trace_flags(found.words, traces.n_values)).any()


def halved(place: np.ndarray, value: np.ndarray, n_values: int) -> set[frozenset[int]]:
    """The groups of one bucket in which every value is equally frequent, halved value by value."""
    out, stack = set(), [np.arange(len(value))]
    while stack:
        ids = stack.pop()
        step = len(ids) // n_values
        if step < 2:
            out.add(frozenset(ids.tolist()))
            continue
        wide = place[ids].astype(float)
        column = int(((wide**2).sum(axis=0) - wide.sum(axis=0) ** 2 / len(ids)).argmax())
        own = [ids[value[ids] == v] for v in range(n_values)]
        left = np.concatenate([one[np.argsort(place[one, column])][: step // 2] for one in own])
        stack += [left, np.setdiff1d(ids, left)]
    return out


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_value_is_excluded_that_some_halved_bucket_allows(data: st.DataObject) -> None:
    chance = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n_values = data.draw(st.integers(2, 3))
    n = n_values * data.draw(st.integers(2, 4 if n_values == 3 else 5))
    place = chance.random((n, 2)).astype(np.float32)
    drift = place[:, 0] * data.draw(st.sampled_from([0.0, 0.5, 3.0])) + chance.random(n)
    value = np.empty(n, dtype=np.int64)
    value[np.argsort(drift)] = np.repeat(np.arange(n_values), n // n_values)
    groups = halved(place, value, n_values)
    listed = [sorted(one) for one in groups]
    known = chance.random(n) < data.draw(st.sampled_from([0.0, 0.2]))
    possible = np.zeros((n, n_values), dtype=bool)
    for told in product(permutations(range(n_values)), repeat=len(listed)):
        world = value.copy()
        for group, held in zip(listed, told, strict=True):
            world[group] = held
        if (world == value)[known].all() and halved(place, world, n_values) == groups:
            possible[np.arange(n), world] = True
    assert possible[np.arange(n), value].all()
    group = np.empty(n, dtype=np.int32)
    for at, one in enumerate(listed):
        group[one] = at
    past = PastRelease(1, person=np.arange(n, dtype=np.int32), group=group, value=value.astype(np.int32))
    history = History(pa.array(np.arange(n)), pa.array(np.arange(n_values)), (past,))
    ground = prepare(history).knowing(rebuilt_cuts(trace(history), place, further=halved_buckets))
    found = ground.compromise(np.flatnonzero(known).astype(np.int32), keep_log=False)
    assert not found.conflicts
    assert not (possible & ~trace_flags(found.words, n_values)).any()
