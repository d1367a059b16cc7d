"""Mending: no union of new groups may have too much in common with a union of groups of an earlier release.

Groups that each share little with every earlier one may share too much together: a small bucket of which hardly
anybody left, for instance, is such a union as a whole. Its groups are mended by swaps of equal value with near
groups outside the union; where there is none, the fewest people are withheld.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

import numpy as np

from seriatim.defences.series.completion import Seating
from seriatim.defences.series.contract import BoolArray, LongArray, SerialRules, SerialView
from seriatim.defences.series.memory import Encounters
from seriatim.kernels.series.correlations import Earlier
from seriatim.kernels.series.separation import Web, as_before, rows_free, separable
from seriatim.kernels.series.union_repair import mend
from seriatim.ports import Workers

ROUNDS = 4
"""Rounds in which people are swapped."""


def mended(
    fresh: Seating, again: Seating, view: SerialView, memory: Encounters, rules: SerialRules, workers: Workers
) -> tuple[Seating, Seating, dict[str, int]]:
    """New groups and republished ones without small unions, and how many groups, swaps and people that took."""
    n_fresh = len(fresh.signature_of_group)
    if not memory.n_releases:
        return fresh, again, {"in unions": 0, "union swaps": 0, "union taken out": 0}
    web = _web(fresh, again, view, memory, rules)
    asked = np.arange(len(web.size))
    plain = 2 * rules.n <= min(int(web.size.min(initial=2 * rules.n)), int(web.old_size.min(initial=2 * rules.n)))
    if plain:
        asked = asked[~_settled(web, memory)]
    earlier = Earlier(memory.places, memory.n_places, memory.group_real, memory.group_size, rules.n)
    counts = _mend_all(web, asked, plain, _bounds(fresh, len(web.size)), earlier, workers)
    group = web.now
    return (
        replace(fresh, group=np.where(group < n_fresh, group, -1).astype(np.int32)),
        replace(again, group=np.where(group >= n_fresh, group - n_fresh, -1).astype(np.int32)),
        counts,
    )


def _mend_all(
    web: Web, asked: LongArray, plain: bool, bounds: tuple[LongArray, LongArray], earlier: Earlier, workers: Workers
) -> dict[str, int]:
    """Ask and mend until no group is left that a union holds: mostly once.

    After some rounds nobody is swapped any more. People are only taken out then, so that it ends.
    """
    counts = {"in unions": 0, "union swaps": 0, "union taken out": 0}
    firsts, lasts = bounds
    for attempt in itertools.count():
        # dealt out by release: whoever looks at one knows all groups that are safe there, and searches little
        releases = np.arange(web.group_in.shape[0])
        parts = [releases[worker :: workers.count] for worker in range(min(workers.count, len(releases)))]
        flags = workers.map(partial(_separable, web, asked, plain), parts)
        unsafe = asked[np.logical_or.reduce(flags)]
        reach = lasts if attempt < ROUNDS else firsts
        swaps, out, closed = mend(web, unsafe, firsts[unsafe], reach[unsafe], earlier).tolist()
        for name, more in zip(counts, (len(unsafe), swaps, out), strict=True):
            counts[name] += more
        if swaps + out == 0 or (plain and not closed):
            return counts
    raise AssertionError("unreachable")


def _separable(web: Web, asked: LongArray, plain: bool, releases: LongArray) -> BoolArray:
    flags: BoolArray = separable(web, asked, releases, plain)
    return flags


def _web(fresh: Seating, again: Seating, view: SerialView, memory: Encounters, rules: SerialRules) -> Web:
    """All groups, seat after seat in the order of their signatures: the fresh ones first."""
    sizes = np.concatenate([np.diff(s.starts)[s.signature_of_group] for s in (fresh, again)]).astype(np.int64)
    base = np.cumsum(sizes) - sizes
    seats = np.full(int(sizes.sum()), -1, dtype=np.int64)
    now = np.full(len(view), -1, dtype=np.int32)
    first = 0
    for seating in (fresh, again):
        rows = np.flatnonzero(seating.group >= 0)
        group = seating.group[rows]
        now[rows] = group + first
        seats[base[first + group] + seating.slot[rows] - seating.starts[seating.signature_of_group[group]]] = rows
        first += len(seating.signature_of_group)
    return Web(
        seats,
        base,
        sizes.astype(np.int32),
        now,
        memory.group_in,
        memory.member_starts,
        memory.members,
        memory.group_size,
        rows_free(now, memory.places, memory.n_places, memory.group_size),
        2 * rules.n,
    )


def _settled(web: Web, memory: Encounters) -> BoolArray:
    """Groups that were in the last release as they are.

    A union of none but those was as it is now in the last release, and safe: people who left since are only more
    ways out. So it is enough to ask the others.
    """
    plain_size = np.where(memory.group_real == memory.group_size, memory.group_size, -1)
    return np.asarray(as_before(web.seats, web.base, web.size, memory.group_in[-1], plain_size))


def _bounds(fresh: Seating, n_groups: int) -> tuple[LongArray, LongArray]:
    """Between which groups each may swap: those of its bucket; a republished group with none."""
    firsts = np.arange(n_groups)
    lasts = firsts + 1
    of_bucket = np.searchsorted(fresh.signature_of_group, np.arange(len(fresh.starts)))
    firsts[: len(fresh.signature_of_group)] = of_bucket[fresh.signature_of_group]
    lasts[: len(fresh.signature_of_group)] = of_bucket[fresh.signature_of_group + 1]
    return firsts, lasts
