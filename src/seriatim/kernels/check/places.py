"""The lasting places of lineages, followed from release to release: who took whose, and which were given up."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

LINEAGE, VALUE, HOLDER, SINCE, LAST = range(5)
"""What is known of a place: columns of ``places``. SINCE is when its last holder came, LAST when it was last shown."""
ODD, REFILLED, THIN, DROPPED, MIXED = range(5)
"""What is counted for each group."""


@njit(cache=True, nogil=True)
def take_place(release: int, at: int, p: int, v: int, known: Longs, own: Longs, seen: int) -> tuple[bool, bool]:
    """Somebody (-1: a counterfeit) stands in a place of lineage ``at``: is that odd, and is he new there?

    ``seen`` is when that lineage was last shown before (-1: never). Odd: a place that is shown twice, changes its value
    or lineage, comes back after it was given up, or is added to a lineage that there was before.
    """
    if known[SINCE] < 0:
        known[LINEAGE], known[VALUE], known[HOLDER], known[SINCE], known[LAST] = at, v, p, release, release
        if p >= 0:
            own[p] = known[-1]
        return seen >= 0, False
    odd = known[LINEAGE] != at or known[VALUE] != v or known[LAST] != release - 1
    known[LAST] = release
    if p < 0:
        return odd, False
    moved = known[HOLDER] != p or own[p] != known[-1]
    if moved:
        known[SINCE] = release
    known[HOLDER], own[p] = p, known[-1]
    return odd, moved


@njit(cache=True, nogil=True)
def follow_places(
    release: int, starts: Longs, rows: Ints, person: Ints, value: Ints, lineage: Longs, slot: Longs, before: Longs,
    places: Longs, own: Longs, seen: Longs, n_values: int, shared: int,
) -> Longs:  # fmt: skip
    """Take in one release; per group the odd places, those refilled, of them those whose value is held fewer than
    ``shared`` times, those dropped, and of them those whose people came at another time than the first one's.

    ``before`` are the places of the release before. ``places`` (with each one's number in a last column), ``own``
    (everyone's place) and ``seen`` (when each lineage was last shown) are brought up to date; -1 for nothing yet.
    """
    n_groups = len(starts) - 1
    counts = np.zeros((n_groups, 5), dtype=np.int64)
    held, filled = np.zeros(n_values, dtype=np.int64), np.zeros(n_values, dtype=np.int64)
    group_of = np.full(len(seen), -1, dtype=np.int64)
    for g in range(n_groups):
        at = lineage[rows[starts[g]]]
        counts[g, ODD] += group_of[at] >= 0
        group_of[at] = g
        for i in range(starts[g], starts[g + 1]):
            r = rows[i]
            held[value[r]] += 1
            odd, moved = take_place(release, at, person[r], value[r], places[slot[r]], own, seen[at])
            counts[g, ODD] += odd or lineage[r] != at
            counts[g, REFILLED] += moved
            filled[value[r]] += moved
        for i in range(starts[g], starts[g + 1]):
            v = value[rows[i]]
            counts[g, THIN] += filled[v] if held[v] < shared else 0
            held[v] = held[v] if held[v] >= shared else shared  # counted once
        for i in range(starts[g], starts[g + 1]):
            held[value[rows[i]]], filled[value[rows[i]]] = 0, 0
    first = np.full(n_groups, -1, dtype=np.int64)
    for s in before:
        g = group_of[places[s, LINEAGE]]
        if places[s, LAST] != release and g >= 0:
            counts[g, DROPPED] += 1
            first[g] = places[s, SINCE] if first[g] < 0 else first[g]
            counts[g, MIXED] += places[s, SINCE] != first[g]
    for at in range(len(seen)):
        if group_of[at] >= 0:
            seen[at] = release
    return counts
