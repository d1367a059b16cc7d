"""The kernels of lineages against plain loops and scipy."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from seriatim.defences.series.lineage import founding_cells
from seriatim.engines.threads import Threads
from seriatim.kernels.lineage.drops import PART, drop_rare, drop_slots
from seriatim.kernels.lineage.fair_cells import CellFairness, CellShares, cut_cells, fair_cells
from seriatim.kernels.lineage.fair_rest import leave_fair_rest
from seriatim.kernels.lineage.match import CENTRE_WEIGHT, MatchBoxes, cheapest_match, match_value
from seriatim.kernels.lineage.refill import SHARED, RefillLimits, RefillSlots, refill_batch, reserve_refill
from seriatim.kernels.series.eligibility import largest_eligibility_cap


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 12), st.integers(0, 8), st.integers(0, 10_000), st.booleans())
def test_assignment_costs_what_scipy_says(rows: int, more: int, seed: int, tied: bool):
    chance = np.random.default_rng(seed)
    cost = chance.integers(0, 4, (rows, rows + more)) if tied else chance.random((rows, rows + more))
    cost = cost.astype(np.float32)
    chosen = cheapest_match(cost)
    assert len(set(chosen.tolist())) == rows
    best = cost[linear_sum_assignment(cost)].sum()
    assert np.isclose(cost[np.arange(rows), chosen].sum(), best, rtol=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(0, 60), st.integers(2, 20), st.integers(0, 10_000))
def test_every_slot_gets_a_person_of_its_own(n_slots: int, more: int, block: int, seed: int):
    chance = np.random.default_rng(seed)
    n = n_slots + more
    place = chance.random((n, 2)).astype(np.float32)
    corners = chance.random((2, n_slots, 2)).astype(np.float32)
    low, high = corners.min(axis=0), corners.max(axis=0)
    out = np.full(n_slots, -1, dtype=np.int32)
    match_value(
        np.arange(n_slots, dtype=np.int32), np.arange(n, dtype=np.int32), MatchBoxes(low, high), place, out, block
    )
    assert len(set(out.tolist())) == n_slots
    assert out.min() >= 0
    if n <= block:
        gap = np.maximum(low[:, None] - place, 0) + np.maximum(place - high[:, None], 0)
        cost = (gap + CENTRE_WEIGHT * np.abs(place - (low[:, None] + high[:, None]) / 2)).sum(axis=2)
        assert np.isclose(cost[np.arange(n_slots), out].sum(), cost[linear_sum_assignment(cost)].sum(), rtol=1e-4)


def fair(counts: list[int], m: int) -> bool:
    return m * max(counts, default=0) <= sum(counts)


def even(n_values: int, m: int, least: int) -> RefillLimits:
    """Limits without caps: every value may have one m-th."""
    return RefillLimits(m, np.zeros(n_values, dtype=np.int64), least, 0, 0)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4)), min_size=1, max_size=5),
    st.integers(2, 4),
    st.integers(0, 3),
)
def test_batch_is_the_largest_fair_one(slots: list[tuple[int, int]], m: int, more: int):
    whole = [w for w, _ in slots]
    most = [min(w, e) for w, e in slots]
    out = np.zeros(len(slots), dtype=np.int64)
    values = np.arange(len(slots))
    size = refill_batch(np.array(whole), np.array(most), values, even(len(slots), m, m + more), out)
    possible = [
        sum(batch)
        for batch in product(*(range(e + 1) for e in most))
        if sum(batch) >= m + more
        and fair(list(batch), m)
        and fair([w - b for w, b in zip(whole, batch, strict=True)], m)
    ]
    assert size == max(possible, default=0)
    if size:
        batch = out.tolist()
        assert sum(batch) == size
        assert all(0 <= b <= e for b, e in zip(batch, most, strict=True))
        assert fair(batch, m)
        assert fair([w - b for w, b in zip(whole, batch, strict=True)], m)


def within(counts: list[int], caps: list[float], strangers: int) -> bool:
    """Whether no value exceeds its cap, with so many people of other values beside each."""
    n = sum(counts)
    return all(c <= cap * n + 1e-9 and c <= max(n - strangers, 0) for c, cap in zip(counts, caps, strict=True))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4)), min_size=2, max_size=5),
    st.integers(2, 4),
    st.integers(0, 3),
    st.sampled_from([500_000, 750_000, 900_000]),
)
def test_batch_with_caps_is_the_largest_fair_one(slots: list[tuple[int, int]], m: int, strangers: int, raised: int):
    """The first value may have more than the others; strangers stand in the batch and, one less, in the rest."""
    whole, most = [w for w, _ in slots], [min(w, e) for w, e in slots]
    staying = max(strangers - 1, 0)
    millionths = np.array([raised if raised * m > 1_000_000 else 0, *[0] * (len(slots) - 1)])
    caps = [max(raised / 1e6, 1 / m), *[1 / m] * (len(slots) - 1)]
    out = np.zeros(len(slots), dtype=np.int64)
    limits = RefillLimits(m, millionths, 2, strangers, staying)
    size = refill_batch(np.array(whole), np.array(most), np.arange(len(slots)), limits, out)
    possible = [
        sum(batch)
        for batch in product(*(range(e + 1) for e in most))
        if sum(batch) >= 2
        and within(list(batch), caps, strangers)
        and within([w - b for w, b in zip(whole, batch, strict=True)], caps, staying)
    ]
    assert size == max(possible, default=0)
    assert not size or sum(out.tolist()) == size


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from([0.4, 0.7]))
def test_newcomers_left_become_fair_and_batches_stay_so(seed: int, m: int, skew: float):
    """Batches of two lineages give slots back: each stays fair with a fair rest, and only what helps is given back."""
    chance = np.random.default_rng(seed)
    n_values = m + 3
    weights = np.array([skew, *[(1 - skew) / (n_values - 1)] * (n_values - 1)])
    value = np.sort(chance.choice(n_values, 160, p=weights)).astype(np.int32)
    value = np.concatenate((value[::2], value[1::2]))
    empty = chance.random(160) < 0.5
    cap = 1.5 * skew / (1 + 0.5 * skew)
    limits = RefillLimits(m, np.array([int(cap * 1e6) if cap * m > 1 else 0, *[0] * (n_values - 1)]), 6, 3, 2)
    zero = np.zeros(160, dtype=np.int64)
    slots = RefillSlots(np.array([0, 80, 160]), value, empty, zero, zero)
    left = chance.multinomial(90, weights).astype(np.int64)
    reserved = reserve_refill(np.arange(2), slots, left, zero, limits)
    before, n_left = reserved.copy(), int(left.sum())
    back = leave_fair_rest(reserved, slots, left, zero, limits)
    assert back == before.sum() - reserved.sum() == left.sum() - n_left
    assert not (reserved & ~before).any()
    caps = [max(cap, 1 / m), *[1 / m] * (n_values - 1)]
    for lineage in (slice(0, 80), slice(80, 160)):
        batch = np.bincount(value[lineage][reserved[lineage]], minlength=n_values)
        rest = np.bincount(value[lineage][~reserved[lineage]], minlength=n_values)
        if batch.sum():
            assert batch.sum() >= 6
            assert within(batch.tolist(), caps, 3)
            assert within(rest.tolist(), caps, 2)
    fair_rest = within(left.tolist(), caps, 3 if left.sum() >= 6 else 0)
    assert fair_rest or back == 0 or not leave_fair_rest(reserved, slots, left.copy(), zero, limits)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from([1, 3]), st.sampled_from([1, 3]))
def test_what_is_dropped_together(seed: int, m: int, n_times: int, n_makings: int):
    """One lineage: people of several times in slots of several makings; the drop keeps every promise, read plainly."""
    chance = np.random.default_rng(seed)
    n, n_values = int(chance.integers(1, 60)), m + int(chance.integers(1, 6))
    value = chance.integers(0, n_values, n).astype(np.int32)
    since, made = chance.integers(0, n_times, n), chance.integers(0, n_makings, n)
    empty = chance.random(n) < 0.6
    stays = empty | (chance.random(n) < 0.7)
    slots, limits = RefillSlots(np.array([0, n]), value, empty, since, made), even(n_values, m, m + 2)
    for everything in (True, False):
        dropped = drop_slots(slots, stays, n_values, limits) if everything else drop_rare(slots, n_values, limits)
        gone = np.flatnonzero(dropped).tolist()
        assert all(empty[s] for s in gone)
        if not gone:
            continue
        assert len(gone) >= m + 2
        assert fair(list(Counter(value[gone].tolist()).values()), m)
        times = set(since[gone].tolist())
        for time in times if len(times) > 1 else ():
            assert len({int(value[s]) for s in gone if since[s] == time}) >= PART
        for making in set(made[gone].tolist()):
            rest = [int(value[s]) for s in range(n) if made[s] == making and not dropped[s]]
            assert fair(list(Counter(rest).values()), m)
            assert making == 0 or not rest or len(rest) >= m + 2
        if everything:
            held = Counter(value[(made == 0) & ~dropped].tolist())
            fresh = set(value[~stays].tolist())
            assert all(held[v] >= SHARED for v in fresh & set(value[gone].tolist()))
            assert fair(list(Counter(value[stays & ~dropped].tolist()).values()), m)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_of_people_who_came_together_the_most_are_dropped(seed: int, m: int):
    chance = np.random.default_rng(seed)
    n, n_values = int(chance.integers(1, 60)), m + int(chance.integers(1, 6))
    value, empty = chance.integers(0, n_values, n).astype(np.int32), chance.random(n) < 0.6
    zero, all_stay = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.bool_)
    whole, free = (np.bincount(value[which], minlength=n_values) for which in (all_stay, empty))
    size = refill_batch(whole, free, np.arange(n_values), even(n_values, m, m + 2), np.zeros(n_values, dtype=np.int64))
    slots = RefillSlots(np.array([0, n]), value, empty, zero, zero)
    dropped = drop_slots(slots, all_stay, n_values, even(n_values, m, m + 2))
    assert dropped.sum() == size


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 300), st.integers(2, 5), st.integers(1, 20), st.sampled_from([0.0, 1.0, 3.0]), st.integers(0, 999)
)
def test_cells_are_fair_and_large_enough(n: int, m: int, least: int, skew: float, seed: int):
    chance = np.random.default_rng(seed)
    weights = np.arange(1, m + 5, dtype=float) ** -skew
    value = chance.choice(m + 4, n, p=weights / weights.sum()).astype(np.int32)
    cap = largest_eligibility_cap(np.bincount(value, minlength=m + 4).astype(np.int64), m)
    rank = np.array([(value[:i] == value[i]).sum() for i in range(n)])
    ids = np.flatnonzero(rank < cap).astype(np.int32) if n else np.empty(0, dtype=np.int32)
    before = sorted(ids.tolist())
    place = chance.integers(0, 5, (n, 2)).astype(np.float32)
    shares = CellShares(np.ones(m + 4, dtype=np.int64), np.full(m + 4, m, dtype=np.int64))
    starts = fair_cells(ids, place, value, CellFairness(shares, shares, 0), least, 0)
    assert sorted(ids.tolist()) == before
    assert starts[-1] == len(ids)
    for lo, hi in pairwise(starts):
        assert hi - lo >= min(least, len(ids))
        assert fair(list(Counter(value[ids[lo:hi]].tolist()).values()), m)
    if len(ids) >= 2 * max(least, 2 * m) and skew == 0.0 and m * 2 * cap <= len(ids):
        assert len(starts) > 2, "nothing stands against a cut here"


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 300), st.integers(2, 5), st.integers(1, 20), st.sampled_from([0.0, 1.0]), st.integers(0, 999))
def test_cells_are_the_same_however_many_workers_cut_them(n: int, m: int, least: int, skew: float, seed: int):
    chance = np.random.default_rng(seed)
    weights = np.arange(1, m + 5, dtype=float) ** -skew
    value = chance.choice(m + 4, n, p=weights / weights.sum()).astype(np.int32)
    place = chance.integers(0, 5, (n, 2)).astype(np.float32)
    shares = CellShares(np.ones(m + 4, dtype=np.int64), np.full(m + 4, m, dtype=np.int64))
    fairness, alone, shared = (
        CellFairness(shares, shares, 0),
        np.arange(n, dtype=np.int32),
        np.arange(n, dtype=np.int32),
    )
    starts = fair_cells(alone, place, value, fairness, least, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(founding_cells, "FEW", 20)
        found = founding_cells.founding_cells(shared, place, value, fairness, least, Threads(3))
    assert starts.tolist() == found.tolist()
    assert alone.tolist() == shared.tolist()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.integers(2, 6), st.integers(0, 999))
def test_box_cuts(runs: list[int], least: int, seed: int):
    chance = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(runs))).astype(np.int64)
    ids = np.arange(starts[-1], dtype=np.int32)
    box = cut_cells(ids, starts, chance.random((len(ids), 3)).astype(np.float32), least)
    for lo, hi in pairwise(starts):
        assert sorted(ids[lo:hi].tolist()) == list(range(lo, hi))
        for size in Counter(box[lo:hi].tolist()).values():
            assert min(least, hi - lo) <= size < 2 * least
    assert sorted(set(box.tolist())) == list(range(int(box.max(initial=-1)) + 1))
