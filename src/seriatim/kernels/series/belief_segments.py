"""Cuts an order of people into segments whose people an adversary cannot tell apart.

A segment needs at least k people, l distinct values, values distributed like the whole (t, tested in whole numbers:
floats tie at the threshold), and beliefs about its people that diverge by at most j (Jensen-Shannon, natural
logarithm). Greedy closes a segment as soon as it passes and drops what is left; optimal minimises boxes and drops.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, Singles, inner, kernel, leaf


class SegmentRows(NamedTuple):
    """People along the order."""

    value: Ints
    beliefs: Singles
    """(people, values), rows sum to 1."""
    entropy: Singles
    """The entropy of each row."""
    place: Singles
    """(people, columns), each column spread over 0 to 1."""


class SegmentRules(NamedTuple):
    """What a segment must keep: k, l, t and j of the policy; above 1 a threshold asks for nothing."""

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
    """Set ``segment`` to one without people."""
    for value in range(len(segment.counts)):
        segment.counts[value] = 0
        segment.sums[value] = 0.0
    for axis in range(len(segment.low)):
        # outside 0 to 1: the first person sets both ends
        segment.low[axis] = 2.0
        segment.high[axis] = -1.0


@leaf
def _add(segment: _Segment, rows: SegmentRows, i: int) -> None:
    """Add the person at position i to ``segment``."""
    segment.counts[rows.value[i]] += 1
    for value in range(len(segment.sums)):
        segment.sums[value] += rows.beliefs[i, value]
    for axis in range(len(segment.low)):
        segment.low[axis] = min(segment.low[axis], rows.place[i, axis])
        segment.high[axis] = max(segment.high[axis], rows.place[i, axis])


@inner
def _passes(segment: _Segment, rules: SegmentRules, size: int, entropies: float) -> bool:
    """Return whether a segment keeps the rules; ``entropies`` is the sum over its people."""
    n_values, n_whole = len(segment.counts), 0
    distinct, off, running = 0, 0, 0
    for value in range(n_values):
        n_whole += rules.whole[value]
        distinct += 1 if segment.counts[value] > 0 else 0
    if size < rules.k or distinct < rules.l:
        return False
    if rules.t < 1.0:
        for value in range(n_values):
            # shares times both sizes stay whole numbers
            running += segment.counts[value] * n_whole - rules.whole[value] * size
            off += abs(running) if rules.ordered else abs(segment.counts[value] * n_whole - rules.whole[value] * size)
        # ordered values are n - 1 steps apart; otherwise whoever moves is counted where they left and where they came
        scale = max(n_values - 1, 1) if rules.ordered else 2
        if off > rules.t * scale * n_whole * size:
            return False
    # no promise of j is written as a number beyond any divergence
    if rules.j < 1e9:
        mixed = 0.0
        for value in range(n_values):
            share = segment.sums[value] / size
            if share > 0.0:
                mixed -= share * np.log(share)
        return max(mixed - entropies / size, 0.0) <= rules.j
    return True


@kernel
def cut_greedily(rows: SegmentRows, rules: SegmentRules) -> Longs:
    """Return the end of the segment of each position, -1 for dropped people (Algorithm 4 of the paper as printed)."""
    n_rows, n_values = len(rows.value), rows.beliefs.shape[1]
    end = np.full(n_rows, -1, dtype=np.int64)
    n_axes = rows.place.shape[1]
    segment = _Segment(
        np.zeros(n_values, dtype=np.int64),
        np.zeros(n_values),
        np.zeros(n_axes, np.float32),
        np.zeros(n_axes, np.float32),
    )
    first, entropies = 0, 0.0
    _clear(segment)
    for i in range(n_rows):
        _add(segment, rows, i)
        entropies += rows.entropy[i]
        if i + 1 - first >= rules.k and _passes(segment, rules, i + 1 - first, entropies):
            for place in range(first, i + 1):
                end[place] = i + 1
            first, entropies = i + 1, 0.0
            _clear(segment)
    return end


@kernel
def cut_optimally(rows: SegmentRows, rules: SegmentRules) -> Longs:
    """Return the end of the segment of each position, -1 for dropped people, with the least sum of boxes and drops.

    Sums up to each of the last positions are kept in a ring, so that a segment is summed up only when its box is cheap
    enough to matter.
    """
    n_rows, n_values = len(rows.value), rows.beliefs.shape[1]
    n_axes, ring = rows.place.shape[1], rules.longest + 1
    best, start = np.zeros(n_rows + 1), np.full(n_rows + 1, -1, dtype=np.int64)
    sums, counts, entropies = np.zeros((ring, n_values)), np.zeros((ring, n_values), dtype=np.int64), np.zeros(ring)
    segment = _Segment(
        np.zeros(n_values, dtype=np.int64),
        np.zeros(n_values),
        np.zeros(n_axes, np.float32),
        np.zeros(n_axes, np.float32),
    )
    for i in range(1, n_rows + 1):
        now, before = i % ring, (i - 1) % ring
        entropies[now] = entropies[before] + rows.entropy[i - 1]
        for value in range(n_values):
            sums[now, value] = sums[before, value] + rows.beliefs[i - 1, value]
            counts[now, value] = counts[before, value]
        counts[now, rows.value[i - 1]] += 1
        # this person can always be dropped
        best[i] = best[i - 1] + rules.skip
        for axis in range(n_axes):
            segment.low[axis] = 2.0
            segment.high[axis] = -1.0
        for first in range(i - 1, max(i - rules.longest, 0) - 1, -1):
            for axis in range(n_axes):
                segment.low[axis] = min(segment.low[axis], rows.place[first, axis])
                segment.high[axis] = max(segment.high[axis], rows.place[first, axis])
            size = i - first
            if size < rules.k:
                continue
            cost = best[first] + _width(segment) * size
            # the box is cheap to know and the rules are not: what cannot win is not summed up
            if cost >= best[i]:
                continue
            then = first % ring
            for value in range(n_values):
                # the difference of two running sums may fall below 0
                segment.sums[value] = max(sums[now, value] - sums[then, value], 0.0)
                segment.counts[value] = counts[now, value] - counts[then, value]
            if _passes(segment, rules, size, entropies[now] - entropies[then]):
                best[i], start[i] = cost, first
    end = np.full(n_rows, -1, dtype=np.int64)
    i = n_rows
    while i > 0:
        if start[i] < 0:
            i -= 1
            continue
        for place in range(start[i], i):
            end[place] = i
        i = start[i]
    return end


@kernel
def cut_with_leftovers(rows: SegmentRows, rules: SegmentRules, end: Longs, reach: int) -> Longs:
    """Return the ends with people left over in a segment near them, where that keeps the rules and costs least.

    No segment of neighbours can hold someone about whom much else is believed than about those around them; one a
    little further along the order may. ``reach`` segments are asked on either side; it may cost less than dropping.
    """
    n_rows, n_values, n_axes = len(end), rows.beliefs.shape[1], rows.place.shape[1]
    ends = np.unique(end[end >= 0])
    n_segments = len(ends)
    sums, counts = np.zeros((n_segments, n_values)), np.zeros((n_segments, n_values), dtype=np.int64)
    low, high = np.full((n_segments, n_axes), np.float32(2.0)), np.full((n_segments, n_axes), np.float32(-1.0))
    entropies, sizes = np.zeros(n_segments), np.zeros(n_segments, dtype=np.int64)
    for i in range(n_rows):
        if end[i] >= 0:
            at = np.searchsorted(ends, end[i])
            sizes[at] += 1
            entropies[at] += rows.entropy[i]
            _add(_Segment(counts[at], sums[at], low[at], high[at]), rows, i)
    found = end.copy()
    room = _Segment(
        np.zeros(n_values, dtype=np.int64),
        np.zeros(n_values),
        np.zeros(n_axes, np.float32),
        np.zeros(n_axes, np.float32),
    )
    for i in range(n_rows):
        if found[i] >= 0:
            continue
        # never dearer than dropping
        here, best, least = int(np.searchsorted(ends, i)), -1, rules.skip
        for at in range(max(here - reach, 0), min(here + reach, n_segments)):
            own = _Segment(counts[at], sums[at], low[at], high[at])
            _copy(own, room)
            _add(room, rows, i)
            cost = _width(room) * (sizes[at] + 1) - _width(own) * sizes[at]
            if cost < least and _passes(room, rules, sizes[at] + 1, entropies[at] + rows.entropy[i]):
                best, least = at, cost
        if best >= 0:
            # whoever is asked about next finds this person in the segment
            found[i] = ends[best]
            sizes[best] += 1
            entropies[best] += rows.entropy[i]
            _add(_Segment(counts[best], sums[best], low[best], high[best]), rows, i)
    return found


@leaf
def _copy(one: _Segment, other: _Segment) -> None:
    """Overwrite ``other`` with ``one``."""
    for value in range(len(one.counts)):
        other.counts[value] = one.counts[value]
        other.sums[value] = one.sums[value]
    for axis in range(len(one.low)):
        other.low[axis] = one.low[axis]
        other.high[axis] = one.high[axis]


@leaf
def _width(segment: Any) -> float:
    """Return the mean width of a segment's box."""
    total = 0.0
    for axis in range(len(segment.low)):
        total += segment.high[axis] - segment.low[axis]
    return total / max(len(segment.low), 1)
