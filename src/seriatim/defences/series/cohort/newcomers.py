"""Newcomers form cohorts of their own: near people together, few and large, no value above its cap.

Usually all of them enter. If a value is too frequent among them, its surplus waits; if they are few, all of them wait
instead, since a surplus that waits alone would reveal its value. People who return after their slot was given up
enter beside them where ``returns`` lets them.
"""

from __future__ import annotations

import numpy as np

from seriatim.defences.series.cohort.returns import Returns
from seriatim.defences.series.cohort.workbench import CohortMaking
from seriatim.defences.series.contract import BoolArray, LongArray
from seriatim.defences.series.lineage.workbench import workbench_first_of_each, workbench_pools
from seriatim.kernels.lineage.fair_cells import fair_cells

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
    for _, pool, _ in workbench_pools(view, outside & ~aside):
        party = _party(making, _admitted(making, pool, known, returns), least)
        if len(party):
            _found(making, party, known, returns)


def _admitted(making: CohortMaking, pool: LongArray, known: BoolArray, returns: Returns) -> LongArray:
    """Return the pool without people whose return would say too much beside the others of the pool."""
    again = known[pool]
    if not again.any():
        return pool
    ok = np.ones(len(pool), dtype=np.bool_)
    ok[again] = returns.admitted(making.view.person[pool[again]], _counts(making, pool), making.caps, _slack(making))
    return pool[ok]


def _slack(making: CohortMaking) -> float:
    """Return by how much the belief about someone who returns may exceed a cap: many values need some room."""
    return 0.0 if making.rules.m <= 3 else 0.5


def _counts(making: CohortMaking, records: LongArray) -> LongArray:
    return np.bincount(making.view.sensitive[records], minlength=making.view.n_values).astype(np.int64)


def _party(making: CohortMaking, pool: LongArray, least: int) -> LongArray:
    """Return who enters now, in random order: everyone, or as many as are fair, or nobody."""
    caps, strangers = making.caps, making.rules.strangers
    mixed = making.draw.chance("entering").permutation(pool)
    counts = _counts(making, pool)
    if len(pool) < least:
        return pool[:0]
    if caps.fair(counts, strangers):
        return mixed
    making.counters["waiting_unfair"] += 1
    if len(making.slot) and len(pool) * FEW <= len(making.view):
        return pool[:0]
    kept = caps.kept(counts, strangers)
    return workbench_first_of_each(mixed, making.view, kept) if kept.sum() >= least else pool[:0]


def _found(making: CohortMaking, party: LongArray, known: BoolArray, returns: Returns) -> None:
    """Cut the party into cohorts; leave out people who return where their own cohort says too much."""
    rules, caps, view = making.rules, making.caps, making.view
    ids = party.astype(np.int32)
    fairness = caps.fairness(rules.m, rules.strangers)
    size = rules.cohort_size(int(caps.baseline.max(initial=0)))
    starts = fair_cells(ids, making.place, view.sensitive, fairness, size, 0)
    parts = []
    for lo, hi in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        whole = ids[lo:hi].astype(np.int64)
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
