"""The lasting slots of lineages, followed from release to release: who took whose, which were added or given up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, inner, kernel, leaf, sort_array_part

LINEAGE, VALUE, HOLDER, SINCE, LAST, MADE = range(6)
"""What is known of a slot: columns of ``slots``. SINCE is when its last holder came, LAST when it was last shown,
MADE when it was shown first."""
FIRST_SHOWN, LAST_SHOWN = range(2)
"""What is known of a lineage: columns of ``seen``."""
ODD, REFILLED, THIN, DROPPED, APART, ADDED, UNFAIR = range(7)
"""What is counted for each group."""


class SlotRows(NamedTuple):
    """The rows of one release: those of group i are ``rows[starts[i]:starts[i + 1]]``; what stands in each row."""

    starts: Longs
    rows: Ints
    person: Ints
    value: Ints
    lineage: Longs
    slot: Longs


class SlotsShown(NamedTuple):
    """What all releases so far have shown; -1 for nothing yet."""

    slots: Ints
    own: Ints
    """Everyone's slot."""
    seen: Ints
    """When each lineage was shown."""


class SlotFindings(NamedTuple):
    """By row: whether its slot is odd, and whether its person is new there."""

    odd: Flags
    moved: Flags


class SlotDemand(NamedTuple):
    """What is asked of slots that change: m of the policy and more; ``n_values`` are in the domain."""

    n_values: int
    shared: int
    m: int
    spare: int
    millionths: Longs
    """The cap of every value that may have more than one m-th; 0 for the others."""
    strangers: int
    """People of other values, at least, beside the holders of a value in what is dropped or was added together."""


@kernel
def take_slots(release: int, rows: SlotRows, shown: SlotsShown) -> SlotFindings:
    """Return which slots of a release are odd, and which have a new person; bring ``shown`` up to date.

    Odd: a slot that is shown twice, changes its value or lineage, comes back after it was given up, or is added to a
    lineage that had ended.
    """
    person, value, lineage, slot = rows.person, rows.value, rows.lineage, rows.slot
    slots, own, seen = shown.slots, shown.own, shown.seen
    odd, moved = np.zeros(len(slot), dtype=np.bool_), np.zeros(len(slot), dtype=np.bool_)
    for row in range(len(slot)):
        own_slot, who, at = slot[row], person[row], lineage[row]
        if slots[own_slot, SINCE] < 0:
            odd[row] = 0 <= seen[at, LAST_SHOWN] < release - 1
            slots[own_slot, LINEAGE], slots[own_slot, VALUE], slots[own_slot, SINCE], slots[own_slot, MADE] = (
                at,
                value[row],
                release,
                release,
            )
        else:
            odd[row] = (
                slots[own_slot, LINEAGE] != at
                or slots[own_slot, VALUE] != value[row]
                or slots[own_slot, LAST] != release - 1
            )
            if who >= 0 and (slots[own_slot, HOLDER] != who or own[who] != own_slot):
                moved[row] = True
                slots[own_slot, SINCE] = release
        slots[own_slot, LAST] = release
        if who >= 0:
            slots[own_slot, HOLDER], own[who] = who, own_slot
    for at in lineage:
        if seen[at, FIRST_SHOWN] < 0:
            seen[at, FIRST_SHOWN] = release
        seen[at, LAST_SHOWN] = release
    return SlotFindings(odd, moved)


@leaf
def _fair_parts(keys: Longs, asked: SlotDemand, first: int, least: int) -> bool:
    """Return whether in each part no value exceeds its cap, and those other than ``first`` have ``least`` or more.

    ``keys`` are part * n_values + value, in any order; they are sorted in place.
    """
    sort_array_part(keys, 0, len(keys))
    n_values, start = asked.n_values, 0
    for end in range(1, len(keys) + 1):
        if end < len(keys) and keys[end] // n_values == keys[start] // n_values:
            continue
        size, run = end - start, 0
        if size < least and keys[start] // n_values != first:
            return False
        for i in range(start, end):
            run = run + 1 if i > start and keys[i] == keys[i - 1] else 1
            raised = asked.millionths[keys[i] % n_values]
            over = run * 1_000_000 > size * raised if raised > 0 else run * asked.m > size
            if over or run > size - asked.strangers:
                return False
        start = end
    return True


