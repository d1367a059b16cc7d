"""People whose value the adversary knows by name: a group of their own, beside those that a serial method makes.

They need no cover and give none. Whoever shares a group with one of them loses a value, so that nobody does. Their
group has no lineage and no slots (-1), and a method never remembers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from seriatim.defences.series.boxes import number_runs
from seriatim.defences.series.contract import (
    LongArray,
    SerialDraw,
    SerialGrouping,
    SerialMethod,
    SerialRules,
    SerialView,
    WithheldReason,
)
from seriatim.defences.series.memory import RememberedRows
from seriatim.ports import Workers

COUNTER = "known people in a group of their own"


def known_apart(method: SerialMethod) -> SerialMethod:
    """Return a method that groups everyone else, and puts the people known by name in one group."""

    def grouped(
        view: SerialView, rules: SerialRules, pasts: Sequence[RememberedRows], draw: SerialDraw, workers: Workers
    ) -> SerialGrouping:
        known = view.priors.records_known if view.priors is not None else np.zeros(len(view), dtype=np.bool_)
        pasts = [_without_apart(past) for past in pasts]
        if not known.any():
            return method(view, rules, pasts, draw, workers)
        view.check(rules)
        others, told = np.flatnonzero(~known), np.flatnonzero(known)
        return _joined(view, method(_part(view, others), rules, pasts, draw, workers), others, told, rules.m)

    return grouped


def _without_apart(past: RememberedRows) -> RememberedRows:
    """Return the rows of a release that a method made; one without slots has nothing that says which."""
    if past.lineage is None or past.slot is None or (past.lineage >= 0).all():
        return past
    kept = past.lineage >= 0
    return RememberedRows(
        past.person[kept],
        group=np.unique(past.group[kept], return_inverse=True)[1].astype(np.int32),
        value=past.value[kept],
        lineage=past.lineage[kept],
        slot=past.slot[kept],
        baseline=None if past.baseline is None else past.baseline[kept],
    )


def _part(view: SerialView, rows: LongArray) -> SerialView:
    priors, inherited = view.priors, view.inherited
    return replace(
        view,
        quasi=view.quasi[rows],
        sensitive=view.sensitive[rows],
        person=view.person[rows],
        priors=None if priors is None else replace(priors, of_record=priors.of_record[rows]),
        inherited=None if inherited is None else replace(inherited, of_record=inherited.of_record[rows]),
    )


def _joined(view: SerialView, made: SerialGrouping, others: LongArray, told: LongArray, m: int) -> SerialGrouping:
    group, box, slot = np.full((3, len(view)), -1, dtype=np.int64)
    withheld = np.full(len(view), WithheldReason.NO, dtype=np.int8)
    group[others], box[others], withheld[others] = made.group, made.box, made.withheld
    group[told] = made.n_groups
    own = number_runs(view, told.astype(np.int32), np.array([0, len(told)], dtype=np.int64), view.place(), m)
    box[told] = own[told] + int(made.box.max(initial=-1)) + 1
    slots = made.slots
    if slots is not None:
        slot[others] = slots.slot_of_record
        slots = replace(slots, slot_of_record=slot, cohort_of_group=np.append(slots.cohort_of_group, -1))
    return replace(
        made,
        group=group.astype(np.int32),
        withheld=withheld,
        n_groups=made.n_groups + 1,
        box=box.astype(np.int32),
        counters={**made.counters, COUNTER: len(told)},
        slots=slots,
    )
