"""Cor-Partition: groups spread one by one from the ends of a bucket's sorted lists (Figure 5, repaired)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, Singles, inner, kernel, leaf
from seriatim_papers.kernels.correlations import (
    CorrelationMemory,
    CorrelationTally,
    blank_correlations,
    correlation_badness,
    was_in_correlation,
)


class PartitionLists(NamedTuple):
    """The records of all buckets, slot after slot: ``starts`` are each bucket's slots, ``slot_starts`` each slot's
    records in ``lists``; ``lists[d]`` has each slot's in order of dimension d."""

    starts: Longs
    slot_starts: Longs
    lists: Ints


class PartitionBucket(NamedTuple):
    """The same of one bucket, whose slots are ``starts[j]`` to ``starts[j + 1]`` of every list."""

    lists: Ints
    starts: Longs


class PartitionRecords(NamedTuple):
    """Who each record is, where it lies, and the group it gets."""

    person: Longs
    place: Singles
    group_of: Ints


class PartitionTaken(NamedTuple):
    """Which records have a group, and which were discarded for now."""

    used: Flags
    skip: Flags


class PartitionScratch(NamedTuple):
    """Scratch for one bucket: heads of its lists and a candidate group, by dimension; room; the state of chance."""

    heads: Longs
    groups: Ints
    room: Longs
    state: Longs
    tally: CorrelationTally


@leaf
def _following_in_partition(order: Ints, at: int, taken: PartitionTaken) -> int:
    """Return the next position in a list whose tuple is neither used nor discarded; the list's length if none."""
    while at < len(order) and (taken.used[order[at]] or taken.skip[order[at]]):
        at += 1
    return at


@leaf
def _partition_semiperimeter(group: Ints, place: Singles) -> float:
    """Return the half of the perimeter of the box over a group's records."""
    total = 0.0
    for dim in range(place.shape[1]):
        low, high = np.inf, -np.inf
        for record in group:
            if record >= 0:
                low, high = min(low, place[record, dim]), max(high, place[record, dim])
        if high > low:
            total += high - low
    return total


