"""Groups have m different values, and everyone is among the same values in every release.

m-invariance is Xiao and Tao's (2007). The weak forms, in which every value of a group may occur equally often instead
of once, are Riboni and Bettini's (Cor-Split, definitions 5 and 6; both releases mean the same tuple, which the print
omits).
"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.check.groups import mark_moved
from seriatim.model import Finding
from seriatim.model.history import JudgedHistory
from seriatim.promises.series.releases import ReleaseGroups, met_in_earlier, numbers_to_check, taken_apart


def m_uniqueness(judged: JudgedHistory, m: int, newest: bool = False) -> Finding:
    """Check that every group has at least m rows, all with different values."""
    return _uniqueness(judged, m, newest, "m_uniqueness", weak=False)


def weak_m_uniqueness(judged: JudgedHistory, m: int, newest: bool = False) -> Finding:
    """Check that every group has at least m different values, each equally often."""
    return _uniqueness(judged, m, newest, "weak_m_uniqueness", weak=True)


def m_invariance(judged: JudgedHistory, m: int, newest: bool = False) -> Finding:
    """Check m-uniqueness, and that everyone's groups show the same set of values in all releases."""
    return _invariance(judged, m, newest, "m_invariance", m_uniqueness(judged, m, newest))


def weak_m_invariance(judged: JudgedHistory, m: int, newest: bool = False) -> Finding:
    """Check weak m-uniqueness, and that everyone's groups show the same set of values in all releases."""
    return _invariance(judged, m, newest, "weak_m_invariance", weak_m_uniqueness(judged, m, newest))


def _uniqueness(judged: JudgedHistory, m: int, newest: bool, rule: str, weak: bool) -> Finding:
    releases = taken_apart(judged)
    worst, n_groups, n_people, uneven = float("inf"), 0, 0, 0
    for at in numbers_to_check(judged, newest):
        groups = releases[at]
        distinct, fewest, most, _ = groups.described
        there = groups.sizes > 0
        odd = there & ((fewest != most) if weak else (most > 1))
        broken = odd | (there & (distinct < m))
        worst = min(worst, float(distinct[there].min(initial=np.iinfo(np.int32).max)))
        n_groups, n_people = n_groups + int(broken.sum()), n_people + _real(groups, broken)
        uneven += int(odd.sum())
    kind = "unequal numbers of their values" if weak else "a value more than once"
    detail = f"different values in the least varied group; {uneven} groups with {kind}"
    return Finding(rule, n_groups == 0, worst, float(m), n_classes=n_groups, n_people=n_people, detail=detail)


def _real(groups: ReleaseGroups, broken: np.ndarray) -> int:
    return int((groups.sizes - groups.counterfeits)[broken].sum())


def _invariance(judged: JudgedHistory, m: int, newest: bool, rule: str, unique: Finding) -> Finding:
    releases = taken_apart(judged)
    moved_people, moved_groups = 0, 0
    for at in numbers_to_check(judged, newest):
        groups = releases[at]
        moved = np.zeros(len(groups.rows), dtype=np.bool_)
        for before, met in zip(releases[:at], met_in_earlier(judged, at), strict=True):
            mark_moved(groups.starts, met, groups.value_sets, before.value_sets, moved)
        moved_people += int(moved.sum())
        moved_groups += len(np.unique(groups.past.group[groups.rows[moved]]))
    detail = f"{moved_people} people were among other values before; {unique.n_classes} groups are not unique"
    return Finding(
        rule,
        unique.kept and moved_people == 0,
        unique.worst if unique.n_classes or not moved_people else 0.0,
        float(m),
        n_classes=unique.n_classes + moved_groups,
        n_people=unique.n_people + moved_people,
        detail=detail,
        remedy="" if not moved_people else "keep everyone among the values of their first release",
    )
