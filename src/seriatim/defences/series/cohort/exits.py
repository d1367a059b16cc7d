"""Exits: which slots of people who have left a cohort are given up together.

Either all of them go or none does: anyone who is passed over would stand out, since only holders of too frequent values
are. That they have not gone yet says that they were not fair; ``docs/guarantees/cohort.md`` has what it says of whom.
"""

from __future__ import annotations

import numpy as np

from seriatim.defences.series.cohort.workbench import CohortMaking
from seriatim.defences.series.contract import BoolArray, LongArray
from seriatim.defences.series.inherited import narrowed_inherited


def exit_cohorts(making: CohortMaking) -> None:
    """Give up the slots of leavers where they and those who stay are fair; end cohorts without a real person."""
    left = making.record < 0
    whole, gone = making.counts(np.ones(len(left), dtype=np.bool_)), making.counts(left)
    sizes = np.diff(making.starts)
    empty = gone.sum(axis=1) == sizes
    out = left & np.repeat(empty | _may_go(making, gone, whole - gone), sizes)
    if making.view.inherited is not None:
        out &= ~np.repeat(narrowed_inherited(making.view, making.standing, out, making.rules.m), sizes)
    making.counters.update(closed=int(empty.sum()), exited=int(out.sum()))
    making.keep(~out)


def _may_go(making: CohortMaking, gone: LongArray, stay: LongArray) -> BoolArray:
    """Return which leavers may go, by the counts of both sides: fair, large enough, with enough strangers."""
    least, strangers, caps = making.rules.batch, making.rules.strangers, making.caps
    enough = (gone.sum(axis=-1) >= least) & (stay.sum(axis=-1) >= least)
    return np.asarray(enough & caps.fair(gone, strangers) & caps.fair(stay, strangers))
