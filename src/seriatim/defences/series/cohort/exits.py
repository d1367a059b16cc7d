"""Exits: which slots of people who have left a cohort are given up together.

Either all of them go or none does: anyone who is passed over would stand out, since only holders of too frequent values
are. With ``exits = "prefix"`` they are in a random order, and the longest beginning that is fair goes. That keeps
fewer counterfeits, and tells a little about those who stay.
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
    all_go = empty | _may_go(making, gone, whole - gone)
    out = left & np.repeat(all_go, sizes)
    if making.rules.exits == "prefix":
        for at in np.flatnonzero(~all_go & (gone.sum(axis=1) >= making.rules.batch)).tolist():
            rows = making.starts[at] + np.flatnonzero(left[making.starts[at] : making.starts[at + 1]])
            out[_longest_prefix(making, rows, whole[at])] = True
    if making.view.inherited is not None:
        out &= ~np.repeat(narrowed_inherited(making.view, making.standing, out, making.rules.m), sizes)
    making.counters.update(closed=int(empty.sum()), exited=int(out.sum()))
    making.keep(~out)


def _may_go(making: CohortMaking, gone: LongArray, stay: LongArray) -> BoolArray:
    """Return which leavers may go at once, by the counts of both sides: fair, large enough, with enough strangers."""
    least, strangers, caps = making.rules.batch, making.rules.strangers, making.caps
    enough = (gone.sum(axis=-1) >= least) & (stay.sum(axis=-1) >= least)
    return np.asarray(enough & caps.fair(gone, strangers) & caps.fair(stay, strangers))


def _longest_prefix(making: CohortMaking, rows: LongArray, whole: LongArray) -> LongArray:
    """Return the longest beginning, in a random order, of these slots that may go."""
    cohort = int(making.cohort[rows[0]])
    mixed = making.draw.chance(f"exits of cohort {cohort}").permutation(rows)
    ahead = np.zeros((len(mixed), making.view.n_values), dtype=np.int64)
    ahead[np.arange(len(mixed)), making.value[mixed]] = 1
    gone = ahead.cumsum(axis=0)
    fits = np.flatnonzero(_may_go(making, gone, whole - gone))
    return mixed[: fits[-1] + 1] if len(fits) else mixed[:0]
