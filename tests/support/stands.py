"""Little histories that say who stood in which slot of which cohort."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from seriatim.defences.series.memory import RememberedRows
from seriatim.model.history import History, PastRelease

Stand = tuple[int, int, int, int]
"""person (-1: a counterfeit), lineage, place, value; the group is the lineage"""


def claimed(*releases: Sequence[Stand]) -> History:
    """A history of stands; people and values are their numbers."""
    pasts = []
    for number, stands in enumerate(releases, 1):
        person, lineage, slot, value = np.array(stands, dtype=np.int64).reshape(-1, 4).T
        _, group = np.unique(lineage, return_inverse=True)
        marks = {"lineage": lineage.copy(), "slot": slot.copy()}
        pasts.append(
            PastRelease(
                number,
                person=person.astype(np.int32),
                group=group.astype(np.int32),
                value=value.astype(np.int32),
                marks=marks,
            )
        )
    return _history(pasts)


def remembered(releases: Sequence[RememberedRows]) -> History:
    """What a defence left, as the ledger recalls it."""
    pasts = []
    for number, past in enumerate(releases, 1):
        assert past.lineage is not None
        assert past.slot is not None
        marks = {"lineage": past.lineage, "slot": past.slot}
        if past.baseline is not None:
            marks["baseline"] = past.baseline
        pasts.append(
            PastRelease(number, person=past.person.astype(np.int32), group=past.group, value=past.value, marks=marks)
        )
    return _history(pasts)


def _history(pasts: list[PastRelease]) -> History:
    n_people, n_values = (
        1 + max((int(getattr(past, name).max(initial=-1)) for past in pasts), default=-1)
        for name in ("person", "value")
    )
    return History(pa.array(np.arange(n_people)), pa.array(np.arange(n_values)), tuple(pasts))
