"""Historical correlations of a group in the making: how much it shares with every earlier group.

Unsafe is, after the paper's Definition 3 and Figure 6 with their repairs: more than min(|Q|, |Q'|) - n members in
common with an earlier group Q' that is not the same group. Sizes count counterfeits, common members never do; the
case that one group contains the other is unsafe too, because subtracting one from the other leaves a smaller one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, inner, kernel, leaf


class CorrelationMemory(NamedTuple):
    """The memory of a series as kernels read it, and the degree n of the policy."""

    places: Ints
    """places[person, i]: the distinct groups a person was in."""
    n_places: Ints
    real: Ints
    size: Ints
    """For each of those groups its real people and all its rows."""
    n: int


class CorrelationTally(NamedTuple):
    """Scratch: how many members were in each earlier group (0 between uses), and which groups were met."""

    counts: Ints
    seen: Ints


@inner
def blank_correlations(earlier: CorrelationMemory, most_members: int) -> CorrelationTally:
    """Return a tally for groups of so many members at most."""
    room = most_members * max(earlier.places.shape[1], 1)
    return CorrelationTally(np.zeros(len(earlier.size), dtype=np.int32), np.empty(room, dtype=np.int32))


@leaf
def _count_met(members: Longs, earlier: CorrelationMemory, tally: CorrelationTally) -> int:
    """Return how many earlier groups the members (persons; negative: none) were in; count and list them in ``tally``.

    Undo with :func:`_forget_met`.
    """
    n_seen, counts, seen = 0, tally.counts, tally.seen
    for person in members:
        if person < 0 or person >= len(earlier.n_places):
            continue
        for i in range(earlier.n_places[person]):
            group = earlier.places[person, i]
            if counts[group] == 0:
                seen[n_seen] = group
                n_seen += 1
            counts[group] += 1
    return n_seen


@leaf
def _forget_met(tally: CorrelationTally, n_seen: int) -> None:
    """Set the counts of the groups met back to 0 in ``tally``."""
    for i in range(n_seen):
        tally.counts[tally.seen[i]] = 0


@leaf
def _correlation_surplus(common: int, group: int, size: int, n_real: int, earlier: CorrelationMemory) -> int:
    """Return how many common members are too many; 0 when the pair is safe or the same group again."""
    least = min(size, earlier.size[group])
    if common <= least - earlier.n:
        return 0
    same_size = size == earlier.size[group]
    if same_size and common == n_real and common == earlier.real[group]:
        return 0
    if earlier.n == 1 and same_size:
        return 0
    return int(common - (least - earlier.n))


@leaf
def correlation_badness(members: Longs, earlier: CorrelationMemory, tally: CorrelationTally) -> tuple[int, int]:
    """Return a group's sum of surpluses and the earlier group with the largest; (0, -1) if safe; overwrites tally."""
    n_real = 0
    for person in members:
        n_real += person >= 0
    n_seen = _count_met(members, earlier, tally)
    counts, seen = tally.counts, tally.seen
    total, worst, most = 0, -1, 0
    for i in range(n_seen):
        group = seen[i]
        if counts[group] < 2 and earlier.n < min(len(members), earlier.size[group]):
            continue
        over = _correlation_surplus(counts[group], group, len(members), n_real, earlier)
        total += over
        if over > most:
            most, worst = over, group
    _forget_met(tally, n_seen)
    return total, worst


@leaf
def was_in_correlation(person: int, group: int, earlier: CorrelationMemory) -> bool:
    """Return whether a person was in an earlier group; nobody (negative) was in none."""
    if person < 0 or person >= len(earlier.n_places):
        return False
    for i in range(earlier.n_places[person]):  # noqa: SIM110 - kernels know no generators
        if earlier.places[person, i] == group:
            return True
    return False


@kernel
def unsafe_correlations(starts: Longs, rows: Ints, person: Longs, earlier: CorrelationMemory) -> int:
    """Return how many groups of a release (rows sorted by group) are unsafe in the light of those before it."""
    unsafe, most = 0, 1
    for group in range(len(starts) - 1):
        most = max(most, starts[group + 1] - starts[group])
    tally = blank_correlations(earlier, most)
    for group in range(len(starts) - 1):
        members = person[rows[starts[group] : starts[group + 1]]]
        bad, _ = correlation_badness(members, earlier, tally)
        unsafe += bad > 0
    return unsafe
