"""Closed lineages: nobody ever changes group, so what an attacker learns about one group stays there.

A lineage is a fixed multiset of value slots. A counterfeit with the same value takes the slot of someone who leaves.
Empty slots are refilled, or dropped, only in batches in which no value exceeds its cap; nor does it in the lineage or
in the slots that stay. The cap is one m-th, or more for common values with ``[promise] odds`` (``caps``). A few
newcomers without a slot join a lineage together, with slots of their own; many start new lineages (``newcomers``). A
person who returns takes their own slot, or a slot of their lineage in a batch, or rejoins it among many (``rejoin``),
or is withheld; they never enter another lineage. Batches matter: a single replacement would show that two people have
the same value, and two replacements would reveal the multiset.

The rules of the first notes (cells of 60, batches and drops of m, any value refilled, drops of people who came at
different times) were breached on tables of 20,000 people; ``kernels.lineage.refill`` and ``drops`` say what was
missing.

This is our own defence against the cascade that breaches m-invariance and Cor-Split when an adversary iterates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from seriatim.defences.series.boxes import boxes_along_hierarchies, number_serial_boxes
from seriatim.defences.series.caps import Caps, caps_baseline
from seriatim.defences.series.contract import (
    BoolArray,
    LongArray,
    SerialDraw,
    SerialGrouping,
    SerialRules,
    SerialSlots,
    SerialView,
    WithheldReason,
)
from seriatim.defences.series.inherited import TRIES, InheritedExchange, inherited_known_records
from seriatim.defences.series.lineage.capped_drops import drop_capped_slots
from seriatim.defences.series.lineage.idle import free_idle_slots
from seriatim.defences.series.lineage.needed_slots import keep_needed_slots, needed_slots
from seriatim.defences.series.lineage.newcomers import found_newcomers, join_newcomers
from seriatim.defences.series.lineage.party import admit_party
from seriatim.defences.series.lineage.rejoin import rejoin_together
from seriatim.defences.series.lineage.slots import SlotMemory
from seriatim.defences.series.lineage.waiting_people import wait_beside_others
from seriatim.defences.series.lineage.workbench import SlotTable, Workbench, workbench_pools
from seriatim.defences.series.memory import RememberedRows
from seriatim.kernels.lineage.drops import drop_rare, drop_slots
from seriatim.kernels.lineage.fair_rest import leave_fair_rest
from seriatim.kernels.lineage.match import MatchBoxes, MatchQueues, match_values
from seriatim.kernels.lineage.refill import reserve_refill
from seriatim.kernels.series.memory import memory_by_key
from seriatim.model.scale import IntArray
from seriatim.ports import Workers

BLOCK = 64
"""Newcomers matched together; each costs the square of this."""


def lineage(
    view: SerialView, rules: SerialRules, pasts: Sequence[RememberedRows], draw: SerialDraw, workers: Workers
) -> SerialGrouping:
    """Group a view into closed lineages: nobody ever changes group, so a breach cannot spread."""
    return lineage_groups(view, rules, SlotMemory.of(pasts), draw, workers)


def lineage_groups(
    view: SerialView, rules: SerialRules, memory: SlotMemory, draw: SerialDraw, workers: Workers
) -> SerialGrouping:
    """Update the lineages: leave, return, refill, drop, join, start new ones; then cut boxes.

    Batches first take the newcomers whose values they need, and those left over hold few values. In a long series too
    few others come for them to join a lineage with, and more of them wait every time. Where common values have caps,
    batches therefore always leave a fair rest. Elsewhere they do so only if more than half
    as many people would wait as may: at the bound itself it is too late in tables of a few hundred.
    """
    view.check(rules)
    view.check_values(memory.look_up(memory.value, view.person, -1))
    active = _active(view, rules, memory)
    own_slot = memory.look_up(memory.slot, view.person, -1)
    leave = partial(_leave, view, rules, memory, active, draw, workers)
    making = _settled(partial(leave, fair_rest=rules.odds is not None), own_slot, active)
    if not making.fair_rest and 2 * making.n_waiting > rules.allowed * len(view):
        making = min(making, _settled(partial(leave, fair_rest=True), own_slot, active), key=lambda one: one.n_waiting)
    wait_beside_others(making, own_slot, active)
    return _grouping(making, active, own_slot)


def _settled(leave: Callable[[], Workbench], own_slot: LongArray, active: BoolArray) -> Workbench:
    """Update the lineages, again without the newcomers whom none suits."""
    aside = np.zeros(len(active), dtype=np.bool_)
    for _ in range(TRIES):
        making = leave()
        new = active & (own_slot < 0) & ~aside
        _update(making, own_slot, active, new)
        unsuited = _unsuited(making, new)
        if not len(unsuited):
            break
        aside[unsuited] = True
    return making


def _update(making: Workbench, own_slot: LongArray, active: BoolArray, new: BoolArray) -> None:
    """Let people return, then refill, drop, join and start new lineages."""
    waiting = _come_back(making, own_slot, active)
    if making.capped:
        _refill(making, new, waiting)
        drop_capped_slots(making, new)
        admit_party(making, new)
        rejoin_together(making, waiting)
    else:
        _retire(making)
        _refill(making, new, waiting)
        _drop(making)
        join_newcomers(making, new)
        found_newcomers(making, new)


def _unsuited(making: Workbench, new: BoolArray) -> LongArray:
    """Swap the slots of newcomers who would keep too few possible values; return those whom no lineage suits."""
    if making.view.inherited is None:
        return np.empty(0, dtype=np.int64)
    unsuited = InheritedExchange(making.view, making.rules.m, making.place, making.standing, new).settle()
    making.has_slot[new] = False
    making.has_slot[making.table.record[making.table.record >= 0]] = True
    making.counters["unsuited"] = len(unsuited)
    return unsuited


def _active(view: SerialView, rules: SerialRules, memory: SlotMemory) -> BoolArray:
    if rules.lifespan is None:
        return np.ones(len(view), dtype=np.bool_)
    return memory.look_up(memory.publications, view.person, 0) < rules.lifespan


def _leave(
    view: SerialView,
    rules: SerialRules,
    memory: SlotMemory,
    active: BoolArray,
    draw: SerialDraw,
    workers: Workers,
    fair_rest: bool,
) -> Workbench:
    n_people = max(int(view.person.max(initial=-1)), len(memory.slot) - 1) + 1
    record_of = np.full(n_people + 1, -1, dtype=np.int32)  # the last entry is for counterfeits
    record_of[view.person[active]] = np.flatnonzero(active)
    last = memory.last_slots()
    record = record_of[last.holder]
    has_slot = np.zeros(len(view), dtype=np.bool_)
    has_slot[record[record >= 0]] = True
    table = SlotTable(last.slot, last.lineage, last.value, record)
    return Workbench(
        view=view,
        rules=rules,
        memory=memory,
        draw=draw,
        workers=workers,
        caps=_caps(view, rules, memory),
        place=view.place(),
        table=table,
        has_slot=has_slot,
        fair_rest=fair_rest,
    )


def _caps(view: SerialView, rules: SerialRules, memory: SlotMemory) -> Caps:
    baseline = np.zeros(view.n_values, dtype=np.int64)
    if rules.odds is not None:
        baseline = caps_baseline(view, memory.baseline, memory.look_up(memory.slot, view.person, -1) < 0)
    return Caps.of(baseline, rules.m, rules.odds)


def _come_back(making: Workbench, own_slot: LongArray, active: BoolArray) -> LongArray:
    """Give people who return their own slot; return the others whose lineage still exists."""
    memory, table, view = making.memory, making.table, making.view
    back = np.flatnonzero(active & (own_slot >= 0) & ~making.has_slot)
    position = np.full(memory.n_slots, -1, dtype=np.int64)
    position[table.slot] = np.arange(len(table.slot))
    at = position[own_slot[back]]
    own = (at >= 0) & (memory.last_holder[own_slot[back]] == view.person[back])
    making.fill(at[own], back[own])
    making.counters["returned"] = int(own.sum())
    _close(making)
    others = back[~own]
    still = np.isin(memory.lineage_of_slot[own_slot[others]], table.lineage)
    return np.asarray(others[still])


def _close(making: Workbench) -> None:
    """Remove lineages without a real person."""
    table = making.table
    starts = table.starts()
    sizes = np.diff(starts)
    real = np.add.reduceat((table.record >= 0).astype(np.int64), starts[:-1]) if len(sizes) else sizes
    making.counters["closed"] = int((real == 0).sum())
    if making.counters["closed"]:
        table.keep(np.repeat(real > 0, sizes))


def _refill(making: Workbench, new: BoolArray, waiting: LongArray) -> None:
    """Reserve batches and match newcomers to them, those with the smallest prior sets first."""
    table, view, limits = making.table, making.view, making.batch_limits()
    slots = making.slot_arrays(table.record < 0)
    starts, empty = slots.starts, slots.empty
    n_empty = np.add.reduceat(empty.astype(np.int64), starts[:-1]) if len(starts) > 1 else np.empty(0, dtype=np.int64)
    refilled = np.zeros(len(n_empty), dtype=np.bool_)
    making.counters.update(batches=0, refilled=0, given_back=0)
    of_known = making.known_lineages()
    for possible, pool, known in workbench_pools(view, new):
        own = waiting if possible is None else waiting[_prior_is(view, waiting, pool)]
        own = own[inherited_known_records(view)[own] == known]
        order = np.argsort(-n_empty, kind="stable")
        order = order[(n_empty[order] >= limits.least) & ~refilled[order] & (of_known[order] == known)]
        if possible is not None and len(order):
            order = order[np.logical_and.reduceat(possible[table.value], starts[:-1])[order]]
        supply = np.bincount(view.sensitive[pool], minlength=view.n_values).astype(np.int64)
        count, first = _waiting_at(making, own)
        batches = reserve_refill(order, slots, supply, count, limits)
        if making.fair_rest:
            making.counters["given_back"] += leave_fair_rest(batches, slots, supply, count, limits)
        if making.capped:
            making.counters["given_back"] += free_idle_slots(making, batches, count, supply)
        reserved = _fill_returned(making, own, first, np.flatnonzero(batches))
        _match(making, pool, reserved, starts)
        filled = np.add.reduceat((table.record >= 0) & empty, starts[:-1]) if len(starts) > 1 else refilled
        refilled |= np.asarray(filled, dtype=np.bool_)
    making.counters["batches"] = int(refilled.sum())
    making.fresh = empty & (table.record >= 0)
    making.counters["refilled"] = int(making.fresh.sum())


def _prior_is(view: SerialView, records: LongArray, pool: LongArray) -> BoolArray:
    assert view.priors is not None
    if not len(pool):
        return np.zeros(len(records), dtype=np.bool_)
    return np.asarray(view.priors.of_record[records] == view.priors.of_record[pool[0]])


def _waiting_at(making: Workbench, waiting: LongArray) -> tuple[LongArray, LongArray]:
    """Count who waits at the first slot of their value in their lineage, and return that slot for each of them."""
    table, view, memory = making.table, making.view, making.memory
    count = np.zeros(len(table.slot), dtype=np.int64)
    if not len(waiting):
        return count, waiting
    keys, first = np.unique(table.lineage * view.n_values + table.value, return_index=True)
    lineage = memory.lineage_of_slot[memory.slot[view.person[waiting]]]
    wanted = lineage * view.n_values + view.sensitive[waiting]
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    slot = np.where(keys[at] == wanted, first[at], -1)
    np.add.at(count, slot[slot >= 0], 1)
    return count, slot


def _fill_returned(making: Workbench, waiting: LongArray, first: LongArray, reserved: LongArray) -> LongArray:
    """Give reserved slots to people of that lineage first, and return the slots left for newcomers."""
    if not len(waiting) or not len(reserved):
        return reserved
    table, n_values = making.table, making.view.n_values
    queue: dict[int, list[int]] = {}
    for record, at in zip(waiting.tolist(), first.tolist(), strict=True):
        if at >= 0:
            queue.setdefault(int(table.lineage[at]) * n_values + int(table.value[at]), []).append(record)
    keys = table.lineage[reserved] * n_values + table.value[reserved]
    left = np.ones(len(reserved), dtype=np.bool_)
    for i in np.flatnonzero(np.isin(keys, np.fromiter(queue, dtype=np.int64))).tolist():
        if line := queue[int(keys[i])]:
            record = line.pop(0)
            making.fill(reserved[i : i + 1], np.array([record]))
            left[i] = False
    return reserved[left]


def _match(making: Workbench, pool: LongArray, reserved: LongArray, starts: LongArray) -> None:
    if not len(reserved):
        return
    table, view = making.table, making.view
    boxes = _boxes(making, reserved, starts)
    slot_starts, slots = memory_by_key(table.value[reserved], view.n_values)
    people_starts, order = memory_by_key(view.sensitive[pool], view.n_values)
    queues = MatchQueues(slot_starts, slots, people_starts, pool[order].astype(np.int32))
    out = np.full(len(reserved), -1, dtype=np.int32)
    work = np.argsort(-np.diff(slot_starts), kind="stable")

    def match(which: LongArray) -> None:
        match_values(which, queues, boxes, making.place, out, BLOCK)

    making.workers.map(match, [work[i :: making.workers.count].copy() for i in range(making.workers.count)])
    making.fill(reserved, out.astype(np.int64))


def _boxes(making: Workbench, reserved: LongArray, starts: LongArray) -> MatchBoxes:
    """Return the box around the real members of each reserved slot's lineage."""
    record = making.table.record
    which = np.searchsorted(starts, reserved, side="right") - 1
    real = np.flatnonzero(record >= 0)
    first = np.searchsorted(real, starts[:-1])
    points = making.place[record[real]]
    return MatchBoxes(np.minimum.reduceat(points, first)[which], np.maximum.reduceat(points, first)[which])


