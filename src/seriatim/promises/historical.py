"""No two groups of different releases have too much in common.

Historical correlations are those of Riboni and Bettini (Cor-Split, definitions 3 and 7), repaired: the common
core is the largest, identical groups are no correlation, a counterfeit counts in a group and never in the core,
one side must be free of counterfeits, and the smaller of the two groups gives the degree. Their figure 6 looks
at the new group's size only.
"""

from __future__ import annotations

from seriatim.kernels.check.series import correlated
from seriatim.model import Finding, History
from seriatim.promises.releases import judged, taken_apart


def hc_safety(history: History, n: int, newest: bool = False) -> Finding:
    """No usable historical correlation of a degree below n."""
    worst, n_groups, n_people, _, _ = _compared(history, n, newest)
    kept = n_groups == 0
    detail = "people outside the common core of two groups, at the least"
    remedy = "" if kept else f"n = {int(worst)} would pass"
    return Finding("hc_safety", kept, float(worst) if not kept else float("inf"), float(n), None, n_groups, n_people,
                   detail, remedy)  # fmt: skip


def no_subtraction(history: History, newest: bool = False) -> Finding:
    """No group holds all of a smaller one of another release: the rest of it would be published too."""
    _, _, _, holes, people = _compared(history, 1, newest)
    detail = "groups that lie whole inside another one, or hold one whole"
    return Finding("subtraction", holes == 0, float(holes), 0.0, None, holes, people, detail)


def _compared(history: History, n: int, newest: bool) -> tuple[int, int, int, int, int]:
    """Lowest degree, groups and people below n, groups and people with a hole."""
    releases = taken_apart(history)
    worst, found = 0, [0, 0, 0, 0]
    for at in judged(history, newest):
        groups = releases[at]
        real = groups.sizes - groups.fakes
        unsafe, hole = real < 0, real < 0
        for old in releases[:at]:
            lowest, holes = correlated(
                groups.starts, groups.rows, groups.past.person, old.group_of, old.sizes, old.fakes, n
            )
            unsafe, hole = unsafe | (lowest > 0), hole | holes
            low = int(lowest[lowest > 0].min(initial=n))
            worst = min(worst or low, low)
        for place, flags in ((0, unsafe), (2, hole)):
            found[place] += int(flags.sum())
            found[place + 1] += int(real[flags].sum())
    return worst, found[0], found[1], found[2], found[3]
