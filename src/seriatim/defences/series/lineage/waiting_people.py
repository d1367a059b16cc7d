"""People who wait beside those whose slot is gone, so that waiting tells no value.

Whoever returns after their slot was given up waits for one of their value, and holders of rare values wait longest: of
a dozen who waited in a real panel, five held one value of thirteen. So others wait with them, drawn by lot from the
people who return to a slot that is still theirs, until no value exceeds its cap among all who wait. Their slot stays a
counterfeit for so long, as if they had not come back yet. The lot is the same in every release: whoever waits beside
others goes on waiting as long as those do, and a long wait tells no more than a short one. Where many wait they are
not joined: it would cost more people than it hides, and in real panels no value stood out among them.
"""

from __future__ import annotations

import numpy as np

from seriatim.defences.series.contract import BoolArray, LongArray, SerialDraw
from seriatim.defences.series.lineage.workbench import Workbench

MOST = 2
"""At most so many batches of people wait beside those whose slot is gone; a batch of these is a crowd of its own."""


def wait_beside_others(making: Workbench, own_slot: LongArray, active: BoolArray) -> None:
    """Let people who return to their slot wait until everyone who waits is fair together, as far as they are enough."""
    view, caps = making.view, making.caps
    waiting = np.flatnonzero(active & (own_slot >= 0) & ~making.has_slot)
    counts = np.bincount(view.sensitive[waiting], minlength=view.n_values).astype(np.int64)
    making.counters["waiting_beside"] = 0
    if not 0 < len(waiting) < making.rules.batch or caps.fair(counts):
        return
    beside = _drawn(making, own_slot)[: MOST * making.rules.batch]
    totals = counts + np.cumsum(np.eye(view.n_values, dtype=np.int64)[view.sensitive[beside]], axis=0)
    fair = np.flatnonzero(caps.fair(totals))
    best = fair[0] if len(fair) else _least_unfair(making, np.vstack((counts, totals))) - 1
    _withhold(making, beside[: best + 1])


def _least_unfair(making: Workbench, totals: LongArray) -> int:
    """Return the row of counts in which the value furthest above its cap is the least far above."""
    caps, sizes = making.caps, totals.sum(axis=1, keepdims=True)
    return int((totals * caps.den / (np.maximum(sizes, 1) * caps.num)).max(axis=1).argmin())


def _drawn(making: Workbench, own_slot: LongArray) -> LongArray:
    """Return the records that came back to their own slot just now, in the order of the lot.

    One person of every lineage is left, so that none is without real people.
    """
    table, memory, view = making.table, making.memory, making.view
    last = memory.last_slots()
    real = np.flatnonzero(table.record >= 0)
    record = table.record[real].astype(np.int64)
    absent = ~np.isin(view.person[record], last.holder[last.holder >= 0])
    known = table.slot[real] < memory.n_slots
    held = np.append(memory.last_holder, -1)[np.where(known, table.slot[real], -1)] == view.person[record]
    back = (
        absent & held & (own_slot[record] == table.slot[real])
    )  # another one's slot is filled in a batch, which stays
    keep = np.zeros(len(real), dtype=np.bool_)
    keep[np.unique(table.lineage[real][np.argsort(back, kind="stable")], return_index=True)[1]] = True
    keep = keep[np.argsort(np.argsort(back, kind="stable"), kind="stable")]
    people = record[back & ~keep]
    lot = SerialDraw(making.draw.secret, 0).chance("waiting beside others").random(int(view.person.max(initial=0)) + 1)
    return np.asarray(people[np.argsort(lot[view.person[people]], kind="stable")])


def _withhold(making: Workbench, records: LongArray) -> None:
    making.table.record[np.isin(making.table.record, records)] = -1
    making.has_slot[records] = False
    making.counters["waiting_beside"] = len(records)
