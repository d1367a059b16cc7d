"""No two groups, nor unions of groups, of different releases have too much in common.

Historical correlations are those of Riboni and Bettini (Cor-Split, definitions 3 and 7), repaired: the common core is
the largest, identical groups are no correlation, a counterfeit counts in a group and never in the core, one side must
be free of counterfeits, and the smaller of the two groups sets the degree. Their figure 6 considers only the new
group's size.

Unions: take some groups of two releases together. People in an old group but not in a new one hold, all together, the
same values as those in a new group but not in an old one: a historical correlation that no two single groups show. Its
degree is half the number of people whose removal separates the groups from all others, so it is below n exactly when
that smallest cut is below 2n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, PolicyError
from seriatim.model import Adversary, Finding, Policy
from seriatim.model.history import JudgedHistory
from seriatim.model.methods import method_named
from seriatim.model.scale import IntArray
from seriatim.promises.series.kept_over_time import KeptOverTime, kept_over_time
from seriatim.promises.series.releases import ReleaseGroups, met_in_earlier, numbers_to_check, taken_apart
from seriatim_papers.degree import breach_probability, chosen_degree
from seriatim_papers.kernels.union_cuts import fewest_separating, group_graph, lowest_correlations, unions_to_cut


def rules_for_n(policy: Policy) -> list[KeptOverTime]:
    """Return what ``n`` stands for; a method that seeks a degree is judged at 1 without ``n``."""
    m, row = policy.terms.series.m, method_named(policy.defence.method) if policy.defence else None
    n = None if m is None else _degree(m, policy.terms.series.n, policy.adversary)
    if n is None and m is not None and row is not None and row.seeks_n:
        n = 1
    if n is None:
        return []
    return [
        kept_over_time(policy, "hc_safety", lambda judged: hc_safety(judged, n, newest=True)),
        kept_over_time(policy, "union_safety", lambda judged: union_safety(judged, n, newest=True)),
        kept_over_time(policy, "subtraction", lambda judged: no_subtraction(judged, newest=True)),
    ]


def closed_form(policy: Policy) -> list[ClosedForm]:
    """Return the bound ``breach``; its formula needs a degree."""
    known, m, n = policy.adversary, policy.terms.series.m, policy.terms.series.degree
    if known.breach is None or known.lifespan is None or m is None or n is None:
        return []
    return [ClosedForm(allowed=known.breach, compromised=known.share_known, lifespan=known.lifespan, m=m, n=n)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm:
    """The closed-form breach probability of n-Choose is at most ``allowed``."""

    allowed: float
    compromised: float
    lifespan: int
    m: int
    n: int
    rule: str = "breach"
    column: None = None
    judges: ClassVar[Literal["series"]] = "series"

    def check(self, judged: JudgedHistory) -> Finding:  # noqa: ARG002 - the formula looks at no release
        chance = breach_probability(self.compromised, self.lifespan, self.m, self.n)
        kept = chance.total <= self.allowed
        return Finding(
            self.rule,
            kept,
            chance.total,
            self.allowed,
            detail="closed-form chance that one person is breached over a lifespan, with every conclusion drawn once",
            remedy="" if kept else 'n = "choose", a larger m or a shorter lifespan',
        )


def _degree(m: int, n: int | str | None, adversary: Adversary) -> int | None:
    """Return the degree; ``"choose"`` means the smallest that keeps ``[adversary] breach``."""
    if n is None:
        return None
    if n == "choose":
        return chosen_degree(m, adversary)
    if not isinstance(n, int) or not 1 <= n <= m:
        raise PolicyError(Fault("[promise] n", "not a degree", f"a whole number from 1 to m = {m}"))
    return n


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
    return [_against_earlier(judged, at) for at in numbers_to_check(judged, newest=True)]


def _compare_all(judged: JudgedHistory) -> list[_Compared]:
    return [_against_earlier(judged, at) for at in numbers_to_check(judged, newest=False)]


def _against_earlier(judged: JudgedHistory, at: int) -> _Compared:
    releases = taken_apart(judged)
    groups = releases[at]
    degree, hole = np.zeros(len(groups.sizes), dtype=np.int32), np.zeros(len(groups.sizes), dtype=np.bool_)
    for old, met in zip(releases[:at], met_in_earlier(judged, at), strict=True):
        lowest, holes = lowest_correlations(groups.starts, groups.counterfeits, met, old.sizes, old.counterfeits)
        degree = np.where((degree == 0) | ((lowest > 0) & (lowest < degree)), lowest, degree)
        hole |= holes
    return _Compared(groups.sizes - groups.counterfeits, degree, hole)


def union_safety(judged: JudgedHistory, n: int, newest: bool = False) -> Finding:
    """Check that no union of groups can be separated by fewer than 2n people."""
    releases = taken_apart(judged)
    worst, n_groups, n_people = float("inf"), 0, 0
    for at in numbers_to_check(judged, newest):
        groups = releases[at]
        unsafe = groups.sizes < 0
        for old, met in zip(releases[:at], met_in_earlier(judged, at), strict=True):
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
    graph = group_graph(met[both], of_row, len(old.sizes), len(sizes), out)
    lowest[asked] = fewest_separating(graph, sizes, 2 * n, asked + np.int32(len(old.sizes)))
    return lowest


__all__ = ["ClosedForm", "chosen_degree", "closed_form", "hc_safety", "no_subtraction", "rules_for_n", "union_safety"]
