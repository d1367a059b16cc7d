"""Slots given up where common values have caps: what can go goes, rare values last, and one lineage stays whole.

In small tables two things matter that the lineages without ``[promise] odds`` do not know. Giving up a few rare slots
first would keep their lineage from dropping hundreds, since two drops in one release would show as one: in a panel of
2,000 women a third of all rows were counterfeits. And people return: a slot that is given up at once is gone when they
do, and they wait for one of their value. So some slots of those who left just now are kept for one release, as large a
share of them, drawn by lot, as people return; at most three in ten.
"""

from __future__ import annotations

import numpy as np

from seriatim.defences.series.contract import BoolArray
from seriatim.defences.series.lineage.needed_slots import keep_needed_slots, needed_slots
from seriatim.defences.series.lineage.workbench import Workbench
from seriatim.kernels.lineage.drops import drop_rare, drop_slots
from seriatim.kernels.lineage.refill import SHARED

PATIENT = 0.3
"""The largest share of slots that are kept a release longer. All of them doubled the counterfeits of a real panel."""


def drop_capped_slots(making: Workbench, new: BoolArray) -> None:
    """Drop what can go; where nothing can, retire rare values; leave a lineage whole that newcomers can join."""
    table, limits, n_values = making.table, making.drop_limits(), making.view.n_values
    empty = (table.record < 0) & ~kept_for_returns(making) & ~needed_slots(making)
    dropped = drop_slots(making.slot_arrays(empty), ~making.fresh, n_values, limits)
    others = empty & ~np.isin(table.lineage, table.lineage[dropped])
    rare = drop_rare(making.slot_arrays(others), n_values, limits)
    _undo_unfair(making, rare)
    dropped |= rare
    keep_needed_slots(making, dropped)
    _spare_one(making, new, dropped)
    making.counters["dropped"] = int(dropped.sum())
    making.shrunk = np.unique(table.lineage[dropped])
    making.fresh = making.fresh[~dropped]
    table.keep(~dropped)


def kept_for_returns(making: Workbench) -> BoolArray:
    """Return which slots are kept for people who left just now; drawn by lot, whatever their values."""
    memory, view, table = making.memory, making.view, making.table
    last = memory.last_slots()
    stood = last.holder >= 0
    left = stood & ~np.isin(last.holder, view.person)
    known = memory.look_up(memory.slot, view.person, -1) >= 0
    back = int((known & ~np.isin(view.person, last.holder[stood])).sum())
    share = min(PATIENT, back / max(int(left.sum()), 1))
    lot = making.draw.chance("kept for returns").random(len(table.slot)) < share
    return np.asarray(lot & np.isin(table.slot, last.slot[left]))


def _undo_unfair(making: Workbench, rare: BoolArray) -> None:
    """Undo drops beside which a batch of this release would not be fair, or would hold a value too rare to refill."""
    table, fresh, n_values = making.table, making.fresh, making.view.n_values
    founded = (making.memory.made[table.slot] == 0) & ~rare
    for lineage in np.unique(table.lineage[rare]).tolist():
        own = table.lineage == lineage
        stays = np.bincount(table.value[own & ~fresh & ~rare], minlength=n_values)
        held = np.bincount(table.value[own & founded], minlength=n_values)
        thin = held[table.value[own & fresh]] < SHARED
        if thin.any() or not making.caps.fair(stays, making.rules.strangers_dropped):
            rare[own] = False


def _spare_one(making: Workbench, new: BoolArray, dropped: BoolArray) -> None:
    """Undo the smallest drop if every lineage would shrink although newcomers need one to join.

    Not one for which slots were given back, if there is another.
    """
    lineage, left = making.table.lineage, int((new & ~making.has_slot).sum())
    here, sizes = np.unique(lineage[dropped], return_counts=True)
    may_join = making.rules.batch <= left < making.lineage_size
    if may_join and len(here) and len(here) == len(np.unique(lineage)):
        sizes = sizes + len(lineage) * np.isin(here, making.freed)
        dropped[lineage == here[sizes.argmin()]] = False
