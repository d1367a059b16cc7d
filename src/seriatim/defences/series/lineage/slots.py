"""The slots of a series: the lineages after the last release, and the one slot each person may ever hold.

It is built only from the rows that the ledger keeps (person, value, lineage, slot; person -1 for a counterfeit).
``lineage`` and ``slot`` are lasting numbers; neither is ever published.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self, TypeVar

import numpy as np

from seriatim.defences.series.contract import LongArray
from seriatim.defences.series.memory import RememberedRows
from seriatim.errors import Fault, PolicyError
from seriatim.kernels.series.memory import MemoryHeldSlots, MemoryOwnSlots, MemorySlotRows, take_into_memory
from seriatim.model.scale import IntArray


class LastSlots(NamedTuple):
    """The slots of the last release."""

    slot: LongArray
    lineage: LongArray
    value: IntArray
    holder: LongArray
    """The person in each slot; -1 for a counterfeit."""


class SlotMemory:
    """The slots of all releases; :meth:`remember` adds a release."""

    def __init__(self) -> None:
        self.n_releases = 0
        self.slot = np.empty(0, dtype=np.int64)
        """The slot a person holds or held last; -1 for someone not yet published."""
        self.value = np.empty(0, dtype=np.int32)
        self.publications = np.empty(0, dtype=np.int32)
        self.first = np.empty(0, dtype=np.int64)
        """The release in which a person was first published."""
        self.lineage_of_slot = np.empty(0, dtype=np.int64)
        """The lineage of every slot there ever was."""
        self.last_holder = np.empty(0, dtype=np.int64)
        """The last real person in each slot; -1 if it always held a counterfeit."""
        self.since = np.empty(0, dtype=np.int64)
        """The release in which the last real person took each slot; for a counterfeit the one that started its lineage.
        """
        self.made = np.empty(0, dtype=np.int64)
        """How many releases after the start of its lineage each slot was added."""
        self.baseline = np.empty(0, dtype=np.int64)
        """The largest share of each value so far, in millionths; empty without caps."""
        self._founded = np.empty(0, dtype=np.int64)
        self.n_lineages = 0
        self._last: RememberedRows | None = None

    @classmethod
    def of(cls, pasts: Iterable[RememberedRows]) -> Self:
        """Remember all of these releases, oldest first."""
        memory, pasts = cls(), list(pasts)
        memory._make_room(max((int(past.person.max(initial=-1)) + 1 for past in pasts), default=0), 0)
        for past in pasts:
            memory.remember(past)
        return memory

    @property
    def n_slots(self) -> int:
        return len(self.lineage_of_slot)

    def look_up(self, column: LongArray | IntArray, person: LongArray, missing: int) -> LongArray:
        """Return each person's entry, or ``missing`` for people without one."""
        out = np.full(len(person), missing, dtype=np.int64)
        inside = person < len(column)
        out[inside] = column[person[inside]]
        return out

    def remember(self, past: RememberedRows) -> None:
        """Add one release, the next in order."""
        if past.lineage is None or past.slot is None:
            raise PolicyError(_published_otherwise(self.n_releases + 1))
        self._make_room(int(past.person.max(initial=-1)) + 1, int(past.slot.max(initial=-1)) + 1)
        take_into_memory(
            self.n_releases,
            MemorySlotRows(np.asarray(past.person, dtype=np.int64), past.value, past.lineage, past.slot),
            MemoryOwnSlots(self.slot, self.value, self.publications, self.first),
            MemoryHeldSlots(self.lineage_of_slot, self.last_holder, self.since),
        )
        self.n_lineages = max(self.n_lineages, int(past.lineage.max(initial=-1)) + 1)
        self._founded = _longer(self._founded, self.n_lineages, self.n_releases)
        added = self.lineage_of_slot[len(self.made) :]
        self.made = np.concatenate((self.made, self.n_releases - self._founded[added]))
        if past.baseline is not None:
            self.baseline = _longer(self.baseline, int(past.value.max(initial=-1)) + 1, 0)
            np.maximum.at(self.baseline, past.value, past.baseline)
        self._last = past
        self.n_releases += 1

    def last_slots(self) -> LastSlots:
        """Return the slots of the last release, lineage by lineage."""
        past = self._last
        if past is None or past.lineage is None or past.slot is None:
            none = np.empty(0, dtype=np.int64)
            return LastSlots(none, none, np.empty(0, dtype=np.int32), none)
        order = np.lexsort((past.slot, past.lineage))
        return LastSlots(past.slot[order], past.lineage[order], past.value[order], past.person[order].astype(np.int64))

    def _make_room(self, n_people: int, n_slots: int) -> None:
        self.slot = _longer(self.slot, n_people, -1)
        self.value = _longer(self.value, n_people, -1)
        self.publications = _longer(self.publications, n_people, 0)
        self.first = _longer(self.first, n_people, -1)
        self.lineage_of_slot = _longer(self.lineage_of_slot, n_slots, -1)
        self.last_holder = _longer(self.last_holder, n_slots, -1)
        self.since = _longer(self.since, n_slots, -1)


def _published_otherwise(release: int) -> Fault:
    """Return the fault that lineages cannot continue a series of another method.

    Its people were in groups that crossed each other, and a lineage that starts with them would cross those again.
    Nothing that the lineage keeps from then on undoes what follows from both.
    """
    return Fault(
        "[defence] method",
        f"lineage, but release {release} was published by another method",
        "lineage from release 1",
        "keep the method, or start a new series under another name; attack the old series first if people are in both, "
        "since someone who keeps its releases can join the two",
    )


Column = TypeVar("Column", LongArray, IntArray)


def _longer(column: Column, n: int, missing: int) -> Column:
    """Return the column with at least ``n`` entries."""
    if n <= len(column):
        return column
    return np.concatenate((column, np.full(n - len(column), missing, dtype=column.dtype)))
