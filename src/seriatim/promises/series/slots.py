"""Lasting slots: what else a lineage must keep so that the chains of its people's values cannot be followed.

A lineage is a set of slots, each with one value for good. The history says which slot everyone held. That is a claim,
followed from the first release on: the promise holds for the slots, or the claim is refuted. It was learnt from attacks
on series that kept 1/m everywhere; see :func:`lasting_places`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.slots import (
    ADDED,
    APART,
    DROPPED,
    FIRST_SHOWN,
    LAST_SHOWN,
    MADE,
    ODD,
    REFILLED,
    SINCE,
    THIN,
    UNFAIR,
    VALUE,
    SlotDemand,
    SlotRows,
    SlotsShown,
    count_slots,
    take_slots,
)
from seriatim.model import Finding
from seriatim.model.judged import JudgedHistory
from seriatim.promises.series.releases import ReleaseGroups, releases_of, releases_taken_apart
from seriatim.promises.series.value_caps import ValueCaps

SHARED = 3
SPARE = 2
RULE = "lasting_places"
MIXED = UNFAIR + 1
"""What is counted beside the columns of :func:`count_slots`."""


class SlotsAsked(NamedTuple):
    """What is asked of slots: m, the caps of common values if they have any, and the strangers in what is dropped."""

    m: int
    caps: ValueCaps | None = None
    strangers: int = 0


def lasting_places(judged: JudgedHistory, m: int, newest: bool = False) -> Finding:
    """Check how the slots of people who left are refilled or dropped, where no value may have more than 1/m."""
    return lasting_slots(judged, SlotsAsked(m), newest)


def lasting_slots(judged: JudgedHistory, asked: SlotsAsked, newest: bool = False) -> Finding:
    """Check how the slots of people who left are refilled or dropped, lineage by lineage.

    - A slot is refilled only if three slots have held its value since the lineage started: the only holders of a value
      follow each other, and two who are known reveal the one between them.
    - At least 2m slots are refilled at once, and at least m + 2 are dropped at once: anyone who knows m - 1 members of
      a batch of m solves it.
    - People whose slots are dropped together came together, or hold three or more values for each time at which some
      of them came: someone who came alone stands out once the others are known.
    - At least 2m slots are added to a lineage at once. Among those dropped, and among those left of the ones added
      together, no value exceeds its cap; of those added later, m + 2 or none are left: all can be counted.
    - Newcomers and people who return are never added to a lineage together: they differ in the values that they can
      hold. Returning people are added only with values that founders hold three times, and those of them who were first
      published in the same release hold three or more.
    - Slots last: each has one value and one lineage, and none comes back.
    """
    bare = sum(not {"lineage", "slot"} <= past.marks.keys() for past in judged.history.releases)
    if bare:
        detail = f"{bare} releases do not say who held which slot, so nothing can be checked"
        return Finding(RULE, False, float(bare), 0.0, n_classes=bare, n_people=0, detail=detail)
    m = asked.m
    broken, n_people = np.zeros(8, dtype=np.int64), 0
    n_groups = 0
    for groups, counts in _followed(judged, asked, newest):
        wrong = np.column_stack(
            (
                counts[:, THIN] > 0,
                (counts[:, REFILLED] > 0) & (counts[:, REFILLED] < 2 * m),
                counts[:, APART] > 0,
                (counts[:, DROPPED] > 0) & (counts[:, DROPPED] < m + SPARE),
                counts[:, ODD] > 0,
                (counts[:, ADDED] > 0) & (counts[:, ADDED] < 2 * m),
                counts[:, UNFAIR] > 0,
                counts[:, MIXED] > 0,
            )
        )
        broken += wrong.sum(axis=0)
        n_groups += int(wrong.any(axis=1).sum())
        n_people += int((groups.sizes - groups.counterfeits)[wrong.any(axis=1)].sum())
    names = ("with a rare value refilled", "refilled by too few", "that drop people who came at different times",
             "that drop too few", "whose slots do not last", "joined by too few",
             "with an unfair part", "that people who return joined beside others")  # fmt: skip
    detail = "groups " + ", ".join(f"{n} {name}" for n, name in zip(broken, names, strict=True))
    return Finding(RULE, n_groups == 0, float(n_groups), 0.0, n_classes=n_groups, n_people=n_people, detail=detail)


def _followed(
    judged: JudgedHistory, wanted: SlotsAsked, newest: bool
) -> Iterator[tuple[ReleaseGroups, npt.NDArray[np.int64]]]:
    """Yield every release, or only the newest, and what is counted for its groups."""
    n_slots, n_lineages = (_one_more(judged, name) for name in ("slot", "lineage"))
    slots, seen = np.full((n_slots, 6), -1, dtype=np.int32), np.full((n_lineages, 2), -1, dtype=np.int32)
    shown = SlotsShown(slots, np.full(len(judged.history.respondents), -1, dtype=np.int32), seen)
    n_values = max(len(judged.history.values), 1)
    millionths = np.zeros(n_values, dtype=np.int64) if wanted.caps is None else wanted.caps.millionths
    limits = SlotDemand(n_values, SHARED, wanted.m, SPARE, millionths, wanted.strangers)
    before = np.empty(0, dtype=np.int64)
    first = _first_releases(judged)
    asked = releases_of(judged, newest)
    for release, groups in enumerate(releases_taken_apart(judged)):
        past = groups.past
        lineage, slot = (np.ascontiguousarray(past.marks[name], dtype=np.int64) for name in ("lineage", "slot"))
        rows = SlotRows(groups.starts, groups.rows, past.person, past.value, lineage, slot)
        mixed = _mixed(groups, rows, shown, np.where(first < release, first, -1)) if release in asked else None
        found = take_slots(release, rows, shown)
        if mixed is not None:
            yield groups, np.column_stack((count_slots(release, rows, found, before, shown, limits), mixed))
        before = slot


def _first_releases(judged: JudgedHistory) -> npt.NDArray[np.int64]:
    """Return the place of the release in which everyone was first published; -1 for someone who never was."""
    first = np.full(len(judged.history.respondents) + 1, -1, dtype=np.int64)
    for release, past in reversed(list(enumerate(judged.history.releases))):
        first[past.person] = release  # counterfeits, who are person -1, write into the place behind everyone
    return first[:-1]


def _mixed(
    groups: ReleaseGroups, rows: SlotRows, shown: SlotsShown, first: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Count in each group what is wrong with returning people who are added to a lineage.

    ``shown`` and ``first``, when everyone was first published, are as they were before this release.
    """
    out = np.zeros(groups.past.n_groups, dtype=np.int64)
    added = (shown.slots[rows.slot, SINCE] < 0) & (shown.seen[rows.lineage, LAST_SHOWN] >= 0) & (rows.person >= 0)
    back = added.copy()
    back[added] = first[rows.person[added]] >= 0
    if not back.any():
        return out
    group = groups.past.group.astype(np.int64)
    out[np.intersect1d(group[back], group[added & ~back])] += 1
    held = np.unique(np.column_stack((group[back], first[rows.person[back]], rows.value[back])), axis=0)
    times, n_values = np.unique(held[:, :2], axis=0, return_counts=True)
    np.add.at(out, times[n_values < SHARED, 0], 1)
    made = shown.slots[rows.slot, MADE]  # -1 for a slot that was not shown before
    founded = (made >= 0) & (made == shown.seen[rows.lineage, FIRST_SHOWN])
    n_all = int(rows.value.max()) + int(shown.slots[:, VALUE].max()) + 2
    old = np.bincount(group[founded] * n_all + shown.slots[rows.slot[founded], VALUE], minlength=len(out) * n_all)
    np.add.at(out, group[back], old[group[back] * n_all + rows.value[back]] < SHARED)
    return out


def _one_more(judged: JudgedHistory, name: str) -> int:
    return 1 + max((int(past.marks[name].max(initial=-1)) for past in judged.history.releases), default=-1)
