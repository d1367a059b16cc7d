"""Newcomers form cohorts of their own: few and large, no value above its cap.

Cells are dealt to all of them first (``cells``), before anybody's value decides anything. Then usually everyone enters.
If a value is too frequent among them, its surplus waits; if they are few, all of them wait instead, since a surplus
that waits alone would reveal its value. People who return after their slot was given up enter beside them where
``returns`` lets them.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from seriatim.defences.series.caps import Caps
from seriatim.defences.series.cohort.cells import drawn_cells, planned_cells
from seriatim.defences.series.cohort.returns import Returns
from seriatim.defences.series.cohort.workbench import CohortMaking
from seriatim.defences.series.contract import BoolArray, LongArray, SerialView
from seriatim.defences.series.inherited import inherited_known_records
from seriatim.kernels.series.by_key import rows_by_key

FEW = 50
"""Newcomers of at most one in this many people wait together if they are not fair."""


def newcomers_into_cohorts(making: CohortMaking, aside: BoolArray) -> None:
    """Start cohorts for newcomers and for people who return, apart for each set of possible values.

    Those set ``aside`` wait: no cohort suits them.
    """
    memory, view = making.memory, making.view
    known = memory.look_up(memory.newest, view.person, -1) >= 0
    outside = making.active & ~making.has_slot
    back = np.flatnonzero(outside & known)
    returns = Returns(memory, view.person[back], view.n_values)
    least = making.rules.batch * (2 if len(making.slot) else 1)
    making.counters.update(founded=0, entered_again=0, waiting_unfair=0)
    entering = []
    for pool in newcomer_pools(view, outside & ~aside):
        mixed = making.draw.chance("entering").permutation(pool)
        enters = _entering(making, mixed, known, returns, least)
        if enters.any():
            entering.append((mixed, enters))
    if entering:
        everyone = np.concatenate([pool[enters] for pool, enters in entering])
        caps = Caps.of_cells(making.shown_with(_counts(making, everyone)), making.rules.m, making.rules.odds)
        for pool, enters in entering:
            _found(making, _cells(making, pool, enters, caps), known, returns)


def newcomer_pools(view: SerialView, new: BoolArray) -> list[LongArray]:
    """Return the newcomers who may be in one group, the pools with the fewest possible values first.

    People whose values earlier releases of another method have told are kept apart.
    """
    if view.inherited is None:
        return _pools_by_priors(view, new)
    known = inherited_known_records(view)
    return [pool for kind in (False, True) for pool in _pools_by_priors(view, new & (known == kind))]


def _pools_by_priors(view: SerialView, new: BoolArray) -> list[LongArray]:
    if view.priors is None:
        return [np.flatnonzero(new)]
    order = np.argsort(view.priors.possible.sum(axis=1), kind="stable")
    return [np.flatnonzero(new & (view.priors.of_record == at)) for at in order]


def _entering(making: CohortMaking, pool: LongArray, known: BoolArray, returns: Returns, least: int) -> BoolArray:
    """Return who of a pool enters now: everyone whose return does not say too much beside the others, if they fit."""
    out = np.ones(len(pool), dtype=np.bool_)
    again = known[pool]
    if again.any():
        people = making.view.person[pool[again]]
        out[again] = returns.admitted(people, _counts(making, pool), making.caps, _slack(making))
    out[out] = _party(making, pool[out], least)
    return out


def _slack(making: CohortMaking) -> float:
    """Return by how much the belief about someone who returns may exceed a cap: many values need some room."""
    return 0.0 if making.rules.m <= 3 else 0.5


def _counts(making: CohortMaking, records: LongArray) -> LongArray:
    return np.bincount(making.view.sensitive[records], minlength=making.view.n_values).astype(np.int64)


def _party(making: CohortMaking, pool: LongArray, least: int) -> BoolArray:
    """Return who enters: everyone, or as many as are fair, the first of each value, or nobody."""
    caps, strangers, nobody = making.caps, making.rules.strangers, np.zeros(len(pool), dtype=np.bool_)
    counts = _counts(making, pool)
    if len(pool) < least:
        return nobody
    if caps.fair(counts, strangers):
        return ~nobody
    making.counters["waiting_unfair"] += 1
    if len(making.slot) and len(pool) * FEW <= len(making.view):
        return nobody
    kept = caps.kept(counts, strangers)
    return np.isin(pool, _first_of_each(pool, making.view, kept)) if kept.sum() >= least else nobody


def _first_of_each(records: LongArray, view: SerialView, counts: LongArray) -> LongArray:
    """Return the first records of each value, as many as ``counts`` says."""
    value = view.sensitive[records]
    first, order = rows_by_key(value, view.n_values)
    rank = np.empty(len(records), dtype=np.int64)
    rank[order] = np.arange(len(order)) - first[value[order]]
    return records[rank < counts[value]]


def _found(making: CohortMaking, cells: list[LongArray], known: BoolArray, returns: Returns) -> None:
    """Start a cohort for each cell; leave out people who return where their own cohort says too much."""
    rules, caps, view = making.rules, making.caps, making.view
    parts = []
    for whole in cells:
        again = np.flatnonzero(known[whole])
        if len(again):
            counts = _counts(making, whole)
            ok = returns.admitted(view.person[whole[again]], counts, caps, _slack(making))
            fewer = np.delete(whole, again[~ok])
            if len(fewer) >= rules.batch and caps.fair(_counts(making, fewer), rules.strangers):
                whole = fewer
            making.counters["entered_again"] += int(known[whole].sum())
        parts.append(whole)
    making.add_cohorts(np.concatenate(parts), np.concatenate(([0], np.cumsum([len(part) for part in parts]))))
    making.counters["founded"] += len(parts)


def _cells(making: CohortMaking, pool: LongArray, enters: BoolArray, caps: Caps) -> list[LongArray]:
    """Return who of a pool enters together: the first cells dealt to the pool that are all fair, else everyone in one.

    Whether they are fair is the only thing here that depends on who holds which value. How large cells are follows from
    the values that the table shows, not from those of the view: these are not published.
    """
    rules, view = making.rules, making.view
    party = pool[enters]
    plan = planned_cells(_counts(making, party), caps, rules.cohort)
    if 2 * plan.least > len(party):
        return [party]
    chance = making.draw.chance("cells")
    for tried in plan.tried:
        cell = drawn_cells(view.quasi[pool], view.first, tried, chance)[enters]
        bounds, order = rows_by_key(cell.astype(np.int32), int(cell.max()) + 1)
        cells = [party[order[a:b]] for a, b in pairwise(bounds.tolist())]
        counts = np.stack([_counts(making, one) for one in cells])
        fair = caps.fair(counts, rules.strangers) & making.caps.fair(counts, rules.strangers)
        if (fair & (counts.sum(axis=1) >= rules.batch)).all():
            return cells
        making.counters["not_dealt"] = making.counters.get("not_dealt", 0) + 1
    return [party]
