"""Searches a small series for people whose values a new release would force to be equal, before it is released.

The checks of degree n look at pairs of groups and at unions of two releases; a chain over three releases passes them.
Here all releases are solved together, as an attacker would. A group of the new release that closes such a chain is left
out: its people are withheld this time. Large series are not solved, and say how many people were not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from seriatim.attacks.twin_sets import twins
from seriatim.defences.series.boxes import number_groups
from seriatim.defences.series.contract import LongArray, SerialGrouping, SerialView, WithheldReason
from seriatim.defences.series.memory import RememberedRows
from seriatim.model.history import History, PastRelease

SMALL = 20_000
"""Series with more rows than this, in all releases together, are not searched."""
ROUNDS = 60
"""Groups left out at most, one after the other."""
LEFT_OUT, UNJUDGED = "groups_left_out_for_chains", "people_whose_chains_were_not_judged"


def without_forced_equals(
    made: SerialGrouping, view: SerialView, pasts: Sequence[RememberedRows], m: int
) -> tuple[SerialGrouping, dict[str, int]]:
    """Return the grouping without groups that force people to be equal; count those, and people who were not judged."""
    n_rows = sum(len(past.person) for past in pasts) + int((made.group >= 0).sum())
    if n_rows > SMALL or not pasts:
        return made, {LEFT_OUT: 0, UNJUDGED: int((made.group >= 0).sum()) if pasts else 0}
    before = [set(held) for held in twins(_history(view, pasts))]
    unsafe: list[int] = []
    while len(unsafe) < ROUNDS and (link := _last_link(made, view, pasts, before, unsafe)) is not None:
        unsafe.append(link)
    if len(unsafe) == ROUNDS:  # too many chains: nobody who was published before is published now
        known = np.concatenate([past.person[past.person >= 0] for past in pasts])
        unsafe = np.unique(made.group[np.isin(view.person, known) & (made.group >= 0)]).tolist()
    if unsafe:
        made = _without_groups(made, np.array(unsafe), view, m)
    return made, {LEFT_OUT: len(unsafe), UNJUDGED: twins(_history(view, pasts, made)).undecided}


def _last_link(
    made: SerialGrouping, view: SerialView, pasts: Sequence[RememberedRows], before: list[set[int]], unsafe: list[int]
) -> int | None:
    """Return a group that closes a chain: the last of the fewest first ones that force somebody; None if none does."""

    def forced(n_first: int) -> bool:
        kept = np.setdiff1d(np.arange(n_first), unsafe)
        found = twins(_history(view, pasts, made, kept))
        return any(not any(held <= old for old in before) for held in found)

    low, high = 0, made.n_groups
    if not forced(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if forced(middle) else (middle, high)
    return high - 1


def _history(
    view: SerialView,
    pasts: Sequence[RememberedRows],
    made: SerialGrouping | None = None,
    kept: LongArray | None = None,
) -> History:
    """Return all releases; of the new one only the groups that are ``kept``, all of them if None."""
    releases = [
        PastRelease(number, person=np.asarray(past.person, dtype=np.int32), group=past.group, value=past.value)
        for number, past in enumerate(pasts, start=1)
    ]
    if made is not None:
        inside = np.flatnonzero(made.group >= 0)
        nobody = np.full(made.n_counterfeits, -1, dtype=np.int64)
        person = np.concatenate((view.person[inside], nobody)).astype(np.int32)
        group = np.concatenate((made.group[inside], made.counterfeit_group)).astype(np.int32)
        value = np.concatenate((view.sensitive[inside], made.counterfeit_value)).astype(np.int32)
        rows = np.ones(len(group), dtype=np.bool_) if kept is None else np.isin(group, kept)
        number = np.unique(group[rows], return_inverse=True)[1].astype(np.int32)
        releases.append(PastRelease(len(pasts) + 1, person=person[rows], group=number, value=value[rows]))
    n_people = max((int(one.person.max(initial=-1)) for one in releases), default=-1) + 1
    return History(pa.array(np.arange(n_people)), pa.array(np.arange(view.n_values)), tuple(releases))


def _without_groups(made: SerialGrouping, dropped: LongArray, view: SerialView, m: int) -> SerialGrouping:
    """Return the grouping without these groups; their people are withheld as unsafe."""
    kept = ~np.isin(np.arange(made.n_groups), dropped)
    number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    gone = (made.group >= 0) & ~kept[np.maximum(made.group, 0)]
    group = np.where(made.group >= 0, number[np.maximum(made.group, 0)], -1).astype(np.int32)
    fake = kept[made.counterfeit_group]
    return replace(
        made,
        group=group,
        withheld=np.where(gone, np.int8(WithheldReason.UNSAFE), made.withheld),
        n_groups=int(kept.sum()),
        counterfeit_group=number[made.counterfeit_group[fake]],
        counterfeit_value=made.counterfeit_value[fake],
        box=number_groups(view, group, view.place(), m),
    )
