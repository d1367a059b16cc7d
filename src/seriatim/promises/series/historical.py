"""No two groups of different releases have too much in common.

Historical correlations are those of Riboni and Bettini (Cor-Split, definitions 3 and 7), repaired: the common core is
the largest, identical groups are no correlation, a counterfeit counts in a group and never in the core, one side must
be free of counterfeits, and the smaller of the two groups sets the degree. Their figure 6 considers only the new
group's size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.groups import correlated_groups
from seriatim.model import Finding
from seriatim.model.history import JudgedHistory
from seriatim.model.scale import IntArray
from seriatim.promises.series.releases import releases_met_before, releases_of, releases_taken_apart


def hc_safety(judged: JudgedHistory, n: int, newest: bool = False) -> Finding:
    """Check that there is no usable historical correlation of a degree below n."""
    worst, n_groups, n_people = n, 0, 0
    for compared in _compared(judged, newest):
        unsafe = (compared.degree > 0) & (compared.degree < n)
        n_groups, n_people = n_groups + int(unsafe.sum()), n_people + int(compared.real[unsafe].sum())
        worst = int(compared.degree[unsafe].min(initial=worst))
    kept = n_groups == 0
    detail = "fewest people outside the common core of two groups"
    remedy = "" if kept else f"n = {worst} would pass"
    return Finding(
        "hc_safety",
        kept,
        float(worst) if not kept else float("inf"),
        float(n),
        n_classes=n_groups,
        n_people=n_people,
        detail=detail,
        remedy=remedy,
    )


def no_subtraction(judged: JudgedHistory, newest: bool = False) -> Finding:
    """Check that no group includes a smaller one of another release: the rest of it would be published too."""
    found = _compared(judged, newest)
    holes = sum(int(compared.hole.sum()) for compared in found)
    people = sum(int(compared.real[compared.hole].sum()) for compared in found)
    detail = "groups that are inside another one, or include one"
    return Finding("subtraction", holes == 0, float(holes), 0.0, n_classes=holes, n_people=people, detail=detail)


class _Compared(NamedTuple):
    """The groups of a release compared with earlier ones: real people, lowest degree (0: none), subtraction holes."""

    real: IntArray
    degree: IntArray
    hole: npt.NDArray[np.bool_]


def _compared(judged: JudgedHistory, newest: bool) -> list[_Compared]:
    """Return the releases a promise checks, each compared with all before it; made once for both promises."""
    return judged.once(_compare_newest if newest else _compare_all)


def _compare_newest(judged: JudgedHistory) -> list[_Compared]:
    return [_against_earlier(judged, at) for at in releases_of(judged, newest=True)]


def _compare_all(judged: JudgedHistory) -> list[_Compared]:
    return [_against_earlier(judged, at) for at in releases_of(judged, newest=False)]


def _against_earlier(judged: JudgedHistory, at: int) -> _Compared:
    releases = releases_taken_apart(judged)
    groups = releases[at]
    degree, hole = np.zeros(len(groups.sizes), dtype=np.int32), np.zeros(len(groups.sizes), dtype=np.bool_)
    for old, met in zip(releases[:at], releases_met_before(judged, at), strict=True):
        lowest, holes = correlated_groups(groups.starts, groups.counterfeits, met, old.sizes, old.counterfeits)
        degree = np.where((degree == 0) | ((lowest > 0) & (lowest < degree)), lowest, degree)
        hole |= holes
    return _Compared(groups.sizes - groups.counterfeits, degree, hole)
