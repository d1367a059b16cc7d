"""Cor-Partition: groups spread one by one from the ends of a bucket's sorted lists (Figure 5, repaired)."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, Singles, inner, kernel
from seriatim.kernels.series.correlations import Earlier, badness, was_in


@inner
def following(order: Ints, at: int, used: Flags, skip: Flags) -> int:
    """The next position in a list whose tuple is neither used nor discarded; the list's length if none."""
    while at < len(order) and (used[order[at]] or skip[order[at]]):
        at += 1
    return at


@inner
def semiperimeter(group: Ints, place: Singles) -> float:
    total = 0.0
    for d in range(place.shape[1]):
        low, high = np.inf, -np.inf
        for i in group:
            if i >= 0:
                low, high = min(low, place[i, d]), max(high, place[i, d])
        if high > low:
            total += high - low
    return total


@inner
def pick_offender(group: Ints, worst: int, person: Longs, earlier: Earlier, state: Longs) -> int:
    """The slot of a random member that was in the offending earlier group."""
    n = 0
    for i in group:
        n += i >= 0 and was_in(person[i], worst, earlier)
    state[0] = (state[0] * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
    chosen = (state[0] >> 33) % n
    for j in range(len(group)):
        if group[j] >= 0 and was_in(person[group[j]], worst, earlier):
            if chosen == 0:
                return j
            chosen -= 1
    return -1


@inner
def judge(group: Ints, person: Longs, room: Longs, earlier: Earlier, counts: Ints, seen: Ints) -> tuple[int, int]:
    for j in range(len(group)):
        room[j] = person[group[j]] if group[j] >= 0 else -1
    return badness(room, earlier, counts, seen)


@inner
def candidate(
    lists: Ints,
    starts: Longs,
    heads: Longs,
    used: Flags,
    skip: Flags,
    group: Ints,
    person: Longs,
    room: Longs,
    earlier: Earlier,
    counts: Ints,
    seen: Ints,
    state: Longs,
) -> bool:
    """Fill ``group`` from the heads of one dimension's lists; True when it is safe without counterfeits of its own.

    Unsafe members are discarded for now and replaced by the next tuple of their value; when none is left, or after
    as many discards as the group has room for four times over, members are left out until the group is safe.
    """
    size = len(group)
    at = heads.copy()
    discarded = np.empty(4 * size, dtype=np.int32)
    n_discarded = 0
    for j in range(size):
        own = lists[starts[j] : starts[j + 1]]
        heads[j] = at[j] = following(own, at[j], used, skip)
        group[j] = own[at[j]] if at[j] < len(own) else -1
    bad, worst = judge(group, person, room, earlier, counts, seen)
    clean = True
    while bad > 0 and n_discarded < 4 * size:
        j = pick_offender(group, worst, person, earlier, state)
        own = lists[starts[j] : starts[j + 1]]
        skip[group[j]] = True
        discarded[n_discarded] = group[j]
        n_discarded += 1
        at[j] = following(own, at[j], used, skip)
        if at[j] >= len(own):
            clean = False
            break
        group[j] = own[at[j]]
        bad, worst = judge(group, person, room, earlier, counts, seen)
    for i in range(n_discarded):
        skip[discarded[i]] = False
    if clean and bad == 0:
        return True
    for j in range(size):
        own = lists[starts[j] : starts[j + 1]]
        group[j] = own[heads[j]] if heads[j] < len(own) else -1
    bad, worst = judge(group, person, room, earlier, counts, seen)
    while bad > 0:
        group[pick_offender(group, worst, person, earlier, state)] = -1
        bad, worst = judge(group, person, room, earlier, counts, seen)
    return False


@inner
def spread_bucket(
    lists: Ints,
    starts: Longs,
    place: Singles,
    person: Longs,
    earlier: Earlier,
    counts: Ints,
    seen: Ints,
    used: Flags,
    skip: Flags,
    group_of: Ints,
    seed: int,
) -> int:
    """Group all tuples of a bucket; gives the number of groups. Tuples that no group can take get -2.

    ``lists[d]`` are the bucket's records slot after slot, each slot's in order of dimension d.
    """
    size, n_dims = len(starts) - 1, place.shape[1]
    heads = np.zeros((n_dims, size), dtype=np.int64)
    groups = np.empty((n_dims, size), dtype=np.int32)
    room = np.empty(size, dtype=np.int64)
    state = np.array([seed], dtype=np.int64)
    left, n_groups = lists.shape[1], 0
    while left > 0:
        best, best_key, best_clean = -1, np.inf, False
        for d in range(n_dims):
            clean = candidate(
                lists[d], starts, heads[d], used, skip, groups[d], person, room, earlier, counts, seen, state
            )
            filled = 0
            for j in range(size):
                filled += groups[d, j] >= 0
            key = semiperimeter(groups[d], place)
            if filled and (best < 0 or (clean and not best_clean) or (clean == best_clean and key < best_key)):
                best, best_key, best_clean = d, key, clean
        if best < 0:
            # whoever stands first can be with nobody, not even with counterfeits
            for j in range(size):
                own = lists[0][starts[j] : starts[j + 1]]
                if heads[0, j] < len(own):
                    used[own[heads[0, j]]] = True
                    group_of[own[heads[0, j]]] = -2
                    left -= 1
                    break
            continue
        for i in groups[best]:
            if i >= 0:
                used[i] = True
                group_of[i] = n_groups
                left -= 1
        n_groups += 1
    return n_groups


@kernel
def spread_buckets(
    which: Longs,
    starts: Longs,
    slot_starts: Longs,
    lists: Ints,
    place: Singles,
    person: Longs,
    earlier: Earlier,
    group_of: Ints,
    n_groups: Longs,
    seeds: Longs,
) -> None:
    """Spread these buckets one after another; others may do other buckets meanwhile.

    ``starts`` are each bucket's slots, ``slot_starts`` each slot's records in ``lists``. Numbers groups per bucket.
    """
    counts = np.zeros(len(earlier.size), dtype=np.int32)
    used = np.zeros(len(person), dtype=np.bool_)
    skip = np.zeros(len(person), dtype=np.bool_)
    for b in which:
        own = slot_starts[starts[b] : starts[b + 1] + 1]
        seen = np.empty(len(own) * max(earlier.places.shape[1], 1), dtype=np.int32)
        n_groups[b] = spread_bucket(
            lists[:, own[0] : own[-1]],
            own - own[0],
            place,
            person,
            earlier,
            counts,
            seen,
            used,
            skip,
            group_of,
            seeds[b],
        )
