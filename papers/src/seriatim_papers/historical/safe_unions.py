"""Repairs unions: no union of new groups may share too much with a union of groups of an earlier release.

Groups that each share little with every earlier group may share too much together: for example, a small bucket that
hardly anyone left is such a union as a whole. Its groups are repaired by swaps of equal value with near groups outside
the union; if there is none, as few people as possible are withheld.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

import numpy as np

from seriatim.defences.series.contract import BoolArray, LongArray, SerialRules, SerialView
from seriatim.ports import Workers
from seriatim_papers.completion import GroupsToComplete
from seriatim_papers.kernels.correlations import CorrelationMemory
from seriatim_papers.kernels.separation import (
    SeparationWeb,
    separation_as_before,
    separation_missing,
    separation_rows_free,
)
from seriatim_papers.kernels.union_repair import repair_unions
from seriatim_papers.memory import GroupMemory

ROUNDS = 4
"""Rounds in which people are swapped."""


def make_unions_safe(
    fresh: GroupsToComplete,
    again: GroupsToComplete,
    view: SerialView,
    memory: GroupMemory,
    rules: SerialRules,
    workers: Workers,
) -> tuple[GroupsToComplete, GroupsToComplete, dict[str, int]]:
    """Return new and republished groups without small unions, and counts of groups, swaps and removals."""
    n_fresh = len(fresh.signature_of_group)
    if not memory.n_releases:
        return fresh, again, {"in unions": 0, "union swaps": 0, "union removals": 0}
    web = _web(fresh, again, view, memory, rules)
    asked = np.arange(len(web.size))
    plain = 2 * rules.n <= min(int(web.size.min(initial=2 * rules.n)), int(web.old_size.min(initial=2 * rules.n)))
    if plain:
        asked = asked[~_settled(web, memory)]
    earlier = CorrelationMemory(memory.past_groups, memory.n_past_groups, memory.group_real, memory.group_size, rules.n)
    counts = _mend_all(web, asked, plain, _bounds(fresh, len(web.size)), earlier, workers)
    group = web.now
    return (
        replace(fresh, group=np.where(group < n_fresh, group, -1).astype(np.int32)),
        replace(again, group=np.where(group >= n_fresh, group - n_fresh, -1).astype(np.int32)),
        counts,
    )


def _mend_all(
    web: SeparationWeb,
    asked: LongArray,
    plain: bool,
    bounds: tuple[LongArray, LongArray],
    earlier: CorrelationMemory,
    workers: Workers,
) -> dict[str, int]:
    """Search and repair until no union holds a group: usually once.

    After some rounds people are removed instead of swapped, so that it ends.
    """
    counts = {"in unions": 0, "union swaps": 0, "union removals": 0}
    firsts, lasts = bounds
    for attempt in itertools.count():
        # by release: a worker who has one release knows all groups that are safe there, and searches little
        releases = np.arange(web.group_in.shape[0])
        parts = [releases[worker :: workers.count].copy() for worker in range(min(workers.count, len(releases)))]
        flags = workers.map(partial(_separable, web, asked, plain), parts)
        unsafe = asked[np.logical_or.reduce(flags)]
        reach = lasts if attempt < ROUNDS else firsts
        swaps, out, closed = repair_unions(web, unsafe, firsts[unsafe], reach[unsafe], earlier).tolist()
        for name, more in zip(counts, (len(unsafe), swaps, out), strict=True):
            counts[name] += more
        if swaps + out == 0 or (plain and not closed):
            return counts
    raise AssertionError("unreachable")


def _separable(web: SeparationWeb, asked: LongArray, plain: bool, releases: LongArray) -> BoolArray:
    flags: BoolArray = separation_missing(web, asked, releases, plain)
    return flags


def _web(
    fresh: GroupsToComplete, again: GroupsToComplete, view: SerialView, memory: GroupMemory, rules: SerialRules
) -> SeparationWeb:
    """Return all groups, slot after slot in the order of their signatures, the fresh ones first."""
    sizes = np.concatenate([np.diff(s.starts)[s.signature_of_group] for s in (fresh, again)]).astype(np.int64)
    base = np.cumsum(sizes) - sizes
    slots = np.full(int(sizes.sum()), -1, dtype=np.int64)
    now = np.full(len(view), -1, dtype=np.int32)
    first = 0
    for assigned in (fresh, again):
        rows = np.flatnonzero(assigned.group >= 0)
        group = assigned.group[rows]
        now[rows] = group + first
        slots[base[first + group] + assigned.slot[rows] - assigned.starts[assigned.signature_of_group[group]]] = rows
        first += len(assigned.signature_of_group)
    return SeparationWeb(
        slots,
        base,
        sizes.astype(np.int32),
        now,
        memory.group_in,
        memory.member_starts,
        memory.members,
        memory.group_size,
        separation_rows_free(now, memory.past_groups, memory.n_past_groups, memory.group_size),
        2 * rules.n,
    )


def _settled(web: SeparationWeb, memory: GroupMemory) -> BoolArray:
    """Return the groups that are unchanged since the last release.

    A union of only these was the same in the last release, and safe: people who left since then only make it safer. So
    only the others need a search.
    """
    plain_size = np.where(memory.group_real == memory.group_size, memory.group_size, -1)
    return np.asarray(separation_as_before(web.slots, web.base, web.size, memory.group_in[-1], plain_size))


def _bounds(fresh: GroupsToComplete, n_groups: int) -> tuple[LongArray, LongArray]:
    """Return the groups each group may swap with: those of its bucket; none for a republished group."""
    firsts = np.arange(n_groups)
    lasts = firsts + 1
    of_bucket = np.searchsorted(fresh.signature_of_group, np.arange(len(fresh.starts)))
    firsts[: len(fresh.signature_of_group)] = of_bucket[fresh.signature_of_group]
    lasts[: len(fresh.signature_of_group)] = of_bucket[fresh.signature_of_group + 1]
    return firsts, lasts