@leaf
def _pick_offender(group: Ints, worst: int, person: Longs, earlier: CorrelationMemory, state: Longs) -> int:
    """Return the slot of a random member that was in the offending earlier group; moves ``state`` on."""
    n_offenders = 0
    for record in group:
        n_offenders += record >= 0 and was_in_correlation(person[record], worst, earlier)
    state[0] = (state[0] * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
    chosen = (state[0] >> 33) % n_offenders
    for slot in range(len(group)):
        if group[slot] >= 0 and was_in_correlation(person[group[slot]], worst, earlier):
            if chosen == 0:
                return slot
            chosen -= 1
    return -1


@leaf
def _judge_partition(
    group: Ints, person: Longs, room: Longs, earlier: CorrelationMemory, tally: CorrelationTally
) -> tuple[int, int]:
    """Return how bad a group is and the earlier group it shares most with; overwrites ``room``."""
    for slot in range(len(group)):
        room[slot] = person[group[slot]] if group[slot] >= 0 else -1
    return correlation_badness(room, earlier, tally)


@inner
def _partition_candidate(
    lists: PartitionBucket,
    dim: int,
    making: PartitionScratch,
    people: Longs,
    taken: PartitionTaken,
    earlier: CorrelationMemory,
) -> bool:
    """Return whether group ``dim`` is safe without counterfeits of its own; fill it in ``making`` from its lists.

    Unsafe members are discarded for now and replaced by the next tuple of their value; when none is left, or after
    as many discards as the group has room for four times over, members are left out until the group is safe.
    """
    order, starts, heads, group = lists.lists[dim], lists.starts, making.heads[dim], making.groups[dim]
    size, skip, room, state, tally = len(group), taken.skip, making.room, making.state, making.tally
    at = heads.copy()
    discarded = np.empty(4 * size, dtype=np.int32)
    n_discarded = 0
    for slot in range(size):
        own = order[starts[slot] : starts[slot + 1]]
        heads[slot] = at[slot] = _following_in_partition(own, at[slot], taken)
        group[slot] = own[at[slot]] if at[slot] < len(own) else -1
    bad, worst = _judge_partition(group, people, room, earlier, tally)
    clean = True
    while bad > 0 and n_discarded < 4 * size:
        slot = _pick_offender(group, worst, people, earlier, state)
        own = order[starts[slot] : starts[slot + 1]]
        skip[group[slot]] = True
        discarded[n_discarded] = group[slot]
        n_discarded += 1
        at[slot] = _following_in_partition(own, at[slot], taken)
        if at[slot] >= len(own):
            clean = False
            break
        group[slot] = own[at[slot]]
        bad, worst = _judge_partition(group, people, room, earlier, tally)
    for i in range(n_discarded):
        skip[discarded[i]] = False
    if clean and bad == 0:
        return True
    for slot in range(size):
        own = order[starts[slot] : starts[slot + 1]]
        group[slot] = own[heads[slot]] if heads[slot] < len(own) else -1
    bad, worst = _judge_partition(group, people, room, earlier, tally)
    while bad > 0:
        group[_pick_offender(group, worst, people, earlier, state)] = -1
        bad, worst = _judge_partition(group, people, room, earlier, tally)
    return False


@inner
def _spread_bucket(
    lists: PartitionBucket,
    records: PartitionRecords,
    taken: PartitionTaken,
    earlier: CorrelationMemory,
    tally: CorrelationTally,
    seed: int,
) -> int:
    """Return the number of groups made of a bucket; write every tuple's group, -2 for those that no group can take.

    Marks in ``taken`` who has a group.
    """
    size, n_dims = len(lists.starts) - 1, records.place.shape[1]
    making = PartitionScratch(
        np.zeros((n_dims, size), dtype=np.int64), np.empty((n_dims, size), dtype=np.int32),
        np.empty(size, dtype=np.int64), np.empty(1, dtype=np.int64), tally,
    )  # fmt: skip
    making.state[0] = seed
    heads, groups, used, group_of = making.heads, making.groups, taken.used, records.group_of
    left, n_groups = lists.lists.shape[1], 0
    while left > 0:
        best, best_key, best_clean = -1, np.inf, False
        for dim in range(n_dims):
            clean = _partition_candidate(lists, dim, making, records.person, taken, earlier)
            filled = 0
            for slot in range(size):
                filled += groups[dim, slot] >= 0
            key = _partition_semiperimeter(groups[dim], records.place)
            if filled and (best < 0 or (clean and not best_clean) or (clean == best_clean and key < best_key)):
                best, best_key, best_clean = dim, key, clean
        if best < 0:
            # whoever stands first can be with nobody, not even with counterfeits
            for slot in range(size):
                own = lists.lists[0][lists.starts[slot] : lists.starts[slot + 1]]
                if heads[0, slot] < len(own):
                    used[own[heads[0, slot]]] = True
                    group_of[own[heads[0, slot]]] = -2
                    left -= 1
                    break
            continue
        for record in groups[best]:
            if record >= 0:
                used[record] = True
                group_of[record] = n_groups
                left -= 1
        n_groups += 1
    return n_groups


@kernel
def partition_buckets(
    which: Longs,
    buckets: PartitionLists,
    records: PartitionRecords,
    earlier: CorrelationMemory,
    n_groups: Longs,
    seeds: Longs,
) -> None:
    """Write into ``group_of`` and ``n_groups`` the groups of these buckets, numbered per bucket.

    Others may do other buckets meanwhile.
    """
    n_records = len(records.person)
    taken = PartitionTaken(np.zeros(n_records, dtype=np.bool_), np.zeros(n_records, dtype=np.bool_))
    most = 1
    for bucket in which:
        most = max(most, buckets.starts[bucket + 1] - buckets.starts[bucket] + 1)
    tally = blank_correlations(earlier, most)
    for bucket in which:
        own = buckets.slot_starts[buckets.starts[bucket] : buckets.starts[bucket + 1] + 1]
        lists = PartitionBucket(buckets.lists[:, own[0] : own[-1]], own - own[0])
        n_groups[bucket] = _spread_bucket(lists, records, taken, earlier, tally, seeds[bucket])
