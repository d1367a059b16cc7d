"""Groups that go on from release to release with the same people, and what was filled in or taken out of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Floats, Ints, Longs, kernel, leaf


@kernel
def follow_lineages(starts: Longs, rows: Ints, person: Ints, home: Ints, n_known: int) -> tuple[Ints, Flags, int]:
    """Return each group's lineage, which groups mix lineages or split one, and how many lineages are known now.

    ``home`` is everyone's lineage so far (-1: new); it is brought up to date.
    """
    n_groups = len(starts) - 1
    lineage, mixed = np.full(n_groups, -1, dtype=np.int32), np.zeros(n_groups, dtype=np.bool_)
    owner = np.full(n_known + n_groups, -1, dtype=np.int32)
    for group in range(n_groups):
        own = -1
        for i in range(starts[group], starts[group + 1]):
            who = person[rows[i]]
            if who >= 0 and home[who] >= 0:
                mixed[group] |= own >= 0 and home[who] != own
                own = home[who]
        if own < 0:
            own = n_known
            n_known += 1
        if owner[own] >= 0:
            mixed[group], mixed[owner[own]] = True, True
        owner[own], lineage[group] = group, own
    for group in range(n_groups):
        for i in range(starts[group], starts[group + 1]):
            who = person[rows[i]]
            if who >= 0:
                home[who] = lineage[group]
    return lineage, mixed, n_known


@leaf
def _least_share(new: Longs, back: Longs) -> float:
    """Return the smallest share the most frequent value can have among all newcomers and any who came back."""
    top, most = 0, 0
    for value in range(len(new)):
        top = max(top, new[value])
        most = max(most, new[value] + back[value])
    if top == 0:
        return 0.0
    best = 1.0
    for cap in range(top, most + 1):
        size = 0
        for value in range(len(new)):
            size += min(new[value] + back[value], cap)
        best = min(best, cap / size)
    return best


@leaf
def _share(counts: Longs) -> float:
    """Return the largest count's share of all; 0 where there is none."""
    total, most = 0, 0
    for count in counts:
        total += count
        most = max(most, count)
    return most / total if total > 0 else 0.0


class LineageRows(NamedTuple):
    """The rows of a release: those of group i are ``rows[starts[i]:starts[i + 1]]``; who stands in each, with what."""

    starts: Longs
    rows: Ints
    person: Ints
    value: Ints


class LineagesBefore(NamedTuple):
    """What was there before a release: how people stand, and the values of each group's lineage when last published."""

    standing: Ints
    """0 for people never published, 1 for those who were away last time, 2 for the others."""
    starts: Longs
    """Where the values of each group's lineage start; -1 for a new lineage."""
    ends: Longs
    values: Ints


@kernel
def largest_lineage_shares(release: LineageRows, before: LineagesBefore, n_values: int) -> Floats:
    """Return per group the largest share of one value: in the whole, the newcomers, what was dropped, what was added.

    Who comes back may fill a place of the batch or stand in the own one, so the batch may count any of them. 0 for an
    empty batch or drop.
    """
    starts, rows, person, value, standing = (
        release.starts, release.rows, release.person, release.value, before.standing
    )  # fmt: skip
    n_groups = len(starts) - 1
    share = np.zeros((n_groups, 4))
    now, lost, won = (
        np.zeros(n_values, dtype=np.int64), np.zeros(n_values, dtype=np.int64), np.zeros(n_values, dtype=np.int64)
    )  # fmt: skip
    batch = np.zeros((2, n_values), dtype=np.int64)
    for group in range(n_groups):
        for each in range(n_values):
            now[each], lost[each], won[each], batch[0, each], batch[1, each] = 0, 0, 0, 0, 0
        old = before.starts[group] >= 0
        for i in range(starts[group], starts[group + 1]):
            row = rows[i]
            now[value[row]] += 1
            if old and person[row] >= 0 and standing[person[row]] < 2:
                batch[standing[person[row]], value[row]] += 1
        if old:
            for i in range(before.starts[group], before.ends[group]):
                lost[before.values[i]] += 1
            for each in range(n_values):
                won[each] = max(now[each] - lost[each], 0)
                lost[each] = max(lost[each] - now[each], 0)
        share[group, 0], share[group, 1] = _share(now), _least_share(batch[0], batch[1])
        share[group, 2], share[group, 3] = _share(lost), _share(won)
    return share
