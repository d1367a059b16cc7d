"""An adversary who knows that a counterfeit stands for someone who left.

Methods that keep a leaver's value as a counterfeit (cohorts) are weakest against an adversary who can tell
which leavers keep their slot. Such a counterfeit then is that person.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from seriatim.model.history import History, PastRelease


def reveal_leavers(history: History) -> History:
    """Return the same history with every counterfeit that can be a leaver replaced by that person.

    A counterfeit can be anyone who was last seen in a group with the people of this one, is absent and holds that
    value. Of several people, the one who left first takes the slot, and goes when there are fewer slots. A history that
    says who held which slot is read by that: a counterfeit is the last person who held its slot. So is the end of a
    history that another method began: its own releases stay as they are.
    """
    marked = [True, *("slot" in past.marks for past in history)]
    if history.releases and marked[-1]:
        first = len(marked) - 1 - marked[::-1].index(False) if False in marked else 0
        own = _reveal_by_slots(replace(history, releases=history.releases[first:]))
        return replace(history, releases=(*history.releases[:first], *own.releases))
    absent: dict[tuple[int, int], deque[int]] = defaultdict(deque)
    component = _components(history)
    held = np.full(len(history.respondents), -1, dtype=np.int64)
    present = np.zeros(len(history.respondents), dtype=np.bool_)
    releases = []
    for past in history.releases:
        here = np.zeros_like(present)
        here[past.person[past.person >= 0]] = True
        for who in np.flatnonzero(present & ~here).tolist():
            absent[int(component[who]), int(held[who])].append(who)
        held[past.person[past.person >= 0]] = past.value[past.person >= 0]
        releases.append(_with_leavers(past, component, absent, here))
        present = here
    return History(history.respondents, history.values, tuple(releases))


def _reveal_by_slots(history: History) -> History:
    """Return the history with every counterfeit replaced by the last holder of its slot.

    Anyone who is in the release themselves, in another slot, is left out; so is all but the latest of their old slots.
    """
    n = 2 + max(int(past.marks["slot"].max(initial=-1)) for past in history)  # the last is for people without a slot
    holder, left = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    releases = []
    for at, past in enumerate(history):
        slot, real = past.marks["slot"], past.person >= 0
        holder[slot[real]], left[slot[real]] = past.person[real], at
        person = past.person.copy()
        rows = np.flatnonzero(~real & (holder[slot] >= 0))
        rows = rows[~np.isin(holder[slot[rows]], past.person[real])]
        rows = rows[np.argsort(-left[slot[rows]], kind="stable")]
        _, first = np.unique(holder[slot[rows]], return_index=True)
        person[rows[first]] = holder[slot[rows[first]]]
        releases.append(
            PastRelease(
                past.number, person=person, group=past.group, value=past.value, marks=past.marks, withheld=past.withheld
            )
        )
    return History(history.respondents, history.values, tuple(releases))


def _components(history: History) -> npt.NDArray[np.int64]:
    """Number the components of people whom groups connect over all releases."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n, first, rows, cols = len(history.respondents), 0, [], []
    for past in history.releases:
        real = past.person >= 0
        rows.append(past.person[real].astype(np.int64))
        cols.append(past.group[real].astype(np.int64) + n + first)
        first += past.n_groups
    at, to = (np.concatenate(part) if part else np.empty(0, dtype=np.int64) for part in (rows, cols))
    links = coo_matrix((np.ones(len(at), dtype=np.int8), (at, to)), shape=(n + first, n + first))
    label: npt.NDArray[np.int64] = connected_components(links, directed=False)[1][:n].astype(np.int64)
    return label


def _with_leavers(
    past: PastRelease,
    component: npt.NDArray[np.int64],
    absent: dict[tuple[int, int], deque[int]],
    here: npt.NDArray[np.bool_],
) -> PastRelease:
    component_of_group = np.full(past.n_groups, -1, dtype=np.int64)
    real = past.person >= 0
    component_of_group[past.group[real]] = component[past.person[real]]
    person = past.person.copy()
    counterfeits = np.flatnonzero(~real)
    slots: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row in counterfeits.tolist():
        slots[int(component_of_group[past.group[row]]), int(past.value[row])].append(row)
    for key, queue in absent.items():
        rows = slots.get(key, [])
        back = [who for who in queue if not here[who]]
        queue.clear()
        queue.extend(back[max(0, len(back) - len(rows)) :])
        for row, who in zip(rows, queue, strict=False):
            person[row] = who
    return PastRelease(
        past.number, person=person, group=past.group, value=past.value, marks=past.marks, withheld=past.withheld
    )