def _retire(making: Workbench) -> None:
    table = making.table
    dropped = drop_rare(making.slot_arrays(table.record < 0), making.view.n_values, making.drop_limits())
    keep_needed_slots(making, dropped)
    making.counters["dropped"] = int(dropped.sum())
    making.shrunk = np.unique(table.lineage[dropped])
    table.keep(~dropped)


def _drop(making: Workbench) -> None:
    """Drop slots of lineages that dropped none yet: two drops in one release would show as one."""
    table = making.table
    empty = (table.record < 0) & ~np.isin(table.lineage, making.shrunk)
    empty &= ~needed_slots(making)
    dropped = drop_slots(making.slot_arrays(empty), ~making.fresh, making.view.n_values, making.drop_limits())
    keep_needed_slots(making, dropped)
    making.counters["dropped"] += int(dropped.sum())
    making.shrunk = np.union1d(making.shrunk, table.lineage[dropped])
    table.keep(~dropped)


def _grouping(making: Workbench, active: BoolArray, own_slot: LongArray) -> SerialGrouping:
    table, view = making.table, making.view
    starts = table.starts()
    group_of_slot = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    real = table.record >= 0
    group = np.full(len(view), -1, dtype=np.int32)
    group[table.record[real]] = group_of_slot[real]
    slot = np.full(len(view), -1, dtype=np.int64)
    slot[table.record[real]] = table.slot[real]
    withheld = np.zeros(len(view), dtype=np.int8)
    withheld[~making.has_slot] = making.rules.leftover
    withheld[~making.has_slot & (own_slot >= 0)] = WithheldReason.SLOT_TAKEN
    withheld[~active] = WithheldReason.LIFESPAN
    making.counters.update(groups=len(starts) - 1, counterfeits=int((~real).sum()))
    baseline = making.caps.baseline if making.capped else None
    slots = SerialSlots(table.lineage[starts[:-1]], slot, table.slot[~real], baseline)
    box = _box_of_record(making, starts, real)
    return SerialGrouping(
        group=group,
        withheld=withheld,
        n_groups=len(starts) - 1,
        counterfeit_group=group_of_slot[~real],
        counterfeit_value=table.value[~real],
        box=box,
        counters=making.counters,
        slots=slots,
    )


def _box_of_record(making: Workbench, starts: LongArray, real: BoolArray) -> IntArray:
    """Number boxes of m to 2m - 1 real members inside each lineage; values are not tied to them.

    Along a hierarchy, and where common values have caps, they are cut over the whole table: few people of a lineage are
    under any one node, and counts of people err half as much. The same applies beside plain columns, which are in a
    table without lineages: a box inside a lineage would reveal the lineage there.
    """
    ids: IntArray = making.table.record[real]
    runs = np.concatenate(([0], np.cumsum(real)))[starts]
    if making.capped or boxes_along_hierarchies(making.view) or making.view.plain:
        runs = np.array([0, len(ids)], dtype=np.int64)
    return number_serial_boxes(making.view, ids, runs, making.place, making.rules.m)
