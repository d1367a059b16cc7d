"""The party of newcomers who enter when values have caps of their own: they join a lineage or start new ones.

Those who enter are fair, and so are those who wait: a few holders of one value who wait alone would give it away. Only
where no such split exists, the largest fair part enters. Few newcomers never start a lineage beside others; such small
lineages hold most counterfeits. Compared with lineages without ``[promise] odds`` (``newcomers``), the cap of those
who join is the plain one, one split serves joining and starting, and nothing is started from people meant to wait.
"""

from __future__ import annotations

import numpy as np

from seriatim.defences.series.contract import BoolArray, LongArray
from seriatim.defences.series.lineage.founding_cells import founding_cells
from seriatim.defences.series.lineage.newcomers import newcomers_into_lineages
from seriatim.defences.series.lineage.workbench import SlotTable, Workbench, workbench_first_of_each, workbench_pools
from seriatim.kernels.lineage.refill import refill_batch


def admit_party(making: Workbench, new: BoolArray) -> None:
    """Admit the newcomers without a slot, as far as they and those who wait are fair."""
    making.counters.update(joined=0, founded=0)
    first = not len(making.table.slot)
    for at, (_, pool, known) in enumerate(workbench_pools(making.view, new & ~making.has_slot)):
        mixed = making.draw.chance(f"party {at}").permutation(pool)
        counts = np.bincount(making.view.sensitive[pool], minlength=making.view.n_values).astype(np.int64)
        party = workbench_first_of_each(mixed, making.view, _party_counts(making, counts, first))
        if len(party) < making.rules.batch:
            continue
        if first or making.view.priors is not None or len(pool) >= making.lineage_size:
            _found_party(making, party)
        else:
            newcomers_into_lineages(making, party, known)


def _party_counts(making: Workbench, counts: LongArray, first: bool) -> LongArray:
    """Return how many of each value enter: as many as leave a fair rest to wait, or the largest fair part, or none."""
    rules, caps = making.rules, making.caps
    if not first:
        out = np.zeros_like(counts)
        limits = caps.limits(rules.m, rules.batch, rules.strangers, 0)
        if refill_batch(counts, counts, np.arange(len(counts)), limits, out):
            return out
        if caps.fair(counts):
            return np.zeros_like(counts)
    return caps.kept(counts, rules.strangers)


def _found_party(making: Workbench, party: LongArray) -> None:
    """Start lineages of near people."""
    table, memory = making.table, making.memory
    ids = party.astype(np.int32)
    value = making.view.sensitive
    fairness = making.caps.evenly(making.rules.strangers)
    starts = founding_cells(ids, making.place, value, fairness, making.lineage_size, making.workers)
    next_lineage = max(memory.n_lineages, int(table.lineage.max(initial=-1)) + 1)
    cell = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    table.add(SlotTable(making.next_slot + np.arange(len(ids)), next_lineage + cell, value[ids], ids))
    making.has_slot[ids] = True
    making.counters["founded"] += len(starts) - 1
