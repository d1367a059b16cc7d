"""Historical safety: groups that share little with any earlier group, so that comparing releases reveals little.

Cor-Split (Riboni and Bettini): m-invariance whose groups are also safe from historical correlations of a degree below
n. There are two modes. ``repair`` halves the buckets as m-invariance does and swaps tuples of equal value between near
groups until all are safe, also from unions of groups (see ``safe_unions``). ``greedy`` is the paper's Cor-Partition
(Figure 5), which considers only pairs of groups: publishing may refuse its drafts, because they can break the promises
about unions.

The printed algorithm needs these repairs: the check is symmetric in the two groups' sizes; a discarded tuple is a
random member of the offending old group, and discards are bounded; a tuple replaced by a counterfeit stays in the
bucket, which is then padded; merging with earlier groups (lines 10-12) is omitted, since a larger group is no safer
once the check is symmetric. Mode ``printed`` has none of them (see ``as_printed``). Groups whose members all remain
are republished unchanged (sticky). That delays the cascade of an adversary who iterates, but does not stop it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from seriatim.defences.series.boxes import number_groups
from seriatim.defences.series.contract import (
    BoolArray,
    LongArray,
    SerialDraw,
    SerialGrouping,
    SerialRules,
    SerialView,
    WithheldReason,
)
from seriatim.defences.series.memory import RememberedRows
from seriatim.kernels.arrays import rows_by_key
from seriatim.ports import Workers
from seriatim_papers.buckets import Buckets, fill_buckets
from seriatim_papers.completion import GroupsToComplete, complete_groups, join_completions
from seriatim_papers.halves import cut_into_halves, shares_of_halves
from seriatim_papers.historical.as_printed import printed_groups
from seriatim_papers.historical.forced_equal import without_forced_equals
from seriatim_papers.historical.safe_unions import make_unions_safe
from seriatim_papers.invariant import invariant_lifespan
from seriatim_papers.kernels.correlations import CorrelationMemory
from seriatim_papers.kernels.halves import HalvesArrays
from seriatim_papers.kernels.partition import PartitionLists, PartitionRecords, partition_buckets
from seriatim_papers.kernels.repair import RepairPlaces, repair_buckets
from seriatim_papers.kernels.tighter_boxes import tighter_boxes_of_buckets
from seriatim_papers.memory import GroupMemory


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Stage:
    """What both modes need."""

    view: SerialView
    buckets: Buckets
    earlier: CorrelationMemory
    draw: SerialDraw
    workers: Workers
    counters: dict[str, int]


def historical(
    view: SerialView, rules: SerialRules, pasts: Sequence[RememberedRows], draw: SerialDraw, workers: Workers
) -> SerialGrouping:
    """Group a view with (m, n)-historical safety (Riboni and Bettini); the default mode is ``repair``.

    It searches small series for people whom chains over several releases would force to be equal.

    Mode ``greedy`` is the paper's with its check mended, and ``printed`` the paper's as it stands, both for comparison:
    they ignore unions of groups, so their drafts may break ``union_safety`` and be refused.
    """
    memory = GroupMemory.of(pasts, view.person)
    if rules.mode == "printed":
        return printed_groups(view, rules, memory, draw, workers)
    made = historical_groups(view, rules, memory, draw, workers, greedy=rules.mode == "greedy")
    if rules.mode == "greedy":
        return made
    made, counts = without_forced_equals(made, view, pasts, rules.m)
    return replace(made, counters={**made.counters, **counts})


def historical_groups(
    view: SerialView, rules: SerialRules, memory: GroupMemory, draw: SerialDraw, workers: Workers, greedy: bool = False
) -> SerialGrouping:
    """Republish groups that stayed together, balance the rest, and group it safely.

    ``greedy`` groups as the paper does and ignores unions of groups: its release may be refused. It does not merge
    unsafe groups (Figure 5, lines 10 to 12): the common members would stay, and with Figure 6 repaired the smaller of
    two groups sets the degree, so a larger group is no safer.
    """
    view.check(rules)
    view.check_values(memory.value)
    active = invariant_lifespan(view, rules, memory)
    stuck = _stuck(memory, active, 0 if greedy else rules.n) if rules.sticky else np.zeros(len(view), dtype=np.bool_)
    buckets = fill_buckets(view, rules, memory, active & ~stuck, draw.chance("assignment"))
    earlier = CorrelationMemory(memory.past_groups, memory.n_past_groups, memory.group_real, memory.group_size, rules.n)
    stage = _Stage(
        view=view, buckets=buckets, earlier=earlier, draw=draw, workers=workers, counters={"stuck": int(stuck.sum())}
    )
    again = _republished(view, memory, stuck)
    if greedy:
        made = join_completions(complete_groups(again), complete_groups(_spread(stage)))
    else:
        fresh, again, counts = make_unions_safe(_repaired(stage, rules.sticky), again, view, memory, rules, workers)
        stage.counters.update(counts)
        made = join_completions(complete_groups(again), complete_groups(fresh))
    withheld = np.zeros(len(view), dtype=np.int8)
    withheld[made.group < 0] = rules.leftover
    withheld[(made.group < 0) & (stuck | (buckets.slot >= 0))] = WithheldReason.UNSAFE
    withheld[~active] = WithheldReason.LIFESPAN
    counters = {**stage.counters, "buckets": len(buckets.steps), "groups": made.n_groups}
    counters["counterfeits"] = len(made.counterfeit_group)
    return SerialGrouping(
        group=made.group,
        withheld=withheld,
        n_groups=made.n_groups,
        counterfeit_group=made.counterfeit_group,
        counterfeit_value=made.counterfeit_value,
        box=number_groups(view, made.group, view.place(), rules.m),
        counters=counters,
    )


def _stuck(memory: GroupMemory, active: BoolArray, fewest: int) -> BoolArray:
    """Return the records whose last group is here again with all its members.

    A group and its repetition form a union that differs only in the counterfeits of both. With some, but fewer than
    ``fewest`` of them, it is not republished, because the promise about unions would be broken. Nor is a group that
    shows a value twice, as other methods make them.
    """
    last = np.where(active, memory.last_group, -1)
    here = np.bincount(last[last >= 0], minlength=memory.n_groups)
    counterfeits = memory.group_size - memory.group_real
    kept = (here == memory.group_real) & (here > 0) & ((counterfeits == 0) | (counterfeits >= fewest))
    whole = np.append(kept, False)  # the last entry is for newcomers
    values = np.append(np.diff(memory.signature_starts), -1)[memory.signature]
    return np.asarray(whole[last] & (np.append(memory.group_size, 0)[last] == values))


def _republished(view: SerialView, memory: GroupMemory, stuck: BoolArray) -> GroupsToComplete:
    """Return the sticky groups as they were, counterfeits included."""
    rows = np.flatnonzero(stuck)
    group = np.full(len(view), -1, dtype=np.int32)
    slot = np.full(len(view), -1, dtype=np.int32)
    _, first, number = np.unique(memory.last_group[rows], return_index=True, return_inverse=True)
    signature = memory.signature[rows]
    group[rows] = number
    sizes = np.diff(memory.signature_starts)
    keys = np.repeat(np.arange(len(sizes)), sizes) * view.n_values + memory.signature_values
    slot[rows] = np.searchsorted(keys, signature.astype(np.int64) * view.n_values + view.sensitive[rows])
    return GroupsToComplete(
        group, slot, signature[first].astype(np.int64), memory.signature_starts, memory.signature_values
    )


def _repaired(stage: _Stage, tight: bool) -> GroupsToComplete:
    """Return the buckets cut and repaired; ``tight`` adds swaps that shrink boxes in between.

    Sticky groups leave half as many people to cut, whose boxes are then a fifth wider, and stay so while they stick; a
    pass of swaps makes up for that at little cost.
    """
    view, buckets = stage.view, stage.buckets
    cut = cut_into_halves(view, buckets, stage.draw.chance("counterfeits"), stage.workers)
    sizes = buckets.sizes

    layout, placed = (
        HalvesArrays(cut.bases, sizes, buckets.steps),
        RepairPlaces(cut.ids, np.arange(len(view)), cut.place),
    )

    def repair(which: LongArray) -> LongArray:
        if tight:
            tighter_boxes_of_buckets(which, cut.ids, layout, cut.place, len(view))
        return repair_buckets(which, layout, placed, stage.earlier)

    found = stage.workers.map(repair, shares_of_halves(sizes * buckets.steps, stage.workers.count))
    unsafe, swaps, removals = np.sum(found, axis=0).tolist() if found else (0, 0, 0)
    stage.counters.update(unsafe=unsafe, swaps=swaps, removals=removals)
    group = np.full(len(view), -1, dtype=np.int32)
    slot_step = np.repeat(buckets.steps, sizes)
    first = np.repeat(cut.first_group[:-1], sizes) - (np.cumsum(slot_step) - slot_step)
    of_position = np.repeat(first, slot_step) + np.arange(len(cut.ids))
    real = (cut.ids >= 0) & (cut.ids < len(view))
    group[cut.ids[real]] = of_position[real]
    bucket_of_group = np.repeat(np.arange(len(sizes)), buckets.steps)
    return GroupsToComplete(group, buckets.slot, bucket_of_group, buckets.starts, buckets.values)


def _spread(stage: _Stage) -> GroupsToComplete:
    view, buckets = stage.view, stage.buckets
    slot_starts, _ = rows_by_key(buckets.slot, len(buckets.values))
    lists = np.empty((view.quasi.shape[1], int(slot_starts[-1])), dtype=np.int32)
    for d, scale in enumerate(view.scales):
        _, order = rows_by_key(np.ascontiguousarray(view.quasi[:, d]), len(scale))
        _, ranked = rows_by_key(buckets.slot[order], len(buckets.values))
        lists[d] = order[ranked]
    group = np.full(len(view), -1, dtype=np.int32)
    n_groups = np.zeros(len(buckets.steps), dtype=np.int64)
    seeds = stage.draw.chance("discards").integers(0, 2**62, len(n_groups))
    by_bucket = PartitionLists(buckets.starts, slot_starts, lists)
    records = PartitionRecords(np.arange(len(view)), view.place(), group)

    def spread(which: LongArray) -> None:
        partition_buckets(which, by_bucket, records, stage.earlier, n_groups, seeds)

    stage.workers.map(spread, shares_of_halves(buckets.sizes * buckets.steps, stage.workers.count))
    first = np.cumsum(n_groups) - n_groups
    bucket_of_slot = np.repeat(np.arange(len(buckets.steps)), buckets.sizes)
    inside = group >= 0
    group[inside] += first[bucket_of_slot[buckets.slot[inside]]].astype(np.int32)
    bucket_of_group = np.repeat(np.arange(len(n_groups)), n_groups)
    return GroupsToComplete(group, buckets.slot, bucket_of_group, buckets.starts, buckets.values)