@leaf
def _thin_parts(keys: Longs, n_values: int, part: int) -> int:
    """Return how many parts have fewer than ``part`` different values, where there are two or more; sorts ``keys``."""
    sort_array_part(keys, 0, len(keys))
    if len(keys) == 0 or keys[0] // n_values == keys[-1] // n_values:
        return 0
    n_thin, different = 0, 0
    for i in range(len(keys)):
        different += i == 0 or keys[i] != keys[i - 1]
        if i + 1 == len(keys) or keys[i + 1] // n_values != keys[i] // n_values:
            n_thin += different < part
            different = 0
    return n_thin


@inner
def _dropped(release: int, before: Longs, slots: Ints, group_of: Longs, n_groups: int) -> tuple[Longs, Longs]:
    """Return the slots given up since the release before, group after group, and where each group's start."""
    starts = np.zeros(n_groups + 1, dtype=np.int64)
    for slot in before:
        group = group_of[slots[slot, LINEAGE]]
        if slots[slot, LAST] != release and group >= 0:
            starts[group + 1] += 1
    for group in range(n_groups):
        starts[group + 1] += starts[group]
    at, gone = starts[:-1].copy(), np.empty(starts[-1], dtype=np.int64)
    for slot in before:
        group = group_of[slots[slot, LINEAGE]]
        if slots[slot, LAST] != release and group >= 0:
            gone[at[group]] = slot
            at[group] += 1
    return gone, starts


@kernel
def count_slots(
    release: int, rows: SlotRows, found: SlotFindings, before: Longs, shown: SlotsShown, asked: SlotDemand
) -> Longs:
    """Return the counts of every group, one column each, in the order of ``ODD`` to ``UNFAIR``.

    The odd slots; those refilled, and of them those whose value fewer than ``shared`` slots hold since the lineage
    was founded; those dropped, and how many times of arrival have fewer than ``shared`` values among them beside
    others; those added; and how often a value exceeds its cap in what was dropped, or in what is there of slots
    added together, or fewer than m + ``spare`` of such slots are left. ``before``: the slots of the release before.
    """
    starts, slot, lineage, odd, moved = rows.starts, rows.slot, rows.lineage, found.odd, found.moved
    slots, seen, n_values, shared, m = shown.slots, shown.seen, asked.n_values, asked.shared, asked.m
    n_groups = len(starts) - 1
    counts = np.zeros((n_groups, 7), dtype=np.int64)
    held, filled = np.zeros(n_values, dtype=np.int64), np.zeros(n_values, dtype=np.int64)
    group_of = np.full(len(seen), -1, dtype=np.int64)
    for group in range(n_groups):
        at = lineage[rows.rows[starts[group]]]
        founded = seen[at, FIRST_SHOWN]
        counts[group, ODD] += group_of[at] >= 0
        group_of[at] = group
        keys = np.empty(starts[group + 1] - starts[group], dtype=np.int64)
        for i in range(starts[group], starts[group + 1]):
            row = rows.rows[i]
            value, made = slots[slot[row], VALUE], slots[slot[row], MADE]
            held[value] += made == founded
            filled[value] += moved[row]
            keys[i - starts[group]] = made * n_values + value
            counts[group, ODD] += odd[row] or lineage[row] != at
            counts[group, REFILLED] += moved[row]
            counts[group, ADDED] += made == release and founded < release
        counts[group, UNFAIR] += not _fair_parts(keys, asked, founded, m + asked.spare)
        for i in range(starts[group], starts[group + 1]):
            value = slots[slot[rows.rows[i]], VALUE]
            counts[group, THIN] += filled[value] if held[value] < shared else 0
            held[value], filled[value] = 0, 0
    gone, ends = _dropped(release, before, slots, group_of, n_groups)
    for group in range(n_groups):
        n_lost = ends[group + 1] - ends[group]
        counts[group, DROPPED] = n_lost
        by_time, by_value = np.empty(n_lost, dtype=np.int64), np.empty(n_lost, dtype=np.int64)
        for i in range(n_lost):
            given_up = gone[ends[group] + i]
            by_value[i] = slots[given_up, VALUE]
            by_time[i] = np.int64(slots[given_up, SINCE]) * n_values + by_value[i]
        counts[group, APART] = _thin_parts(by_time, n_values, shared)
        counts[group, UNFAIR] += not _fair_parts(by_value, asked, 0, 0)
    return counts
