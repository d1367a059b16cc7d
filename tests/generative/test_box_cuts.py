"""Boxes of near people against what each of them must hold."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from seriatim.kernels.series.cut_boxes import cut_boxes


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.integers(2, 6), st.integers(0, 999))
def test_box_cuts(runs: list[int], least: int, seed: int):
    chance = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(runs))).astype(np.int64)
    ids = np.arange(starts[-1], dtype=np.int32)
    box = cut_boxes(ids, starts, chance.random((len(ids), 3)).astype(np.float32), least)
    for lo, hi in pairwise(starts):
        assert sorted(ids[lo:hi].tolist()) == list(range(lo, hi))
        for size in Counter(box[lo:hi].tolist()).values():
            assert min(least, hi - lo) <= size < 2 * least
    assert sorted(set(box.tolist())) == list(range(int(box.max(initial=-1)) + 1))
