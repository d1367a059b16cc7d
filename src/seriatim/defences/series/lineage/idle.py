"""Idle slots: empty ones that no newcomer needs, freed by giving back slots of other values beside them.

Leavers hold a common value more often than newcomers do, so its slots stay empty, with counterfeits. They can be
dropped only in a fair drop, beside slots of other values, and newcomers of those values take just these. So a few of
these newcomers join a lineage with slots of their own instead, and theirs are dropped with the idle ones.
"""

from __future__ import annotations

import numpy as np

from seriatim.defences.series.contract import BoolArray, LongArray
from seriatim.defences.series.lineage.capped_drops import kept_for_returns
from seriatim.defences.series.lineage.workbench import Workbench


def free_idle_slots(making: Workbench, reserved: BoolArray, waiting: LongArray, left: LongArray) -> int:
    """Give back reserved slots so that idle ones can be dropped; return how many.

    ``reserved`` and ``left``, the newcomers without a slot by value, are changed in place. ``waiting`` counts people
    who may come back to a slot of its value in its lineage only; theirs stay reserved.
    """
    if making.view.priors is not None or making.view.inherited is not None:
        return 0
    table, starts = making.table, making.table.starts()
    idle = (table.record < 0) & ~reserved & ~kept_for_returns(making)
    found, freed = 0, []
    for lineage in _lineages_to_free(making, idle, int(left.sum())):
        own = np.arange(starts[lineage], starts[lineage + 1])
        given = _given_back(making, own, idle, reserved, waiting, left)
        if len(given):
            reserved[given] = False
            left += making.counts(given)
            found += len(given)
            freed.append(int(table.lineage[own[0]]))
    making.freed = np.array(freed, dtype=np.int64)
    return found


def _lineages_to_free(making: Workbench, idle: BoolArray, n_left: int) -> list[int]:
    """Return the lineages with a batch of idle slots or more, most first; all but one if newcomers must join one."""
    starts = making.table.starts()
    n_idle = np.add.reduceat(idle.astype(np.int64), starts[:-1]) if len(starts) > 1 else np.empty(0, dtype=np.int64)
    order = np.argsort(-n_idle, kind="stable")
    if n_left < making.lineage_size:
        order = order[:-1]
    return [int(one) for one in order if n_idle[one] >= making.rules.batch]


def _given_back(
    making: Workbench, own: LongArray, idle: BoolArray, reserved: BoolArray, waiting: LongArray, left: LongArray
) -> LongArray:
    """Return the fewest reserved slots of a lineage beside which its idle ones are a fair drop, if all stays fair.

    All are of the time at which most of the idle ones were taken: people of other times would need three values each.
    """
    rules, caps, since = making.rules, making.caps, making.memory.since[making.table.slot[own]]
    times, crowd = np.unique(since[idle[own]], return_counts=True)
    mine = own[since == times[crowd.argmax()]]
    counts = making.counts(mine[idle[mine]])
    if counts.sum() < rules.batch:
        return own[:0]
    batch, open_ = making.counts(own[reserved[own]]), mine[reserved[mine]]
    returning = np.bincount(making.table.value[own], waiting[own], len(counts)).astype(np.int64)
    given = _completing(making, counts, np.minimum(making.counts(open_), np.maximum(batch - returning, 0)))
    rest, newcomers = making.counts(own) - batch + given, left + given
    fair = (
        batch.sum() - given.sum() >= rules.batch
        and caps.fair(batch - given, rules.strangers)
        and caps.fair(rest, rules.strangers_dropped)
        and caps.fair(newcomers, rules.strangers if newcomers.sum() >= rules.batch else 0)
    )
    if not fair:
        return own[:0]
    values = making.table.value[open_]
    return np.concatenate([own[:0], *(open_[values == one][: given[one]] for one in np.flatnonzero(given))])


def _completing(making: Workbench, counts: LongArray, spare: LongArray) -> LongArray:
    """Return how many of each value make a drop of these counts fair, the rarest first; none if too few can be had."""
    caps, strangers = making.caps, making.rules.strangers_dropped
    held = counts > 0
    size = int(np.where(held, np.maximum(-(-counts * caps.den // caps.num), counts + strangers), 0).max(initial=0))
    size = max(size, making.rules.drop)
    given, most = np.zeros_like(counts), np.minimum(spare, np.maximum(caps.limit(size, strangers) - counts, 0))
    for _ in range(size - int(counts.sum())):
        reach = np.where(given < most, (counts + given + 1) * caps.den / caps.num, np.inf)
        if not np.isfinite(reach).any():
            return np.zeros_like(counts)
        given[reach.argmin()] += 1
    return given
