"""No union of groups has too much in common with a union of groups of another release.

Take some groups of two releases together. People in an old group but not in a new one hold, all together, the same
values as those in a new group but not in an old one: a historical correlation that no two single groups show. Its
degree is half the number of people whose removal separates the groups from all others, so it is below n exactly when
that smallest cut is below 2n.
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.check.union_cuts import smallest_cuts, union_graph, unions_to_cut
from seriatim.model import Finding
from seriatim.model.history import JudgedHistory
from seriatim.model.scale import IntArray
from seriatim.promises.series.releases import ReleaseGroups, releases_met_before, releases_of, releases_taken_apart


def union_safety(judged: JudgedHistory, n: int, newest: bool = False) -> Finding:
    """Check that no union of groups can be separated by fewer than 2n people."""
    releases = releases_taken_apart(judged)
    worst, n_groups, n_people = float("inf"), 0, 0
    for at in releases_of(judged, newest):
        groups = releases[at]
        unsafe = groups.sizes < 0
        for old, met in zip(releases[:at], releases_met_before(judged, at), strict=True):
            lowest = _cuts_between(old, groups, met, n)
            unsafe |= lowest > 0
            worst = min(worst, float(lowest[lowest > 0].min(initial=2 * n)))
        n_groups += int(unsafe.sum())
        n_people += int((groups.sizes - groups.counterfeits)[unsafe].sum())
    kept = n_groups == 0
    detail = "half of the fewest people who separate a union of groups"
    return Finding(
        "union_safety",
        kept,
        float("inf") if kept else worst / 2,
        float(n),
        n_classes=n_groups,
        n_people=n_people,
        detail=detail,
    )


def _cuts_between(old: ReleaseGroups, new: ReleaseGroups, met: IntArray, n: int) -> IntArray:
    """Return the smallest cut below 2n for each group of the newer release, 0 for none.

    A union has groups of both releases, so searching from those of the newer one is enough; and a graph is needed only
    if some of them have no short ways out.
    """
    both = np.flatnonzero(met >= 0)
    old_out = (old.sizes - np.bincount(met[both], minlength=len(old.sizes))).astype(np.int32)
    lowest = np.zeros(len(new.sizes), dtype=np.int32)
    asked = unions_to_cut(new.starts, met, old_out, 2 * n)
    if not len(asked):
        return lowest
    of_row = np.repeat(np.arange(len(new.sizes), dtype=np.int32), new.sizes)[both]
    new_out = new.sizes - np.bincount(of_row, minlength=len(new.sizes)).astype(np.int32)
    sizes, out = np.concatenate((old.sizes, new.sizes)), np.concatenate((old_out, new_out))
    graph = union_graph(met[both], of_row, len(old.sizes), len(sizes), out)
    lowest[asked] = smallest_cuts(graph, sizes, 2 * n, asked + np.int32(len(old.sizes)))
    return lowest
