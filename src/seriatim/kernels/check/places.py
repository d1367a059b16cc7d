"""The lasting places of lineages, followed from release to release: who took whose, and which were given up."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

LINEAGE, VALUE, HOLDER, SINCE, LAST = range(5)
"""What is known of a place: columns of ``places``. SINCE is when its last holder came, LAST when it was last shown."""
ODD, REFILLED, THIN, DROPPED, MIXED = range(5)
"""What is counted for each group."""


@njit(cache=True, nogil=True)
def take_places(
    release: int, person: Ints, value: Ints, lineage: Longs, slot: Longs, places: Ints, own: Ints, seen: Ints
) -> tuple[Flags, Flags]:
    """Take in one release; for each row whether its place is odd, and whether its person is new there.

    Odd: a place that is shown twice, changes its value or lineage, comes back after it was given up, or is added to a
    lineage that there was before. ``places``, ``own`` (everyone's place) and ``seen`` (when each lineage was last
    shown) are brought up to date; -1 for nothing yet.
    """
    odd, moved = np.zeros(len(slot), dtype=np.bool_), np.zeros(len(slot), dtype=np.bool_)
    for r in range(len(slot)):
        s, p, at = slot[r], person[r], lineage[r]
        if places[s, SINCE] < 0:
            odd[r] = 0 <= seen[at] < release
            places[s, LINEAGE], places[s, VALUE], places[s, SINCE] = at, value[r], release
        else:
            odd[r] = places[s, LINEAGE] != at or places[s, VALUE] != value[r] or places[s, LAST] != release - 1
            if p >= 0 and (places[s, HOLDER] != p or own[p] != s):
                moved[r] = True
                places[s, SINCE] = release
        places[s, LAST] = release
        if p >= 0:
            places[s, HOLDER], own[p] = p, s
        if seen[at] < 0:
            seen[at] = release
    return odd, moved


@njit(cache=True, nogil=True)
def count_places(
    release: int, starts: Longs, rows: Ints, value: Ints, lineage: Longs, odd: Flags, moved: Flags, before: Longs,
    places: Ints, n_lineages: int, n_values: int, shared: int,
) -> Longs:  # fmt: skip
    """Per group the odd places, those refilled, of them those whose value is held fewer than ``shared`` times, those
    dropped, and of them those whose people came at another time than the first one's.

    ``before`` are the places of the release before; ``odd`` and ``moved`` are from :func:`take_places`.
    """
    n_groups = len(starts) - 1
    counts = np.zeros((n_groups, 5), dtype=np.int64)
    held, filled = np.zeros(n_values, dtype=np.int64), np.zeros(n_values, dtype=np.int64)
    group_of = np.full(n_lineages, -1, dtype=np.int64)
    for g in range(n_groups):
        at = lineage[rows[starts[g]]]
        counts[g, ODD] += group_of[at] >= 0
        group_of[at] = g
        for i in range(starts[g], starts[g + 1]):
            r = rows[i]
            held[value[r]] += 1
            filled[value[r]] += moved[r]
            counts[g, ODD] += odd[r] or lineage[r] != at
            counts[g, REFILLED] += moved[r]
        for i in range(starts[g], starts[g + 1]):
            v = value[rows[i]]
            counts[g, THIN] += filled[v] if held[v] < shared else 0
            held[v], filled[v] = 0, 0
    first = np.full(n_groups, -1, dtype=np.int64)
    for s in before:
        g = group_of[places[s, LINEAGE]]
        if places[s, LAST] != release and g >= 0:
            counts[g, DROPPED] += 1
            first[g] = places[s, SINCE] if first[g] < 0 else first[g]
            counts[g, MIXED] += places[s, SINCE] != first[g]
    return counts
