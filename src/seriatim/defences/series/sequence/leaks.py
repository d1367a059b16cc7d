"""What the method itself reveals: where groups end, and who is dropped. Measured for every release.

The method is public. A group longer than k tells the reader that its first k people failed l or t, which hints at the
last value. Ends that only k and j decide use public facts and reveal nothing. Being dropped reveals something too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.kernels.arrays import Longs
from seriatim.kernels.series.belief_segments import BeliefSegmentRules, SegmentRows

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


def leaks_of_segments(rows: SegmentRows, rules: BeliefSegmentRules, end: Longs) -> Leaks:
    """Measure both leaks of greedy segments, the first on up to ``MOST`` of them.

    ``end`` is the end of the segment of each position, -1 for dropped people.
    """
    n_values, placed = len(rules.whole), np.flatnonzero(end >= 0)
    ends, at = np.unique(end[placed], return_index=True)
    ends, starts = ends[:MOST], placed[at][:MOST].tolist()
    before, after = [], []
    for first, last in zip(starts, ends.tolist(), strict=True):
        if last - first <= rules.k:
            continue
        counts = np.bincount(rows.value[first:last], minlength=n_values)
        held = np.flatnonzero(counts)
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


def _fails(counts: Longs, last: int, rules: BeliefSegmentRules) -> bool:
    """Return whether a group without one person of this value would break l or t."""
    less = counts.copy()
    less[last] -= 1
    return not leaks_values_pass(less, rules)


def leaks_values_pass(counts: Longs, rules: BeliefSegmentRules) -> bool:
    """Return whether a group with these counts of values keeps l and t."""
    size, n = int(counts.sum()), int(rules.whole.sum())
    if (counts > 0).sum() < rules.l:
        return False
    off = counts * n - rules.whole * size
    if rules.ordered:
        return bool(np.abs(np.cumsum(off)).sum() <= rules.t * max(len(counts) - 1, 1) * n * size)
    return bool(np.abs(off).sum() <= 2 * rules.t * n * size)
