"""Continues a series as it is published now: by the method of its policy, or in groups like those of its last release.

Methods that look at each release alone are imitated: people are split at medians of their made-up quasi-identifiers
while both halves keep the size and the number of values of the smallest and least varied group so far.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.model import PastRelease

Numbers = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class SeriesNow:
    """How a series is published now."""

    method: str | None = None
    """The method of its policy; None if its releases were imported."""
    m: int | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class LatestGroups:
    """What the groups of the last release had in common."""

    people: int
    values: int


def latest_groups(past: PastRelease) -> LatestGroups:
    """Return the size of the smallest group of a release, and the fewest values that a group has."""
    if not len(past.group):
        return LatestGroups(1, 1)
    pairs = np.unique(np.stack((past.group, past.value)), axis=1)
    sizes, values = np.bincount(past.group), np.bincount(pairs[0])
    return LatestGroups(int(sizes[sizes > 0].min()), int(values[values > 0].min()))


def split_at_medians(points: Numbers, value: Numbers, least: LatestGroups) -> npt.NDArray[np.int32]:
    """Return the group of each person: halves at medians, column by column, while both are large enough."""
    group = np.empty(len(value), dtype=np.int32)
    todo, made = [(np.arange(len(value)), 0)], 0
    while todo:
        people, axis = todo.pop()
        halves = _halves(people, points, value, axis, least)
        if halves is None:
            group[people] = made
            made += 1
        else:
            todo += [(half, axis + 1) for half in halves]
    return group


def _halves(
    people: npt.NDArray[np.int64], points: Numbers, value: Numbers, axis: int, least: LatestGroups
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Return two halves that are both large and varied enough, by the first column that has them; None if none has."""
    for turn in range(points.shape[1]):
        order = people[np.argsort(points[people, (axis + turn) % points.shape[1]], kind="stable")]
        halves = order[: len(order) // 2], order[len(order) // 2 :]
        if all(len(half) >= least.people and len(np.unique(value[half])) >= least.values for half in halves):
            return halves
    return None
