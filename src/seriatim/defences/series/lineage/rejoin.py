"""People who return and find no slot of their value: many of one lineage rejoin it together.

Anyone who returns after their slot was given up waits for an empty one of their value in their lineage. Where hundreds
return at once all empty slots are soon taken, and the others waited. They now rejoin their lineage with slots of their
own, as newcomers do who join: a batch or more of them, fair together, in a lineage that neither dropped slots nor took
in newcomers in this release. Returning people and newcomers never enter together: they differ in the values that they
can hold, and lineages that took in both were breached without any knowledge.

People who return differ among themselves too. So a value is let in only if founders of the lineage hold it three
times, and those who were first published in the same release hold three values or more, as in a drop.
"""

from __future__ import annotations

import numpy as np

from seriatim.defences.series.contract import LongArray
from seriatim.defences.series.lineage.workbench import Workbench, workbench_first_of_each
from seriatim.kernels.lineage.drops import PART
from seriatim.kernels.lineage.refill import SHARED


def rejoin_together(making: Workbench, waiting: LongArray) -> None:
    """Add slots for people who return to their lineage and still wait, where they are many and fair together."""
    making.counters["rejoined"] = 0
    left = waiting[~making.has_slot[waiting]]
    if len(left) < making.rules.batch or making.view.priors is not None or making.view.inherited is not None:
        return
    memory, table = making.memory, making.table
    home = memory.lineage_of_slot[memory.slot[making.view.person[left]]]
    closed = np.union1d(making.shrunk, table.lineage[table.slot >= memory.n_slots])
    lineages, sizes = np.unique(home, return_counts=True)
    for lineage in np.setdiff1d(lineages[sizes >= making.rules.batch], closed).tolist():
        party = _party(making, lineage, left[home == lineage])
        if len(party) >= making.rules.batch:
            values = making.view.sensitive[party]
            table.extend(lineage, making.next_slot + np.arange(len(party)), values, party.astype(np.int32))
            making.has_slot[party] = True
            making.counters["rejoined"] += len(party)


def _party(making: Workbench, lineage: int, records: LongArray) -> LongArray:
    """Return the largest fair part of some people of a lineage, of values and times that hide each other."""
    view, memory, table = making.view, making.memory, making.table
    own = np.flatnonzero(table.lineage == lineage)
    held = making.counts(own[memory.made[table.slot[own]] == 0])
    mixed: LongArray = making.draw.chance(f"rejoining {lineage}").permutation(records)
    mixed = mixed[held[view.sensitive[mixed]] >= SHARED]
    while len(mixed):
        counts = np.bincount(view.sensitive[mixed], minlength=view.n_values).astype(np.int64)
        party = workbench_first_of_each(mixed, view, making.caps.kept(counts, making.rules.strangers))
        first = memory.first[view.person[party]]
        pairs = np.unique(np.column_stack((first, view.sensitive[party])), axis=0)
        times, n_values = np.unique(pairs[:, 0], return_counts=True)
        alone = times[n_values < PART]
        if not len(alone):
            return party
        mixed = mixed[~np.isin(memory.first[view.person[mixed]], alone)]
    return mixed
