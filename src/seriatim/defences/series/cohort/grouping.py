"""Cohorts: people who enter together are one group for good; those who leave are given up in fair cells.

A cohort's values are published as they are. The slot of someone who leaves is kept as a counterfeit, until all who have
left a cohort are given up at once: they must be enough people, and no value may exceed its cap among them, nor among
those who stay. Nothing is refilled. Newcomers form cohorts of their own. All that is ever published about values is
then how often each occurs in a cell (people who entered and were given up together), so that a belief about anyone in
it is at most the largest share in their cell. ``docs/guarantees/cohort.md`` has the theorem and what it does not cover.

Boxes are cut over everyone in the table, since they say nothing about values.

Of those who have left a cohort all are given up or none is: anyone who is passed over would stand out, since only
holders of too frequent values are. That they have not gone yet says that they were not fair;
``docs/guarantees/cohort.md`` has what it says of whom.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seriatim.defences.series.boxes import number_runs
from seriatim.defences.series.caps import Caps, largest_shares
from seriatim.defences.series.cohort.memory import SlotHistory, SlotsInUse
from seriatim.defences.series.cohort.newcomers import start_cohorts
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
from seriatim.defences.series.inherited import TRIES, NewcomerSwaps, groups_to_keep
from seriatim.defences.series.memory import RememberedRows
from seriatim.model.scale import IntArray
from seriatim.ports import Workers


def exit_cohorts(making: SlotsInUse) -> None:
    """Give up the slots of leavers where they and those who stay are fair; end cohorts without a real person."""
    left = making.record < 0
    whole, gone = making.counts(np.ones(len(left), dtype=np.bool_)), making.counts(left)
    sizes = np.diff(making.starts)
    empty = gone.sum(axis=1) == sizes
    out = left & np.repeat(empty | _may_go(making, gone, whole - gone), sizes)
    if making.view.inherited is not None:
        out &= ~np.repeat(groups_to_keep(making.view, making.standing, out, making.rules.m), sizes)
    making.counters.update(closed=int(empty.sum()), exited=int(out.sum()))
    making.keep(~out)


def _may_go(making: SlotsInUse, gone: LongArray, stay: LongArray) -> BoolArray:
    """Return which leavers may go, by the counts of both sides: fair, large enough, with enough strangers."""
    least, strangers, caps = making.rules.batch, making.rules.strangers, making.caps
    enough = (gone.sum(axis=-1) >= least) & (stay.sum(axis=-1) >= least)
    return np.asarray(enough & caps.fair(gone, strangers) & caps.fair(stay, strangers))


def cohort(
    view: SerialView, rules: SerialRules, pasts: Sequence[RememberedRows], draw: SerialDraw, _workers: Workers
) -> SerialGrouping:
    """Group a view into cohorts: people who enter together stay together, and leave in fair cells."""
    return update_groups(view, rules, SlotHistory.of(pasts), draw)


def update_groups(view: SerialView, rules: SerialRules, memory: SlotHistory, draw: SerialDraw) -> SerialGrouping:
    """Update the cohorts: leave, return, exit, enter; then cut boxes."""
    view.check(rules)
    view.check_values(memory.values_of(view.person))
    aside = np.zeros(len(view), dtype=np.bool_)
    # whoever suits no cohort waits, and the cohorts are made anew without them
    for _ in range(TRIES):
        making = _standing(view, rules, memory, draw)
        exit_cohorts(making)
        start_cohorts(making, aside)
        unsuited = _unsuited(making, aside)
        if not len(unsuited):
            break
        aside[unsuited] = True
    return _grouping(making)


def _unsuited(making: SlotsInUse, aside: BoolArray) -> LongArray:
    """Swap the slots of newcomers who would keep too few possible values; return those whom no cohort suits."""
    view, memory = making.view, making.memory
    if view.inherited is None:
        return np.empty(0, dtype=np.int64)
    new = making.active & (memory.look_up(memory.newest, view.person, -1) < 0) & ~aside
    unsuited = NewcomerSwaps(view, making.rules.m, making.place, making.standing, new).settle()
    making.counters["unsuited"] = len(unsuited)
    return unsuited


def _standing(view: SerialView, rules: SerialRules, memory: SlotHistory, draw: SerialDraw) -> SlotsInUse:
    """Return the slots of the last release with those who hold them now; who is absent becomes a counterfeit."""
    active = np.ones(len(view), dtype=np.bool_)
    if rules.lifespan is not None:
        active = memory.look_up(memory.publications, view.person, 0) < rules.lifespan
    # one place more: a counterfeit's slot has the holder -1, which reads the last
    record_of = np.full(max(int(view.person.max(initial=-1)) + 1, len(memory.newest)) + 1, -1, dtype=np.int64)
    record_of[view.person[active]] = np.flatnonzero(active)
    slot = memory.standing
    record = record_of[memory.holder[slot]]
    baseline = _baseline(view, rules, memory)
    making = SlotsInUse(
        view=view,
        rules=rules,
        memory=memory,
        draw=draw,
        caps=Caps.of(baseline, rules.m, rules.odds),
        active=active,
        place=view.place(),
        slot=slot,
        cohort=memory.cohort[slot],
        value=memory.value[slot],
        record=record,
    )
    making.counters["returned"] = int(((record >= 0) & (memory.seen[slot] < memory.n_releases - 1)).sum())
    return making


def _baseline(view: SerialView, rules: SerialRules, memory: SlotHistory) -> LongArray:
    if rules.odds is None:
        return np.zeros(view.n_values, dtype=np.int64)
    return largest_shares(view, memory.baseline, memory.look_up(memory.newest, view.person, -1) < 0)


def _grouping(making: SlotsInUse) -> SerialGrouping:
    view, starts = making.view, making.starts
    # slots stand cohort by cohort
    group_of_slot = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    real = making.record >= 0
    group = np.full(len(view), -1, dtype=np.int32)
    group[making.record[real]] = group_of_slot[real]
    slot = np.full(len(view), -1, dtype=np.int64)
    slot[making.record[real]] = making.slot[real]
    making.counters.update(groups=len(starts) - 1, counterfeits=int((~real).sum()))
    return SerialGrouping(
        group=group,
        withheld=_withheld(making),
        n_groups=len(starts) - 1,
        counterfeit_group=group_of_slot[~real],
        counterfeit_value=making.value[~real].astype(np.int32),
        box=_boxes(making, real),
        counters=making.counters,
        slots=SerialSlots(making.cohort[starts[:-1]], slot, making.slot[~real], making.caps.baseline),
    )


def _withheld(making: SlotsInUse) -> np.ndarray:
    known = making.memory.look_up(making.memory.newest, making.view.person, -1) >= 0
    out = np.zeros(len(making.view), dtype=np.int8)
    # where several reasons fit the last line's is told: it is the one that lasts
    out[~making.has_slot] = making.rules.leftover
    out[~making.has_slot & known] = WithheldReason.SLOT_TAKEN
    out[~making.active] = WithheldReason.LIFESPAN
    return out


def _boxes(making: SlotsInUse, real: BoolArray) -> IntArray:
    """Number boxes of m to 2m - 1 people, over the table."""
    ids = making.record[real].astype(np.int32)
    return number_runs(making.view, ids, np.array([0, len(ids)], dtype=np.int64), making.place, making.rules.m)
