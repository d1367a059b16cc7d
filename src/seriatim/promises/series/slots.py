"""Lasting slots: what else a lineage must keep so that the chains of its people's values cannot be followed.

A lineage is a set of slots, each with one value for good. The history says which slot everyone held. That is a claim,
followed from the first release on: the promise holds for the slots, or the claim is refuted. It was learnt from attacks
on series that kept 1/m everywhere; see :func:`lasting_places`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.slots import (
    ADDED,
    APART,
    DROPPED,
    ODD,
    REFILLED,
    THIN,
    UNFAIR,
    Asked,
    Shown,
    SlotRows,
    count_places,
    take_places,
)
from seriatim.model import Finding
from seriatim.model.judged import Judged
from seriatim.promises.series.releases import Groups, releases_of, taken_apart

SHARED = 3
SPARE = 2
RULE = "lasting_places"


def lasting_places(judged: Judged, m: int, newest: bool = False) -> Finding:
    """Groups of a lineage in which the places of people who left were passed on or given up unsafely.

    - A place is passed on only where its value is held three times since the lineage was founded: a value's lone
      holders follow each other, and between two who are known stands the one in the middle.
    - Places are passed on 2m or more at once, and given up m + 2 or more at once: m would fall to who knows m - 1.
    - People whose places are given up together came together, or hold three values or more for each time at which
      some of them came: whoever is alone of their time is told from the others once these are known.
    - Places are added to a lineage 2m or more at once. In those given up, and in what is there of those added
      together, no value has more than 1/m, and m + 2 of those added later are left, or none: all can be counted.
    - Places last: each has one value and one lineage, and none comes back.
    """
    bare = sum(not {"lineage", "slot"} <= past.marks.keys() for past in judged.history.releases)
    if bare:
        detail = f"{bare} releases do not say who stood in which place, so nothing can be shown"
        return Finding(RULE, False, float(bare), 0.0, None, bare, 0, detail)
    broken, n_people = np.zeros(7, dtype=np.int64), 0
    n_groups = 0
    for groups, counts in _followed(judged, m, newest):
        wrong = np.column_stack(
            (
                counts[:, THIN] > 0,
                (counts[:, REFILLED] > 0) & (counts[:, REFILLED] < 2 * m),
                counts[:, APART] > 0,
                (counts[:, DROPPED] > 0) & (counts[:, DROPPED] < m + SPARE),
                counts[:, ODD] > 0,
                (counts[:, ADDED] > 0) & (counts[:, ADDED] < 2 * m),
                counts[:, UNFAIR] > 0,
            )
        )
        broken += wrong.sum(axis=0)
        n_groups += int(wrong.any(axis=1).sum())
        n_people += int((groups.sizes - groups.counterfeits)[wrong.any(axis=1)].sum())
    names = ("with a rare value refilled", "refilled by too few", "that drop people who came apart",
             "that drop too few", "whose places do not last", "joined by too few",
             "with an unfair part")  # fmt: skip
    detail = "groups " + ", ".join(f"{n} {name}" for n, name in zip(broken, names, strict=True))
    return Finding(RULE, n_groups == 0, float(n_groups), 0.0, None, n_groups, n_people, detail)


def _followed(judged: Judged, m: int, newest: bool) -> Iterator[tuple[Groups, npt.NDArray[np.int64]]]:
    """Yield every release, or only the newest, and what is counted for its groups."""
    n_places, n_lineages = (_one_more(judged, name) for name in ("slot", "lineage"))
    places, seen = np.full((n_places, 6), -1, dtype=np.int32), np.full((n_lineages, 2), -1, dtype=np.int32)
    shown = Shown(places, np.full(len(judged.history.respondents), -1, dtype=np.int32), seen)
    limits = Asked(max(len(judged.history.values), 1), SHARED, m, SPARE)
    before = np.empty(0, dtype=np.int64)
    asked = releases_of(judged, newest)
    for release, groups in enumerate(taken_apart(judged)):
        past = groups.past
        lineage, slot = (np.ascontiguousarray(past.marks[name], dtype=np.int64) for name in ("lineage", "slot"))
        rows = SlotRows(groups.starts, groups.rows, past.person, past.value, lineage, slot)
        found = take_places(release, rows, shown)
        if release in asked:
            yield groups, count_places(release, rows, found, before, shown, limits)
        before = slot


def _one_more(judged: Judged, name: str) -> int:
    return 1 + max((int(past.marks[name].max(initial=-1)) for past in judged.history.releases), default=-1)
