"""Closed lineages: nobody ever changes group, and no value is too frequent in anything that can be told apart.

A lineage is a group that continues from release to release. An adversary can tell apart the whole lineage, each batch
of newcomers, and what was dropped or added: in none of them may a value exceed the share 1/m.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.lineages import LineageRows, LineagesBefore, follow_lineages, largest_lineage_shares
from seriatim.model import Finding
from seriatim.model.judged import JudgedHistory
from seriatim.promises.series.releases import ReleaseGroups, releases_of, releases_taken_apart

Followed = tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]

RULE = "closed_lineages"
PARTS = ("lineages", "batches", "drops", "additions")


def closed_lineages(judged: JudgedHistory, newest: bool = False) -> Finding:
    """Check that nobody is ever in two lineages: no group mixes two, and none is split."""
    mixed_groups, mixed_people = 0, 0
    for groups, (_, mixed) in zip(*lineages_followed(judged), strict=True):
        if not newest or groups.past is judged.history.releases[-1]:
            mixed_groups += int(mixed.sum())
            mixed_people += int((groups.sizes - groups.counterfeits)[mixed].sum())
    detail = "groups that mix or split lineages"
    return Finding(
        RULE,
        mixed_groups == 0,
        float(mixed_groups),
        0.0,
        n_classes=mixed_groups,
        n_people=mixed_people,
        detail=detail,
    )


def fair_lineages(judged: JudgedHistory, m: int, newest: bool = False) -> Finding:
    """Check that no value exceeds 1/m of a lineage, a batch of newcomers, a drop or what remains after it."""
    releases, followed = lineages_followed(judged)
    worst, broken_parts, n_groups, n_people = 0.0, [0, 0, 0, 0], 0, 0
    for at in releases_of(judged, newest):
        groups, before = releases[at], lineages_before(releases, followed, at)
        rows = LineageRows(groups.starts, groups.rows, groups.past.person, groups.past.value)
        share = largest_lineage_shares(rows, before, max(len(judged.history.values), 1))
        over = share > 1.0 / m + 1e-12
        worst = max(worst, float(share.max(initial=0.0)))
        broken_parts = [n + int(flags.sum()) for n, flags in zip(broken_parts, over.T, strict=True)]
        n_groups += int(over.any(axis=1).sum())
        n_people += int((groups.sizes - groups.counterfeits)[over.any(axis=1)].sum())
    parts = ", ".join(f"{n} {name}" for n, name in zip(broken_parts, PARTS, strict=True))
    detail = f"largest share of a value; over it: {parts}"
    return Finding(
        "fair_lineages",
        n_groups == 0,
        worst,
        1.0 / m,
        n_classes=n_groups,
        n_people=n_people,
        detail=detail,
    )


def lineages_before(releases: list[ReleaseGroups], followed: list[Followed], at: int) -> LineagesBefore:
    """Return who was published before a release, and what each group's lineage held when it was last published."""
    standing = np.zeros(releases[at].n_people + 1, dtype=np.int32)  # the last entry is for counterfeits
    n_lineages = max((int(lineage.max(initial=-1)) + 1 for lineage, _ in followed[: at + 1]), default=0)
    last, group = np.full((2, n_lineages), -1, dtype=np.int64)
    for release in range(at):
        standing[releases[release].past.person] = 1
        lineage = followed[release][0]
        last[lineage], group[lineage] = release, np.arange(len(lineage))
    if at:
        standing[releases[at - 1].past.person] = 2
    own = followed[at][0]
    starts, ends = np.full((2, len(own)), -1, dtype=np.int64)
    values, filled = [np.empty(0, dtype=np.int32)], 0
    for release in np.unique(last[own][last[own] >= 0]):
        groups, mine = releases[release], np.flatnonzero(last[own] == release)
        starts[mine] = filled + groups.starts[group[own[mine]]]
        ends[mine] = filled + groups.starts[group[own[mine]] + 1]
        values.append(groups.past.value[groups.rows])
        filled += len(groups.rows)
    return LineagesBefore(standing, starts, ends, np.concatenate(values))


def lineages_followed(judged: JudgedHistory) -> tuple[list[ReleaseGroups], list[Followed]]:
    """Return every release with the lineage of each of its groups, and whether it mixes or splits any."""
    return releases_taken_apart(judged), judged.once(_follow)


def _follow(judged: JudgedHistory) -> list[Followed]:
    home, n_known, found = np.full(len(judged.history.respondents), -1, dtype=np.int32), 0, []
    for groups in releases_taken_apart(judged):
        lineage, mixed, n_known = follow_lineages(groups.starts, groups.rows, groups.past.person, home, n_known)
        found.append((lineage, mixed))
    return found
