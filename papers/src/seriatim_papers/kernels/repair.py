"""Repair: swap tuples of equal value between near groups until no group is unsafe."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Singles, inner, kernel, leaf
from seriatim.kernels.series.cut_boxes import HalvesBucket
from seriatim_papers.kernels.correlations import (
    CorrelationMemory,
    CorrelationTally,
    blank_correlations,
    correlation_badness,
    was_in_correlation,
)
from seriatim_papers.kernels.halves import HalvesArrays

NEAR = 12
"""Groups on each side among which the cheapest swap is chosen."""
FAR = 400
"""Groups on each side that are tried at all."""


class RepairPlaces(NamedTuple):
    """Ids in the order of buckets, value after value; who each id is, and where it lies. Others are counterfeits."""

    ids: Ints
    person: Longs
    place: Singles


class RepairTarget(NamedTuple):
    """A group, how bad it is, and the earlier group it shares most with."""

    at: int
    bad: int
    worst: int


@leaf
def _person_at(placed: RepairPlaces, where: int) -> int:
    """Return the person at a position; -1 for a counterfeit, or for nobody."""
    each = placed.ids[where]
    return int(placed.person[each]) if 0 <= each < len(placed.person) else -1


@leaf
def _read_group(placed: RepairPlaces, bucket: HalvesBucket, at: int, out: Longs) -> int:
    """Return how many of a group are real; write its persons into ``out``, -1 for counterfeits."""
    n_real = 0
    for value in range(len(out)):
        out[value] = _person_at(placed, bucket.base + value * bucket.step + at)
        n_real += out[value] >= 0
    return n_real


@leaf
def _repair_width(placed: RepairPlaces, bucket: HalvesBucket, at: int) -> float:
    """Return the semiperimeter of the box over a group's real tuples."""
    ids, place, total = placed.ids, placed.place, 0.0
    for dim in range(place.shape[1]):
        low, high = np.inf, -np.inf
        for value in range(bucket.size):
            each = ids[bucket.base + value * bucket.step + at]
            if 0 <= each < len(placed.person):
                low, high = min(low, place[each, dim]), max(high, place[each, dim])
        if high > low:
            total += high - low
    return total


@leaf
def _less_bad(
    placed: RepairPlaces,
    bucket: HalvesBucket,
    group: RepairTarget,
    earlier: CorrelationMemory,
    tally: CorrelationTally,
    room: Longs,
) -> bool:
    """Return whether a group as it stands now is less bad than it was, and not empty; overwrites ``room``."""
    if _read_group(placed, bucket, group.at, room) == 0:
        return False
    left, _ = correlation_badness(room, earlier, tally)
    return left < group.bad


@inner
def _best_swap(
    placed: RepairPlaces, bucket: HalvesBucket, group: RepairTarget, earlier: CorrelationMemory, tally: CorrelationTally
) -> bool:
    """Return whether a swap lowers a group's badness; make the cheapest one near by, or the first one further off.

    The ids of the two groups change places in ``placed``; the other group becomes no worse, and neither is emptied.
    """
    ids, at, worst, base, step = placed.ids, group.at, group.worst, bucket.base, bucket.step
    room = np.empty(bucket.size, dtype=np.int64)
    best, best_value, best_other = np.inf, -1, -1
    for distance in range(1, min(step, FAR + 1)):
        if distance > NEAR and best_value >= 0:
            break
        for side in (-1, 1):
            other = at + side * distance
            if other < 0 or other >= step:
                continue
            _read_group(placed, bucket, other, room)
            other_bad, _ = correlation_badness(room, earlier, tally)
            before = -1.0
            for value in range(bucket.size):
                here, there = base + value * step + at, base + value * step + other
                if not was_in_correlation(_person_at(placed, here), worst, earlier):
                    continue
                if was_in_correlation(_person_at(placed, there), worst, earlier):
                    continue
                if before < 0:
                    before = _repair_width(placed, bucket, at) + _repair_width(placed, bucket, other)
                ids[here], ids[there] = ids[there], ids[here]
                cost = _repair_width(placed, bucket, at) + _repair_width(placed, bucket, other) - before
                if (
                    cost < best
                    and _less_bad(placed, bucket, group, earlier, tally, room)
                    and _less_bad(placed, bucket, RepairTarget(other, other_bad + 1, -1), earlier, tally, room)
                ):
                    best, best_value, best_other = cost, value, other
                ids[here], ids[there] = ids[there], ids[here]
    if best_value < 0:
        return False
    here, there = base + best_value * step + at, base + best_value * step + best_other
    ids[here], ids[there] = ids[there], ids[here]
    return True


@inner
def _repair_bucket(
    placed: RepairPlaces, bucket: HalvesBucket, earlier: CorrelationMemory, tally: CorrelationTally, out: Longs
) -> None:
    """Make every group of a bucket safe, in place; ``out`` counts unsafe groups, swaps and tuples taken out.

    A tuple that no swap can free leaves its group (its id becomes -1). A swap lowers the badness of the group at hand
    and raises no other's, so it ends, and groups once safe stay so.
    """
    room = np.empty(bucket.size, dtype=np.int64)
    for at in range(bucket.step):
        _read_group(placed, bucket, at, room)
        bad, worst = correlation_badness(room, earlier, tally)
        out[0] += bad > 0
        while bad > 0:
            if _best_swap(placed, bucket, RepairTarget(at, bad, worst), earlier, tally):
                out[1] += 1
            else:
                for value in range(bucket.size):
                    if was_in_correlation(room[value], worst, earlier):
                        placed.ids[bucket.base + value * bucket.step + at] = -1
                        out[2] += 1
                        break
            _read_group(placed, bucket, at, room)
            bad, worst = correlation_badness(room, earlier, tally)


@kernel
def repair_buckets(which: Longs, buckets: HalvesArrays, placed: RepairPlaces, earlier: CorrelationMemory) -> Longs:
    """Return how many groups were unsafe, swaps made and tuples taken out; repair these buckets in place.

    Others may do other buckets meanwhile.
    """
    most = 1
    for each in which:
        most = max(most, buckets.sizes[each])
    tally, out = blank_correlations(earlier, most), np.zeros(3, dtype=np.int64)
    for each in which:
        bucket = HalvesBucket(buckets.bases[each], buckets.sizes[each], buckets.steps[each])
        _repair_bucket(placed, bucket, earlier, tally, out)
    return out
