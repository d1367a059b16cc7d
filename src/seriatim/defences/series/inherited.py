"""What a method inherits when it takes over a series: the values that releases of another method leave possible.

People with one value left are known. They are in groups of their own, so that they protect nobody else, and those who
never saw the earlier releases learn no more about them than about anyone. Of the others, everyone must keep m values
among those of their group that are still possible for them, or as many as they have left. Where a newcomer would keep
fewer, they swap slots with another newcomer of the same value: no group notices that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seriatim.defences.series.contract import BoolArray, LongArray, PlaceArray
from seriatim.model.scale import IntArray

if TYPE_CHECKING:
    from seriatim.defences.series.contract import SerialView

TRIES = 4
"""How often a release is made again without the newcomers whom no group can take."""


@dataclass(frozen=True, slots=True, eq=False)
class ValuesLeft:
    """The values left to every record of a view, and who is known."""

    of_record: IntArray
    possible: BoolArray
    """possible[set, value]"""
    known_people: BoolArray
    """By number of the person in the series, present or not."""

    def known(self, person: LongArray) -> BoolArray:
        """Return which of these people are known; nobody has the number -1."""
        out = np.zeros(len(person), dtype=np.bool_)
        there = (person >= 0) & (person < len(self.known_people))
        out[there] = self.known_people[person[there]]
        return out

    def wanted(self, m: int) -> LongArray:
        """Return how many values must stay possible for each record."""
        return np.asarray(np.minimum(self.possible.sum(axis=1), m)[self.of_record], dtype=np.int64)


def known_records(view: SerialView) -> BoolArray:
    """Return which records are of people whom earlier releases have told."""
    if view.inherited is None:
        return np.zeros(len(view), dtype=np.bool_)
    return view.inherited.known(view.person)


class SlotsHeld(NamedTuple):
    """Who holds which slot while a release is being made; entries are slots."""

    group: LongArray
    """Numbers of groups, 0 .. n_groups - 1."""
    value: IntArray | LongArray
    record: IntArray | LongArray
    """The record in each slot; -1 for a counterfeit."""

    def values_shown(self, n_values: int) -> BoolArray:
        """Return which values each group shows: group by value."""
        shown = np.zeros((int(self.group.max(initial=-1)) + 1, n_values), dtype=np.bool_)
        shown[self.group, self.value] = True
        return shown


def short_records(view: SerialView, standing: SlotsHeld, m: int) -> LongArray:
    """Return the records in slots that would keep fewer possible values in their group than they must."""
    assert view.inherited is not None
    shown, real = standing.values_shown(view.n_values), np.flatnonzero(standing.record >= 0)
    record = standing.record[real].astype(np.int64)
    left = (view.inherited.possible[view.inherited.of_record[record]] & shown[standing.group[real]]).sum(axis=1)
    return np.asarray(record[left < view.inherited.wanted(m)[record]])


@dataclass(slots=True, eq=False)
class NewcomerSwaps:
    """Newcomers of a release who may swap slots with each other."""

    view: SerialView
    m: int
    place: PlaceArray
    standing: SlotsHeld
    movable: BoolArray
    """By record: newcomers of this release, whether they have a slot or wait."""

    def settle(self) -> LongArray:
        """Swap the slots of newcomers who would keep too few values; return those whom no slot suits.

        Slots keep their values, so no group shows anything else than before.
        """
        short = short_records(self.view, self.standing, self.m)
        slot_of = np.full(len(self.view), -1, dtype=np.int64)
        real = np.flatnonzero(self.standing.record >= 0)
        slot_of[self.standing.record[real]] = real
        shown = self.standing.values_shown(self.view.n_values)
        return np.array([one for one in short.tolist() if not self._moved(one, slot_of, shown)], dtype=np.int64)

    def _moved(self, record: int, slot_of: LongArray, shown: BoolArray) -> bool:
        """Exchange a record with the nearest newcomer of its value whom both places suit; say whether there is one."""
        inherited, view = self.view.inherited, self.view
        assert inherited is not None
        if not self.movable[record]:
            return True  # they came earlier; nothing is taken from them here
        known = known_records(view)
        same = self.movable & (view.sensitive == view.sensitive[record]) & (known == known[record])
        same[record] = False
        others = np.flatnonzero(same)
        wanted, sets = inherited.wanted(self.m), inherited.possible[inherited.of_record]
        group = self.standing.group[slot_of[record]]
        fits_here = (sets[others] & shown[group]).sum(axis=1) >= wanted[others]
        there = np.where(slot_of[others] >= 0, self.standing.group[slot_of[others]], -1)
        fits_there = (there < 0) | ((sets[record] & shown[there]).sum(axis=1) >= wanted[record])
        # to change places within a group helps neither of them
        others = others[fits_here & fits_there & (there != group)]
        if not len(others):
            return False
        # those who wait come last: exchanged with one of them, the record itself would wait
        far = (slot_of[others] < 0) * 1e6 + np.abs(self.place[others] - self.place[record]).sum(axis=1)
        other = int(others[far.argmin()])
        self._swap(record, other, slot_of)
        return True

    def _swap(self, one: int, other: int, slot_of: LongArray) -> None:
        first, second = slot_of[one], slot_of[other]
        self.standing.record[first] = other
        if second >= 0:
            self.standing.record[second] = one
        slot_of[one], slot_of[other] = second, first


def groups_to_keep(view: SerialView, standing: SlotsHeld, gone: BoolArray, m: int) -> BoolArray:
    """Return which groups must keep all their slots: without those ``gone``, somebody would keep too few values."""
    out = np.zeros(int(standing.group.max(initial=-1)) + 1, dtype=np.bool_)
    if view.inherited is None or not gone.any():
        return out
    # who has too few values anyway keeps no group for that
    before = np.isin(np.arange(len(view)), short_records(view, standing, m))
    short = short_records(view, SlotsHeld(standing.group[~gone], standing.value[~gone], standing.record[~gone]), m)
    short = short[~before[short]]
    group_of = np.full(len(view), -1, dtype=np.int64)
    group_of[standing.record[standing.record >= 0]] = standing.group[standing.record >= 0]
    out[group_of[short]] = True
    return out
