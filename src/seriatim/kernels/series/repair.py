"""Repair: swap tuples of equal value between near groups until no group is unsafe."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Singles, inner, kernel
from seriatim.kernels.series.correlations import Earlier, badness, was_in

NEAR = 12
"""Groups on each side among which the cheapest swap is chosen."""
FAR = 400
"""Groups on each side that are tried at all."""


@inner
def read_group(ids: Ints, base: int, step: int, at: int, person: Longs, out: Longs) -> int:
    """The persons of a group, -1 for counterfeits; gives how many are real."""
    n_real = 0
    for j in range(len(out)):
        i = ids[base + j * step + at]
        out[j] = person[i] if 0 <= i < len(person) else -1
        n_real += out[j] >= 0
    return n_real


@inner
def width(ids: Ints, base: int, size: int, step: int, at: int, place: Singles, n_real: int) -> float:
    """Semiperimeter of the box over a group's real tuples."""
    total = 0.0
    for d in range(place.shape[1]):
        low, high = np.inf, -np.inf
        for j in range(size):
            i = ids[base + j * step + at]
            if 0 <= i < n_real:
                low, high = min(low, place[i, d]), max(high, place[i, d])
        if high > low:
            total += high - low
    return total


@inner
def swap_helps(
    ids: Ints,
    base: int,
    step: int,
    a: int,
    b: int,
    person: Longs,
    earlier: Earlier,
    room: Longs,
    counts: Ints,
    seen: Ints,
    bad: int,
    other_bad: int,
) -> bool:
    """Whether, as they stand after a swap, group a is less bad than before, b no worse, and neither is empty."""
    if read_group(ids, base, step, a, person, room) == 0:
        return False
    left, _ = badness(room, earlier, counts, seen)
    if left >= bad or read_group(ids, base, step, b, person, room) == 0:
        return False
    right, _ = badness(room, earlier, counts, seen)
    return right <= other_bad


@inner
def best_swap(
    ids: Ints,
    base: int,
    size: int,
    step: int,
    at: int,
    worst: int,
    bad: int,
    person: Longs,
    place: Singles,
    earlier: Earlier,
    counts: Ints,
    seen: Ints,
) -> bool:
    """Make the cheapest swap near by that lowers the badness, or the first one further off; False if there is none."""
    room = np.empty(size, dtype=np.int64)
    best, best_slot, best_other = np.inf, -1, -1
    for distance in range(1, min(step, FAR + 1)):
        if distance > NEAR and best_slot >= 0:
            break
        for side in (-1, 1):
            other = at + side * distance
            if other < 0 or other >= step:
                continue
            read_group(ids, base, step, other, person, room)
            other_bad, _ = badness(room, earlier, counts, seen)
            before = -1.0
            for j in range(size):
                here, there = base + j * step + at, base + j * step + other
                own = person[ids[here]] if 0 <= ids[here] < len(person) else -1
                if not was_in(own, worst, earlier):
                    continue
                incoming = person[ids[there]] if 0 <= ids[there] < len(person) else -1
                if was_in(incoming, worst, earlier):
                    continue
                if before < 0:
                    before = width(ids, base, size, step, at, place, len(person)) + width(
                        ids, base, size, step, other, place, len(person)
                    )
                ids[here], ids[there] = ids[there], ids[here]
                cost = (
                    width(ids, base, size, step, at, place, len(person))
                    + width(ids, base, size, step, other, place, len(person))
                    - before
                )
                if cost < best and swap_helps(
                    ids, base, step, at, other, person, earlier, room, counts, seen, bad, other_bad
                ):
                    best, best_slot, best_other = cost, j, other
                ids[here], ids[there] = ids[there], ids[here]
    if best_slot < 0:
        return False
    here, there = base + best_slot * step + at, base + best_slot * step + best_other
    ids[here], ids[there] = ids[there], ids[here]
    return True


@inner
def repair_bucket(
    ids: Ints,
    base: int,
    size: int,
    step: int,
    person: Longs,
    place: Singles,
    earlier: Earlier,
    counts: Ints,
    seen: Ints,
    out: Longs,
) -> None:
    """Make every group of a bucket safe. A tuple that no swap can free leaves its group (its id becomes -1).

    ``out`` counts unsafe groups found, swaps made and tuples taken out. A swap lowers
    the badness of the group at hand and raises no other's, so it ends, and groups once safe stay so.
    """
    room = np.empty(size, dtype=np.int64)
    for at in range(step):
        read_group(ids, base, step, at, person, room)
        bad, worst = badness(room, earlier, counts, seen)
        out[0] += bad > 0
        while bad > 0:
            if best_swap(ids, base, size, step, at, worst, bad, person, place, earlier, counts, seen):
                out[1] += 1
            else:
                for j in range(size):
                    if was_in(room[j], worst, earlier):
                        ids[base + j * step + at] = -1
                        out[2] += 1
                        break
            read_group(ids, base, step, at, person, room)
            bad, worst = badness(room, earlier, counts, seen)


@kernel
def repair_buckets(
    which: Longs,
    ids: Ints,
    bases: Longs,
    sizes: Longs,
    steps: Longs,
    person: Longs,
    place: Singles,
    earlier: Earlier,
) -> Longs:
    """Repair these buckets one after another; others may do other buckets meanwhile. Gives the three counts."""
    counts = np.zeros(len(earlier.size), dtype=np.int32)
    most = 1
    for b in which:
        most = max(most, sizes[b])
    seen = np.empty(most * max(earlier.places.shape[1], 1), dtype=np.int32)
    out = np.zeros(3, dtype=np.int64)
    for b in which:
        repair_bucket(ids, bases[b], sizes[b], steps[b], person, place, earlier, counts, seen, out)
    return out
