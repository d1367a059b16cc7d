"""The count kernels against plain loops."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.kernels.arrays import rows_by_key
from seriatim_papers.kernels.eligibility import (
    eligibility_tree,
    fill_eligibility_needs,
    join_eligible_buckets,
    largest_eligibility_cap,
    new_eligible_buckets,
)
from seriatim_papers.kernels.halves import halve_bucket, select_half
from seriatim_papers.kernels.memory import distinct_in_memory, number_memory_sets

counts_strategy = st.lists(st.integers(0, 12), min_size=1, max_size=9)


def eligible(counts: list[int], m: int) -> bool:
    return m * max(counts, default=0) <= sum(counts)


@settings(max_examples=200, deadline=None)
@given(counts_strategy, st.integers(2, 6))
def test_largest_cap(counts: list[int], m: int):
    plain = max(c for c in range(max(counts) + 1) if m * c <= sum(min(x, c) for x in counts))
    assert largest_eligibility_cap(np.array(counts, dtype=np.int64), m) == plain


def leaves(tree: np.ndarray, n: int) -> list[int]:
    return tree[len(tree) // 2 :][:n].tolist()


@settings(max_examples=200, deadline=None)
@given(counts_strategy, st.integers(2, 6))
def test_new_buckets_use_everyone_up(counts: list[int], m: int):
    cap = largest_eligibility_cap(np.array(counts, dtype=np.int64), m)
    kept = np.minimum(np.array(counts, dtype=np.int64), cap)
    starts, values, joined = new_eligible_buckets(eligibility_tree(kept), m)
    left = kept.copy()
    for b, rounds in enumerate(joined):
        signature = values[starts[b] : starts[b + 1]]
        assert len(set(signature.tolist())) == len(signature) >= m
        assert rounds > 0
        left[signature] -= rounds
        assert eligible(left.tolist(), m)
    assert not left.any()


@settings(max_examples=200, deadline=None)
@given(counts_strategy, st.integers(2, 5), st.data())
def test_filling_and_joining_keep_the_rest_eligible(counts: list[int], m: int, data: st.DataObject):
    n = len(counts)
    cap = largest_eligibility_cap(np.array(counts, dtype=np.int64), m)
    kept = np.minimum(np.array(counts, dtype=np.int64), cap)
    spare = np.array(counts) - kept
    sets = data.draw(st.lists(st.sets(st.integers(0, n - 1), min_size=min(m, n)), min_size=1, max_size=4))
    values = np.array([v for s in sets for v in sorted(s)], dtype=np.int32)
    starts = np.concatenate(([0], np.cumsum([len(s) for s in sets]))).astype(np.int64)
    needs = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(values), max_size=len(values))))
    wanted = needs.copy()
    tree = eligibility_tree(kept)
    take = fill_eligibility_needs(np.arange(len(values), dtype=np.int32), values, needs, tree, spare.copy(), m)
    left = kept + spare - np.bincount(values, take, n).astype(np.int64)
    assert np.array_equal(take + needs, wanted)
    assert (left >= 0).all()
    assert eligible(leaves(tree, n), m)
    order = np.arange(len(sets), dtype=np.int32)
    joined = join_eligible_buckets(order, starts, values, tree, m)
    assert eligible(leaves(tree, n), m)
    assert (joined >= 0).all()
    again = join_eligible_buckets(order[-1:], starts, values, tree, m)
    if len(sets[-1]) >= m:
        assert not again.any(), "the last bucket took as many as it could"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.data())
def test_select(keys: list[int], data: st.DataObject):
    k = data.draw(st.integers(0, len(keys) - 1))
    ids = np.arange(len(keys), dtype=np.int32)
    place = np.array(keys, dtype=np.float32)[:, None]
    select_half(ids, 0, len(keys), k, place, 0)
    assert sorted(ids.tolist()) == list(range(len(keys)))
    assert sorted(np.array(keys)[ids[:k]].tolist()) == sorted(keys)[:k]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 5), st.integers(1, 20), st.integers(0, 1000))
def test_halving_moves_tuples_only_inside_their_slot(size: int, step: int, seed: int):
    chance = np.random.default_rng(seed)
    ids = chance.permutation(size * step).astype(np.int32)
    before = ids.reshape(size, step).copy()
    halve_bucket(ids, 0, size, step, chance.random((size * step, 2)).astype(np.float32))
    assert np.array_equal(np.sort(before, axis=1), np.sort(ids.reshape(size, step), axis=1))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 4)), max_size=40),
    st.permutations(range(6)),
    st.integers(0, 6),
)
def test_counting_sort_and_signatures(rows: list[tuple[int, int]], groups: list[int], n_wanted: int):
    keys = np.array([k for k, _ in rows], dtype=np.int32)
    value = np.array([v for _, v in rows], dtype=np.int32)
    starts, order = rows_by_key(keys, 6)
    assert order.tolist() == [i for k in range(6) for i, (key, _) in enumerate(rows) if key == k]
    wanted = np.array(groups[:n_wanted], dtype=np.int32)
    set_starts, values = distinct_in_memory(starts, order, value, wanted)
    sets = [tuple(values[a:b].tolist()) for a, b in itertools.pairwise(set_starts)]
    assert sets == [tuple(sorted({v for key, v in rows if key == k})) for k in wanted]
    numbers, first = number_memory_sets(set_starts, values)
    seen = list(dict.fromkeys(sets))
    assert [seen.index(s) for s in sets] == numbers.tolist()
    assert [sets[f] for f in first] == seen
