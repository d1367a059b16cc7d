"""Swaps that make boxes smaller: the kernel against loops that measure every box anew."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim_papers.kernels.tighter_boxes import LEAST, REACH, ROUNDS, tighter_bucket

EIGHTHS = 8  # places are multiples of an eighth, so that sums of squares are exact whatever their order


@st.composite
def buckets(draw):
    size, step, dims = draw(st.integers(1, 4)), draw(st.integers(1, 12)), draw(st.integers(1, 3))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = size * step
    n_fakes = draw(st.integers(0, n // 2))
    place = (chance.integers(0, EIGHTHS + 1, (n, dims)) / EIGHTHS).astype(np.float32)
    return chance.permutation(n).astype(np.int32), size, step, place, n - n_fakes


def size_of(group, place, n_real):
    real = [place[i] for i in group if i < n_real]
    return float(sum((np.max(real, axis=0) - np.min(real, axis=0)) ** 2)) if real else 0.0


def plainly(ids, size, step, place, n_real):
    groups = [[int(ids[j * step + at]) for j in range(size)] for at in range(step)]
    for _ in range(ROUNDS):
        for at in range(step - 1):
            for other in range(at + 1, min(at + 1 + REACH, step)):
                for j in range(size):
                    a, b = groups[at], groups[other]
                    if a[j] >= n_real or b[j] >= n_real:
                        continue
                    before = size_of(a, place, n_real) + size_of(b, place, n_real)
                    a[j], b[j] = b[j], a[j]
                    if before - size_of(a, place, n_real) - size_of(b, place, n_real) <= LEAST:
                        a[j], b[j] = b[j], a[j]
    return groups


@settings(max_examples=150, deadline=None)
@given(buckets())
def test_swaps_are_those_of_the_plain_loops(bucket):
    ids, size, step, place, n_real = bucket
    made = np.concatenate((np.full(3, -7, dtype=np.int32), ids))
    tighter_bucket(made, 3, size, step, place, n_real)
    assert made[:3].tolist() == [-7] * 3, "another bucket's tuples moved"
    made = made[3:]
    assert [[int(made[j * step + at]) for j in range(size)] for at in range(step)] == plainly(
        ids, size, step, place, n_real
    )


@settings(max_examples=80, deadline=None)
@given(buckets())
def test_values_stay_balanced_counterfeits_stay_put_and_boxes_do_not_grow(bucket):
    ids, size, step, place, n_real = bucket
    made = ids.copy()
    swaps = tighter_bucket(made, 0, size, step, place, n_real)
    before, after = ids.reshape(size, step), made.reshape(size, step)
    assert (np.sort(before, axis=1) == np.sort(after, axis=1)).all()
    assert (before[before >= n_real] == after[before >= n_real]).all()
    total = [sum(size_of(row[:, at], place, n_real) for at in range(step)) for row in (before, after)]
    assert total[1] <= total[0] - swaps * LEAST
    assert (swaps > 0) == bool((before != after).any())
