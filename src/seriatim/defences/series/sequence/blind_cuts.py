"""Cuts that do not look at values: where a group ends then says nothing about the people in it.

The order is cut by k and by what is believed about people, which everyone may know. A group that breaks l or t is
joined with its neighbours along the order until they pass together; only that looks at values, and the verdict says how
often it was needed. A larger k makes it rare.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from seriatim.defences.series.sequence.leaks import leaks_values_pass
from seriatim.kernels.arrays import Floats, Longs
from seriatim.kernels.series.belief_segments import BeliefSegmentRules, SegmentRows

Cut = Callable[[SegmentRows, BeliefSegmentRules], Longs]


def blind_rules(rules: BeliefSegmentRules) -> BeliefSegmentRules:
    """Return the rules that need no values: k and j."""
    return rules._replace(l=1, t=1.0)


def blind_cut(cut: Cut) -> Cut:
    """Return a cut by k and j alone, with neighbours joined where l or t would be broken."""

    def cut_blindly(rows: SegmentRows, rules: BeliefSegmentRules) -> Longs:
        return _joined_until_they_pass(rows, rules, cut(rows, blind_rules(rules)))

    return cut_blindly


def blind_cuts_by_values(end: Longs, blind: Longs) -> float:
    """Return the share of groups that end where no cut blind to values would: their ends say something."""
    own = np.unique(end[end >= 0])
    return float((~np.isin(own, blind)).mean()) if len(own) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """What the test of a group needs, added up over its people; a row per group."""

    counts: Longs
    beliefs: Floats
    entropy: Floats

    def passes(self, rules: BeliefSegmentRules, first: int, last: int) -> bool:
        """Return whether the groups from ``first`` up to ``last`` keep l, t and j together."""
        counts = self.counts[first:last].sum(axis=0)
        size = int(counts.sum())
        share = self.beliefs[first:last].sum(axis=0) / max(size, 1)
        held = share[share > 0]
        apart = float(-(held * np.log(held)).sum() - self.entropy[first:last].sum() / max(size, 1))
        return leaks_values_pass(counts, rules) and apart <= rules.j


def _sums(rows: SegmentRows, group: Longs, placed: Longs, n_values: int) -> _Sums:
    n = int(group.max(initial=-1)) + 1
    counts, beliefs = np.zeros((n, n_values), dtype=np.int64), np.zeros((n, rows.beliefs.shape[1]))
    entropy = np.zeros(n)
    np.add.at(counts, (group, rows.value[placed]), 1)
    np.add.at(beliefs, group, rows.beliefs[placed].astype(np.float64))
    np.add.at(entropy, group, rows.entropy[placed].astype(np.float64))
    return _Sums(counts, beliefs, entropy)


def _joined_until_they_pass(rows: SegmentRows, rules: BeliefSegmentRules, end: Longs) -> Longs:
    """Join groups with those after them until they pass, and the last ones with those before; drop what never does."""
    placed = np.flatnonzero(end >= 0)
    ends, group = np.unique(end[placed], return_inverse=True)
    sums = _sums(rows, group, placed, len(rules.whole))
    bounds, first = [0], 0
    for last in range(1, len(ends) + 1):
        if sums.passes(rules, first, last):
            bounds.append(last)
            first = last
    while first < len(ends) and len(bounds) > 1:
        bounds.pop()
        if sums.passes(rules, bounds[-1], len(ends)):
            bounds.append(len(ends))
            first = len(ends)
    new = np.full(len(ends), -1, dtype=np.int64)
    for begin, stop in pairwise(bounds):
        new[begin:stop] = ends[stop - 1]
    found = np.full(len(end), -1, dtype=np.int64)
    found[placed] = new[group]
    return found
