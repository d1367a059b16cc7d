"""Cuts that do not look at values: where a group ends then says nothing about the people in it.

The order is cut by k and by what is believed about people, which everyone may know. A group that breaks l or t is
joined with its neighbours along the order until they pass together; only that looks at values, and the verdict says how
often it was needed. A larger k makes it rare.

What the method itself reveals is measured for every release: where groups end, and who is dropped. The method is
public. A group longer than k tells the reader that its first k people failed l or t, which hints at the last value.
Ends that only k and j decide use public facts and reveal nothing. Being dropped reveals something too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from seriatim.kernels.arrays import Floats, Longs
from seriatim.kernels.series.belief_segments import SegmentRows, SegmentRules

MOST = 2_000
"""Groups that are looked at."""


@dataclass(frozen=True, slots=True)
class Leaks:
    """Counts and means; no values."""

    exposed: float
    """Share of groups whose end depended on their values."""
    before: float
    after: float
    """Mean belief in the value of the last person there: by the counts, and by knowing where the group ended."""
    n_dropped: int
    dropped_apart: float
    """How far the values of dropped people are from the others' (total variation)."""


def leaks_of_segments(rows: SegmentRows, rules: SegmentRules, end: Longs) -> Leaks:
    """Measure both leaks of greedy segments, the first on up to ``MOST`` of them.

    ``end`` is the end of the segment of each position, -1 for dropped people.
    """
    n_values, placed = len(rules.whole), np.flatnonzero(end >= 0)
    ends, at = np.unique(end[placed], return_index=True)
    ends, starts = ends[:MOST], placed[at][:MOST].tolist()
    before, after = [], []
    for first, last in zip(starts, ends.tolist(), strict=True):
        if last - first <= rules.k:
            continue  # it ends as soon as k people are together, whatever their values
        counts = np.bincount(rows.value[first:last], minlength=n_values)
        held = np.flatnonzero(counts)
        # the group did not end one person earlier, so the last one has a value without which it would have failed
        fails = np.array([_fails(counts, value, rules) for value in held.tolist()])
        if fails.any() and not fails.all():
            share = counts[held] / counts.sum()
            left = share * fails / (share * fails).sum()
            before.append(float((share * left).sum()))
            after.append(float((left * left).sum()))
    dropped = np.bincount(rows.value[end < 0], minlength=n_values)
    kept = np.bincount(rows.value[end >= 0], minlength=n_values)
    apart = 0.0
    if dropped.sum() and kept.sum():
        apart = float(np.abs(dropped / dropped.sum() - kept / kept.sum()).sum() / 2)
    mean = (float(np.mean(before)), float(np.mean(after))) if before else (0.0, 0.0)
    return Leaks(len(before) / max(len(ends), 1), *mean, int(dropped.sum()), apart)


def leak_notes(found: Leaks) -> list[str]:
    """Say what the leaks amount to, where there are any."""
    notes = []
    if found.exposed:
        notes.append(
            f"cut points: {found.exposed:.0%} of groups end where they do because of sensitive values; belief "
            f"in the last person there rises from {found.before:.2f} to {found.after:.2f} for an attacker who reruns it"
        )
    if found.n_dropped:
        notes.append(
            f"{found.n_dropped} people were dropped; the distribution of their values differs from the others' by "
            f"{found.dropped_apart:.2f}, so being missing says something about their values"
        )
    return notes


def _fails(counts: Longs, last: int, rules: SegmentRules) -> bool:
    """Return whether a group without one person of this value would break l or t."""
    less = counts.copy()
    less[last] -= 1
    return not leaks_values_pass(less, rules)


def leaks_values_pass(counts: Longs, rules: SegmentRules) -> bool:
    """Return whether a group with these counts of values keeps l and t."""
    size, n = int(counts.sum()), int(rules.whole.sum())
    if (counts > 0).sum() < rules.l:
        return False
    off = counts * n - rules.whole * size  # in whole numbers, so that nothing is rounded at the bound
    if rules.ordered:
        return bool(np.abs(np.cumsum(off)).sum() <= rules.t * max(len(counts) - 1, 1) * n * size)
    return bool(np.abs(off).sum() <= 2 * rules.t * n * size)


Cut = Callable[[SegmentRows, SegmentRules], Longs]


def without_values(rules: SegmentRules) -> SegmentRules:
    """Return the rules that need no values: k and j."""
    return rules._replace(l=1, t=1.0)


def joined_ends(cut: Cut) -> Cut:
    """Return a cut by k and j alone, with neighbours joined where l or t would be broken."""

    def cut_blindly(rows: SegmentRows, rules: SegmentRules) -> Longs:
        return _joined_until_they_pass(rows, rules, cut(rows, without_values(rules)))

    return cut_blindly


def share_led_by_values(end: Longs, blind: Longs) -> float:
    """Return the share of groups that end where no cut blind to values would: their ends say something."""
    own = np.unique(end[end >= 0])
    return float((~np.isin(own, blind)).mean()) if len(own) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """What the test of a group needs, added up over its people; a row per group."""

    counts: Longs
    beliefs: Floats
    entropy: Floats

    def passes(self, rules: SegmentRules, first: int, last: int) -> bool:
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


def _joined_until_they_pass(rows: SegmentRows, rules: SegmentRules, end: Longs) -> Longs:
    """Join groups with those after them until they pass, and the last ones with those before; drop what never does."""
    placed = np.flatnonzero(end >= 0)
    ends, group = np.unique(end[placed], return_inverse=True)
    sums = _sums(rows, group, placed, len(rules.whole))
    bounds, first = [0], 0
    for last in range(1, len(ends) + 1):
        if sums.passes(rules, first, last):
            bounds.append(last)
            first = last
    # the last ones pass in no group of their own: they join one group before them after another
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
