"""m-invariance cut by stable sorting, as most implementations would do it: the order of ties helps the attacker.

Buckets are halved as the product does, at the median along the dimension that varies most. There a selection leaves
ties in no order; here each slot is sorted, so that people who tie keep the order of the cut before: that of another
quasi-identifier. The same people then meet again in the next release, and several times as many groups are unsafe.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seriatim.defences.series.contract import PlaceArray, SerialDraw, SerialGrouping, SerialRules, SerialView
from seriatim.model.scale import IntArray
from seriatim.ports import Workers
from seriatim_papers.buckets import Buckets, fill_buckets
from seriatim_papers.halves import HalvesCut, cut_into_halves
from seriatim_papers.invariant import invariant_grouping, invariant_lifespan
from seriatim_papers.memory import Memory


def stably_cut_groups(
    view: SerialView, rules: SerialRules, memory: Memory, draw: SerialDraw, workers: Workers
) -> SerialGrouping:
    """Group as the product's m-invariance does, but cut its buckets with ties in a lasting order."""
    view.check(rules)
    active = invariant_lifespan(view, rules, memory)
    buckets = fill_buckets(view, rules, memory, active, draw.chance("assignment"))
    cut = cut_into_halves(view, buckets, draw.chance("counterfeits"), workers)
    return invariant_grouping(view, rules, active, buckets, _cut_anew(buckets, cut))


def _cut_anew(buckets: Buckets, cut: HalvesCut) -> HalvesCut:
    """Put each slot back in the order of the records, then halve it by sorting."""
    group = np.full_like(cut.group_of_id, -1)
    for base, first, size, step in zip(cut.bases, cut.first_group, buckets.sizes, buckets.steps, strict=False):
        block = np.sort(cut.ids[base : base + size * step].reshape(size, step), axis=1)
        cut_stably(block, cut.place)
        group[block] = first + np.arange(step)
    return replace(cut, group_of_id=group)


def cut_stably(block: IntArray, place: PlaceArray) -> None:
    """Order a bucket, one row for each value, so that its i-th group is its i-th column."""
    todo = [(0, block.shape[1])]
    while todo:
        at, n = todo.pop()
        if n < 2:
            continue
        node = block[:, at : at + n]
        where = place[node].astype(np.float64)
        dim = int(where.var(axis=(0, 1)).argmax())
        block[:, at : at + n] = np.take_along_axis(node, where[:, :, dim].argsort(axis=1, kind="stable"), axis=1)
        half = n // 2
        todo += [(at + half, n - half), (at, half)]
