"""The rows of a release, as the ledger keeps them and as a method that looks back remembers them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np

from seriatim.defences.series.contract import LongArray, SerialGrouping, SerialView
from seriatim.model import PastRelease
from seriatim.model.scale import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RememberedRows:
    """The rows of one release as the ledger keeps them; person is -1 for a counterfeit."""

    person: LongArray | IntArray
    _: KW_ONLY
    group: IntArray
    value: IntArray
    lineage: LongArray | None = None
    slot: LongArray | None = None
    """Cohorts: lasting numbers of the group and of the slot in it."""
    baseline: LongArray | None = None
    """The share of each row's value from which its cap followed, in millionths."""

    @classmethod
    def of(cls, past: PastRelease) -> Self:
        """Return the rows of a release in a history."""
        marks = past.marks
        return cls(
            past.person,
            group=past.group,
            value=past.value,
            lineage=marks.get("lineage"),
            slot=marks.get("slot"),
            baseline=marks.get("baseline"),
        )

    @property
    def n_groups(self) -> int:
        return int(self.group.max()) + 1 if len(self.group) else 0


def kept_rows(view: SerialView, made: SerialGrouping) -> RememberedRows:
    """Return the rows that a ledger keeps of a release."""
    real = np.flatnonzero(made.group >= 0)
    group = np.concatenate((made.group[real], made.counterfeit_group)).astype(np.int32)
    person = np.concatenate((view.person[real], np.full(made.n_counterfeits, -1, dtype=np.int64)))
    value = np.concatenate((view.sensitive[real], made.counterfeit_value)).astype(np.int32)
    if made.slots is None:
        return RememberedRows(person, group=group, value=value)
    slot = np.concatenate((made.slots.slot_of_record[real], made.slots.slot_of_counterfeit))
    baseline = None if made.slots.baseline is None else made.slots.baseline[value]
    return RememberedRows(
        person, group=group, value=value, lineage=made.slots.cohort_of_group[group], slot=slot, baseline=baseline
    )
