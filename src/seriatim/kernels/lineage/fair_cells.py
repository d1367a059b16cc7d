"""Cells: near people cut off by halving, each cell large enough and with no value above its cap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Singles, inner, kernel, leaf
from seriatim.kernels.series.halves import HalvesBucket, select_half, widest_for_halves


@kernel
def cut_cells(ids: Ints, starts: Longs, place: Singles, least: int) -> Longs:
    """Return the number of the box of every position; reorder the ids inside each run in place.

    Each run of ids is cut into boxes of ``least`` to 2 * least - 1 (fewer only where the run has fewer).
    """
    box = np.empty(len(ids), dtype=np.int64)
    stack = np.empty((128, 2), dtype=np.int64)
    n_boxes = 0
    for run in range(len(starts) - 1):
        stack[0, 0], stack[0, 1] = starts[run], starts[run + 1]
        depth = 1 if starts[run] < starts[run + 1] else 0
        while depth:
            depth -= 1
            lo, hi = stack[depth, 0], stack[depth, 1]
            size = hi - lo
            if size < 2 * least:
                for i in range(lo, hi):
                    box[i] = n_boxes
                n_boxes += 1
                continue
            half = size // 2
            select_half(ids, lo, hi, half, place, widest_for_halves(ids, HalvesBucket(lo, 1, size), 0, size, place))
            stack[depth, 0], stack[depth, 1] = lo, lo + half
            stack[depth + 1, 0], stack[depth + 1, 1] = lo + half, hi
            depth += 2
    return box


class CellShares(NamedTuple):
    """A share of a whole for every value: ``num[v] / den[v]``."""

    num: Longs
    den: Longs


class CellFairness(NamedTuple):
    """What a cell must keep: no value above its cap, and so many people of other values beside each."""

    caps: CellShares
    often: CellShares
    """Values with more than half of this share of a node are cut at their own median."""
    strangers: int


@leaf
def _count_values(ids: Ints, lo: int, hi: int, value: Ints, counts: Longs) -> None:
    """Write how often each value occurs in ``ids[lo:hi]`` into ``counts``, which must be zero."""
    for i in range(lo, hi):
        counts[value[ids[i]]] += 1


@leaf
def _is_fair(ids: Ints, lo: int, hi: int, value: Ints, counts: Longs, fairness: CellFairness) -> bool:
    """Return whether ``ids[lo:hi]`` are fair; ``counts`` must be zero, and is so afterwards."""
    _count_values(ids, lo, hi, value, counts)
    fair, size = True, hi - lo
    for i in range(lo, hi):
        own = value[ids[i]]
        over = counts[own] * fairness.caps.den[own] > size * fairness.caps.num[own]
        if over or counts[own] > size - fairness.strangers:
            fair = False
            break
    _forget_values(ids, lo, hi, value, counts)
    return fair


@leaf
def _forget_values(ids: Ints, lo: int, hi: int, value: Ints, counts: Longs) -> None:
    """Set ``counts`` back to zero for the values of ``ids[lo:hi]``."""
    for i in range(lo, hi):
        counts[value[ids[i]]] = 0


class _Values(NamedTuple):
    """The value of every id, and scratch: counts by value, and room for as many ids."""

    of_id: Ints
    counts: Longs
    room: Ints


@leaf
def _size_for(count: int, value: int, fairness: CellFairness) -> int:
    """Return the size of the smallest part that may hold a value so often."""
    by_share = -((-count * fairness.caps.den[value]) // fairness.caps.num[value])
    return int(max(by_share, count + fairness.strangers))


@inner
def _halve_fairly(ids: Ints, lo: int, hi: int, place: Singles, values: _Values, fairness: CellFairness) -> int:
    """Return the size of the first of two halves of ``ids[lo:hi]`` that may be fair, 0 for none; ids move into them.

    They are cut along the widest dimension. A value with more than half of what it may have is cut at its own median,
    so that both halves get their share of it; all others are cut at one common point. ``counts`` holds the values of
    the node on entry and afterwards.
    """
    value, counts, room = values.of_id, values.counts, values.room
    num, den = fairness.often.num, fairness.often.den
    n_ids = hi - lo
    dim = widest_for_halves(ids, HalvesBucket(lo, 1, n_ids), 0, n_ids, place)
    # others to the front, then the frequent values one after another
    frequent = 0
    n_others = 0
    for i in range(lo, hi):
        own = value[ids[i]]
        if 2 * den[own] * counts[own] <= num[own] * n_ids:
            room[n_others] = ids[i]
            n_others += 1
    at = n_others
    taken, least_left, least_right = 0, 0, 0
    segments = np.empty((len(counts) + 1, 2), dtype=np.int64)
    for i in range(lo, hi):
        own = value[ids[i]]
        held = counts[own]
        if 2 * den[own] * held <= num[own] * n_ids:
            continue
        first = at
        for j in range(i, hi):
            if value[ids[j]] == own:
                room[at] = ids[j]
                at += 1
        counts[own] = 0
        segments[frequent, 0], segments[frequent, 1] = first, at
        frequent += 1
        left = held - held // 2
        taken += left
        least_left = max(least_left, _size_for(left, own, fairness))
        least_right = max(least_right, _size_for(held // 2, own, fairness))
    size = max(min(n_ids // 2, n_ids - least_right), least_left)
    for k in range(frequent):
        counts[value[room[segments[k, 0]]]] = segments[k, 1] - segments[k, 0]
    if size - taken < 0 or size - taken > n_others:
        return 0
    if 0 < size - taken < n_others:
        select_half(room, 0, n_others, size - taken, place, dim)
    left_at, right_at = lo, lo + size
    for i in range(n_others):
        if i < size - taken:
            ids[left_at] = room[i]
            left_at += 1
        else:
            ids[right_at] = room[i]
            right_at += 1
    for k in range(frequent):
        first, end = segments[k, 0], segments[k, 1]
        left = (end - first) - (end - first) // 2
        if left < end - first:
            select_half(room, first, end, left, place, dim)
        for i in range(first, end):
            if i - first < left:
                ids[left_at] = room[i]
                left_at += 1
            else:
                ids[right_at] = room[i]
                right_at += 1
    return size


@kernel
def fair_cells(ids: Ints, place: Singles, value: Ints, fairness: CellFairness, least: int, enough: int) -> Longs:
    """Return where each cell starts; reorder ``ids`` in place into fair cells of at least ``least``.

    All ids together must be fair. Cells of at most ``enough`` are cut no further.
    """
    n_values = len(fairness.caps.num)
    counts = np.zeros(n_values, dtype=np.int64)
    room = np.empty(len(ids), dtype=np.int32)
    starts = np.zeros(len(ids) + 1, dtype=np.int64)
    stack = np.empty((128, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, len(ids)
    depth = 1 if len(ids) else 0
    n_cells = 0
    while depth:
        depth -= 1
        lo, hi = stack[depth, 0], stack[depth, 1]
        size = 0
        if hi - lo >= 2 * least and hi - lo > enough:
            _count_values(ids, lo, hi, value, counts)
            size = _halve_fairly(ids, lo, hi, place, _Values(value, counts, room), fairness)
            _forget_values(ids, lo, hi, value, counts)
        if least <= size <= hi - lo - least:
            left = _is_fair(ids, lo, lo + size, value, counts, fairness)
            if left and _is_fair(ids, lo + size, hi, value, counts, fairness):
                stack[depth, 0], stack[depth, 1] = lo + size, hi
                stack[depth + 1, 0], stack[depth + 1, 1] = lo, lo + size
                depth += 2
                continue
        n_cells += 1
        starts[n_cells] = hi
    return starts[: n_cells + 1]
