"""Cuts an order of people into segments whose people an adversary cannot tell apart.

A segment needs at least k people, l distinct values, values distributed like the whole (t, tested in whole numbers:
floats tie at the threshold), and beliefs about its people that diverge by at most j (Jensen-Shannon, natural
logarithm). Greedy closes a segment as soon as it passes and drops what is left; optimal minimises boxes and drops.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, Singles, inner, kernel, leaf

EQUAL, ORDERED = 0, 1


class SegmentRows(NamedTuple):
    """People along the order."""

    value: Ints
    beliefs: Singles
    """(people, values), rows sum to 1."""
    entropy: Singles
    """The entropy of each row."""
    place: Singles
    """(people, columns), each column spread over 0 to 1."""


class BeliefSegmentRules(NamedTuple):
    """What a segment must keep; above 1 a threshold asks for nothing."""

    k: int
    l: int  # noqa: E741 - the field's own name
    t: float
    ordered: int
    j: float
    whole: Longs
    """How often each value occurs among all people."""
    longest: int
    skip: float
    """The cost of dropping one person; a box over everything costs 1 a person."""


class _Segment(NamedTuple):
    """The running sums of a segment."""

    counts: Longs
    sums: Floats
    low: Singles
    high: Singles


@inner
def _clear(segment: _Segment) -> None:
    for s in range(len(segment.counts)):
        segment.counts[s] = 0
        segment.sums[s] = 0.0
    for q in range(len(segment.low)):
        segment.low[q] = 2.0
        segment.high[q] = -1.0


@leaf
def _add(segment: _Segment, rows: SegmentRows, i: int) -> None:
    segment.counts[rows.value[i]] += 1
    for s in range(len(segment.sums)):
        segment.sums[s] += rows.beliefs[i, s]
    for q in range(len(segment.low)):
        segment.low[q] = min(segment.low[q], rows.place[i, q])
        segment.high[q] = max(segment.high[q], rows.place[i, q])


@inner
def _passes(segment: _Segment, rules: BeliefSegmentRules, size: int, entropies: float) -> bool:
    """Return whether a segment keeps the rules; ``entropies`` is the sum over its people."""
    n_values, n = len(segment.counts), 0
    distinct, off, running = 0, 0, 0
    for s in range(n_values):
        n += rules.whole[s]
        distinct += 1 if segment.counts[s] > 0 else 0
    if size < rules.k or distinct < rules.l:
        return False
    if rules.t < 1.0:
        for s in range(n_values):
            running += segment.counts[s] * n - rules.whole[s] * size
            off += abs(running) if rules.ordered else abs(segment.counts[s] * n - rules.whole[s] * size)
        scale = max(n_values - 1, 1) if rules.ordered else 2
        if off > rules.t * scale * n * size:
            return False
    if rules.j < 1e9:
        mixed = 0.0
        for s in range(n_values):
            share = segment.sums[s] / size
            if share > 0.0:
                mixed -= share * np.log(share)
        return max(mixed - entropies / size, 0.0) <= rules.j
    return True


@kernel
def belief_segments_greedily(rows: SegmentRows, rules: BeliefSegmentRules) -> Longs:
    """Return the end of the segment of each position, -1 for dropped people (Algorithm 4 of the paper as printed)."""
    n, n_values = len(rows.value), rows.beliefs.shape[1]
    end = np.full(n, -1, dtype=np.int64)
    q = rows.place.shape[1]
    segment = _Segment(
        np.zeros(n_values, dtype=np.int64), np.zeros(n_values), np.zeros(q, np.float32), np.zeros(q, np.float32)
    )
    first, entropies = 0, 0.0
    _clear(segment)
    for i in range(n):
        _add(segment, rows, i)
        entropies += rows.entropy[i]
        if i + 1 - first >= rules.k and _passes(segment, rules, i + 1 - first, entropies):
            for place in range(first, i + 1):
                end[place] = i + 1
            first, entropies = i + 1, 0.0
            _clear(segment)
    return end


@kernel
def belief_segments_optimally(rows: SegmentRows, rules: BeliefSegmentRules) -> Longs:
    """Return the end of the segment of each position, -1 for dropped people, with the least sum of boxes and drops.

    Sums up to each of the last positions are kept in a ring, so that a segment is summed up only when its box is cheap
    enough to matter.
    """
    n, n_values = len(rows.value), rows.beliefs.shape[1]
    q, ring = rows.place.shape[1], rules.longest + 1
    best, start = np.zeros(n + 1), np.full(n + 1, -1, dtype=np.int64)
    sums, counts, entropies = np.zeros((ring, n_values)), np.zeros((ring, n_values), dtype=np.int64), np.zeros(ring)
    segment = _Segment(
        np.zeros(n_values, dtype=np.int64), np.zeros(n_values), np.zeros(q, np.float32), np.zeros(q, np.float32)
    )
    for i in range(1, n + 1):
        now, before = i % ring, (i - 1) % ring
        entropies[now] = entropies[before] + rows.entropy[i - 1]
        for s in range(n_values):
            sums[now, s] = sums[before, s] + rows.beliefs[i - 1, s]
            counts[now, s] = counts[before, s]
        counts[now, rows.value[i - 1]] += 1
        best[i] = best[i - 1] + rules.skip
        for c in range(q):
            segment.low[c] = 2.0
            segment.high[c] = -1.0
        for first in range(i - 1, max(i - rules.longest, 0) - 1, -1):
            for c in range(q):
                segment.low[c] = min(segment.low[c], rows.place[first, c])
                segment.high[c] = max(segment.high[c], rows.place[first, c])
            size = i - first
            if size < rules.k:
                continue
            cost = best[first] + _width(segment) * size
            if cost >= best[i]:
                continue
            then = first % ring
            for s in range(n_values):
                segment.sums[s] = max(sums[now, s] - sums[then, s], 0.0)
                segment.counts[s] = counts[now, s] - counts[then, s]
            if _passes(segment, rules, size, entropies[now] - entropies[then]):
                best[i], start[i] = cost, first
    end = np.full(n, -1, dtype=np.int64)
    i = n
    while i > 0:
        if start[i] < 0:
            i -= 1
            continue
        for place in range(start[i], i):
            end[place] = i
        i = start[i]
    return end


@kernel
def belief_segments_with_leftovers(rows: SegmentRows, rules: BeliefSegmentRules, end: Longs, reach: int) -> Longs:
    """Return the ends with people left over in a segment near them, where that keeps the rules and costs least.

    No segment of neighbours can hold someone about whom much else is believed than about those around them; one a
    little further along the order may. ``reach`` segments are asked on either side; it may cost less than dropping.
    """
    n, n_values, q = len(end), rows.beliefs.shape[1], rows.place.shape[1]
    ends = np.unique(end[end >= 0])
    g_all = len(ends)
    sums, counts = np.zeros((g_all, n_values)), np.zeros((g_all, n_values), dtype=np.int64)
    low, high = np.full((g_all, q), np.float32(2.0)), np.full((g_all, q), np.float32(-1.0))
    entropies, sizes = np.zeros(g_all), np.zeros(g_all, dtype=np.int64)
    for i in range(n):
        if end[i] >= 0:
            g = np.searchsorted(ends, end[i])
            sizes[g] += 1
            entropies[g] += rows.entropy[i]
            _add(_Segment(counts[g], sums[g], low[g], high[g]), rows, i)
    found = end.copy()
    room = _Segment(
        np.zeros(n_values, dtype=np.int64), np.zeros(n_values), np.zeros(q, np.float32), np.zeros(q, np.float32)
    )
    for i in range(n):
        if found[i] >= 0:
            continue
        here, best, least = int(np.searchsorted(ends, i)), -1, rules.skip
        for g in range(max(here - reach, 0), min(here + reach, g_all)):
            own = _Segment(counts[g], sums[g], low[g], high[g])
            _copy(own, room)
            _add(room, rows, i)
            cost = _width(room) * (sizes[g] + 1) - _width(own) * sizes[g]
            if cost < least and _passes(room, rules, sizes[g] + 1, entropies[g] + rows.entropy[i]):
                best, least = g, cost
        if best >= 0:
            found[i] = ends[best]
            sizes[best] += 1
            entropies[best] += rows.entropy[i]
            _add(_Segment(counts[best], sums[best], low[best], high[best]), rows, i)
    return found


@leaf
def _copy(one: _Segment, other: _Segment) -> None:
    for s in range(len(one.counts)):
        other.counts[s] = one.counts[s]
        other.sums[s] = one.sums[s]
    for q in range(len(one.low)):
        other.low[q] = one.low[q]
        other.high[q] = one.high[q]


@leaf
def _width(segment: Any) -> float:
    total = 0.0
    for q in range(len(segment.low)):
        total += segment.high[q] - segment.low[q]
    return total / max(len(segment.low), 1)
