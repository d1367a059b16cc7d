"""Refilling: which empty slots of closed lineages are filled together.

A slot alone, or two, would show a newcomer as the twin of a leaver. So slots change in batches, and in the batch
as well as in what stays no value may exceed its cap: one m-th, or more for a value that is common in the whole table.

More rules, found by attacking. A value is refilled only where a lineage was founded with it and goes on holding it
three times: the holders of a lone value follow each other in a chain, and of two links that are known the one between
them is breached if they came and went alone; a second holder who stays all the time hides nobody once known too.
Slots that joined a lineage later do not count, since the values that joined are seen: founders could not hold them.
And a batch of just m people would fall to somebody who knows m - 1 of them, so batches have a size of their own to
reach. What is dropped for good keeps further rules (``drops``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, inner, kernel, leaf

SHARED = 3
"""Slots of a value are refilled only in lineages that hold it this often since they were founded, before and after."""


class RefillSlots(NamedTuple):
    """The slots of all lineages, one lineage after the other."""

    starts: Longs
    """The slots of lineage i are ``starts[i]`` to ``starts[i + 1]``."""
    value: Ints
    empty: Flags
    since: Longs
    """When the slot's last person came."""
    made: Longs
    """When the slot was added to its lineage; 0 when the lineage was founded."""


MILLION = 1_000_000


class RefillLimits(NamedTuple):
    """What changes together: no value may exceed its cap in it, nor in what stays; and it has ``least`` or more.

    m is that of the policy.
    """

    m: int
    raised: Longs
    """By value: its cap in millionths where that is more than one m-th; else 0, and the cap is one m-th."""
    least: int
    strangers: int
    """In what changes, so many people at least stand beside the holders of any value."""
    staying: int
    """The same for what stays."""


@leaf
def refill_limit(size: int, value: int, strangers: int, limits: RefillLimits) -> int:
    """Return how many holders of a value a part of a size may have, with so many strangers beside them."""
    raised = limits.raised[value]
    share = size * raised // MILLION if raised > 0 else size // limits.m
    return int(max(min(share, size - strangers), 0))


class RefillScratch(NamedTuple):
    """Scratch: what a lineage holds of each of its values, in order of appearance."""

    place_of: Longs
    """By value: its place in the other arrays; -1 between lineages."""
    seen: Longs
    whole: Longs
    free: Longs
    take: Longs
    held: Longs
    back: Longs


@kernel
def refill_batch(whole: Longs, most: Longs, values: Longs, limits: RefillLimits, out: Longs) -> int:
    """Return the size of the largest batch with at most ``most`` of each of ``values``; write its counts into ``out``.

    It is fair and leaves a fair rest of ``whole``. 0 when there is none of ``least`` or more.
    """
    total, upper = 0, 0
    for i in range(len(whole)):
        total += whole[i]
        upper += most[i]
    size = upper
    while size >= limits.least:
        lowest, highest = 0, 0
        possible = True
        for i in range(len(whole)):
            need = max(whole[i] - refill_limit(total - size, values[i], limits.staying, limits), 0)
            can = min(most[i], refill_limit(size, values[i], limits.strangers, limits))
            if need > can:
                possible = False
                break
            lowest += need
            highest += can
        if possible and lowest <= size <= highest:
            left = size - lowest
            for i in range(len(whole)):
                need = max(whole[i] - refill_limit(total - size, values[i], limits.staying, limits), 0)
                can = min(most[i], refill_limit(size, values[i], limits.strangers, limits))
                extra = min(can - need, left)
                out[i] = need + extra
                left -= extra
            return size
        # a size above what the caps let in cannot succeed at the next smaller size either
        size = min(size - 1, highest) if possible else size - 1
    return 0


@inner
def blank_refill_notes(n_values: int) -> RefillScratch:
    """Return notes with nothing in them."""
    place_of = np.empty(n_values, dtype=np.int64)
    for value in range(n_values):
        place_of[value] = -1
    sheet = np.zeros((6, n_values), dtype=np.int64)
    return RefillScratch(place_of, sheet[0], sheet[1], sheet[2], sheet[3], sheet[4], sheet[5])


@leaf
def gather_lineage(slots: RefillSlots, lineage: int, open_: Flags, stays: Flags, notes: RefillScratch) -> int:
    """Return how many values a lineage holds; write into ``notes`` each, and how many of its slots stay or are open.

    Changes ``place_of``, ``seen``, ``whole`` and ``free``; the caller sets ``place_of`` back by :func:`forget_refill`.
    """
    n_held, place_of = 0, notes.place_of
    for slot in range(slots.starts[lineage], slots.starts[lineage + 1]):
        value = slots.value[slot]
        if place_of[value] < 0:
            place_of[value] = n_held
            notes.seen[n_held], notes.whole[n_held], notes.free[n_held] = value, 0, 0
            n_held += 1
        notes.whole[place_of[value]] += stays[slot]
        if open_[slot]:
            notes.free[place_of[value]] += 1
    return n_held


@leaf
def forget_refill(notes: RefillScratch, n_held: int) -> None:
    """Set ``notes.place_of`` back to -1 for the values of a lineage."""
    for i in range(n_held):
        notes.place_of[notes.seen[i]] = -1


@kernel
def reserve_refill(order: Longs, slots: RefillSlots, supply: Longs, waiting: Longs, limits: RefillLimits) -> Flags:
    """Return which slots are reserved for newcomers; take what they need from ``supply``.

    Lineages are visited in order; each gets one batch at most, as far as newcomers of its values last.
    ``waiting[slot]`` counts, at the first slot of a value in its lineage, people who may come back there only. The
    slots of later arrivals are reserved before those of the founders, so that the slots left empty are of people who
    came together and can be dropped.
    """
    n_slots, value = len(slots.value), slots.value
    reserved, everything = np.zeros(n_slots, dtype=np.bool_), np.ones(n_slots, dtype=np.bool_)
    notes = blank_refill_notes(len(supply))
    place_of, seen, free, back, take, core = (
        notes.place_of, notes.seen, notes.free, notes.back, notes.take, notes.held
    )  # fmt: skip
    for lineage in order:
        first, end = slots.starts[lineage], slots.starts[lineage + 1]
        n_held = gather_lineage(slots, lineage, slots.empty, everything, notes)
        for i in range(n_held):
            back[i], core[i] = 0, 0
        for slot in range(first, end):
            back[place_of[value[slot]]] += waiting[slot]
            core[place_of[value[slot]]] += slots.made[slot] == 0
        for i in range(n_held):
            free[i] = min(free[i], supply[seen[i]] + back[i]) if core[i] >= SHARED else 0
        if refill_batch(notes.whole[:n_held], free[:n_held], seen[:n_held], limits, take):
            for i in range(n_held):
                supply[seen[i]] -= max(take[i] - back[i], 0)
            founded = slots.since[first]
            for slot in range(first + 1, end):
                founded = min(founded, slots.since[slot])
            for later in (True, False):
                for slot in range(first, end):
                    i = place_of[value[slot]]
                    is_open = slots.empty[slot] and not reserved[slot]
                    if is_open and take[i] > 0 and (slots.since[slot] > founded) == later:
                        reserved[slot] = True
                        take[i] -= 1
        forget_refill(notes, n_held)
    return reserved
