"""Homes: the lineages as the last release left them, and the one place that each person may ever hold.

Made from the rows that the ledger keeps (person, value, lineage, slot; person -1 for a counterfeit) and from
nothing else. ``lineage`` and ``slot`` are lasting numbers; neither is ever published.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self, TypeVar

import numpy as np

from seriatim.defences.series.contract import LongArray
from seriatim.defences.series.memory import Published
from seriatim.errors import Fault, PolicyError
from seriatim.kernels.series.memory import HeldSlots, OwnSlots, SlotRows, take_in
from seriatim.model.scale import IntArray


class OpenSlots(NamedTuple):
    """Slots that were published last."""

    slot: LongArray
    lineage: LongArray
    value: IntArray
    holder: LongArray
    """Who stood there; -1 for a counterfeit."""


class Homes:
    """Grows by :meth:`remember`, release after release."""

    def __init__(self) -> None:
        self.n_releases = 0
        self.slot = np.empty(0, dtype=np.int64)
        """The slot a person holds or held last; -1 for nobody published yet."""
        self.value = np.empty(0, dtype=np.int32)
        self.publications = np.empty(0, dtype=np.int32)
        self.lineage_of_slot = np.empty(0, dtype=np.int64)
        """For every slot there ever was."""
        self.last_holder = np.empty(0, dtype=np.int64)
        """The last real person in each slot; -1 if it was always a counterfeit."""
        self.since = np.empty(0, dtype=np.int64)
        """The release in which the last real person took each slot; the founding release for a counterfeit."""
        self.made = np.empty(0, dtype=np.int64)
        """How many releases after its lineage's founding each slot was added."""
        self._founded = np.empty(0, dtype=np.int64)
        self.n_lineages = 0
        self._last: Published | None = None

    @classmethod
    def of(cls, pasts: Iterable[Published]) -> Self:
        """All of these releases, the oldest first."""
        homes = cls()
        for past in pasts:
            homes.remember(past)
        return homes

    @property
    def n_slots(self) -> int:
        return len(self.lineage_of_slot)

    def look_up(self, column: LongArray | IntArray, person: LongArray, missing: int) -> LongArray:
        """A person's entry, or ``missing`` for people without one."""
        out = np.full(len(person), missing, dtype=np.int64)
        inside = person < len(column)
        out[inside] = column[person[inside]]
        return out

    def remember(self, past: Published) -> None:
        """Add one release, the next in order."""
        if past.lineage is None or past.slot is None:
            raise PolicyError(_published_otherwise(self.n_releases + 1))
        self._make_room(int(past.person.max(initial=-1)) + 1, int(past.slot.max(initial=-1)) + 1)
        take_in(
            self.n_releases,
            SlotRows(np.asarray(past.person, dtype=np.int64), past.value, past.lineage, past.slot),
            OwnSlots(self.slot, self.value, self.publications),
            HeldSlots(self.lineage_of_slot, self.last_holder, self.since),
        )
        self.n_lineages = max(self.n_lineages, int(past.lineage.max(initial=-1)) + 1)
        self._founded = _longer(self._founded, self.n_lineages, self.n_releases)
        added = self.lineage_of_slot[len(self.made) :]
        self.made = np.concatenate((self.made, self.n_releases - self._founded[added]))
        self._last = past
        self.n_releases += 1

    def open_slots(self) -> OpenSlots:
        """The slots of the last release, lineage after lineage."""
        past = self._last
        if past is None or past.lineage is None or past.slot is None:
            none = np.empty(0, dtype=np.int64)
            return OpenSlots(none, none, np.empty(0, dtype=np.int32), none)
        order = np.lexsort((past.slot, past.lineage))
        return OpenSlots(past.slot[order], past.lineage[order], past.value[order], past.person[order].astype(np.int64))

    def _make_room(self, n_people: int, n_slots: int) -> None:
        self.slot = _longer(self.slot, n_people, -1)
        self.value = _longer(self.value, n_people, -1)
        self.publications = _longer(self.publications, n_people, 0)
        self.lineage_of_slot = _longer(self.lineage_of_slot, n_slots, -1)
        self.last_holder = _longer(self.last_holder, n_slots, -1)
        self.since = _longer(self.since, n_slots, -1)


def _published_otherwise(release: int) -> Fault:
    """Lineages cannot take over a series. Its people already stood in groups that crossed each other; a lineage founded
    on them would cross those once more, and nothing that it keeps from then on undoes what follows from both."""
    return Fault(
        "policy: defence.method",
        f"lineage, but release {release} of the series was published by another method",
        "a series published by lineage from its first release on",
        "keep the method of the series, or begin another series under a new name; that one is safe in itself only: for "
        "people who are in both, attack the old series first, since whoever keeps its releases can join the two",
    )


Column = TypeVar("Column", LongArray, IntArray)


def _longer(column: Column, n: int, missing: int) -> Column:
    return np.concatenate((column, np.full(max(n - len(column), 0), missing, dtype=column.dtype)))
