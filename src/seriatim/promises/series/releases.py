"""The releases of a history by group, for promises: sizes, values and counterfeits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.classes import rows_by_class
from seriatim.kernels.check.groups import group_value_sets, met_before, value_profiles
from seriatim.model import PastRelease
from seriatim.model.history import JudgedHistory
from seriatim.model.scale import IntArray


@dataclass(frozen=True, repr=False, eq=False)
class ReleaseGroups:
    """One release, by group."""

    past: PastRelease
    n_people: int
    salt: npt.NDArray[np.uint64]

    @cached_property
    def _by_group(self) -> tuple[npt.NDArray[np.int64], IntArray]:
        starts, rows = rows_by_class(self.past.group, self.past.n_groups)
        return starts, rows

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        return self._by_group[0]

    @property
    def rows(self) -> IntArray:
        return self._by_group[1]

    @cached_property
    def sizes(self) -> IntArray:
        """Return the rows per group, counterfeits included."""
        return np.bincount(self.past.group, minlength=self.past.n_groups).astype(np.int32)

    @cached_property
    def counterfeits(self) -> IntArray:
        return np.bincount(self.past.group[self.past.person < 0], minlength=self.past.n_groups).astype(np.int32)

    @cached_property
    def described(self) -> tuple[IntArray, IntArray, IntArray, npt.NDArray[np.uint64]]:
        """Return distinct values, counts of the rarest and most frequent, and a number for the set of values."""
        distinct, fewest, most, key = value_profiles(self.starts, self.rows, self.past.value, self.salt)
        return distinct, fewest, most, key

    @cached_property
    def value_sets(self) -> npt.NDArray[np.uint64]:
        """Return a number for each group's set of values; bits if they are few, which need no order of the rows."""
        if len(self.salt) > 64:
            return self.described[3]
        sets: npt.NDArray[np.uint64] = group_value_sets(self.past.group, self.past.value, self.past.n_groups)
        return sets

    @cached_property
    def group_of(self) -> IntArray:
        """Return everyone's group in this release, -1 for none."""
        where = np.full(self.n_people, -1, dtype=np.int32)
        real = self.past.person >= 0
        where[self.past.person[real]] = self.past.group[real]
        return where


def taken_apart(judged: JudgedHistory) -> list[ReleaseGroups]:
    """Return every release by group; equal sets of values have equal numbers in all (but for a chance of 2^-64)."""
    return judged.once(_taken_apart)


def _taken_apart(judged: JudgedHistory) -> list[ReleaseGroups]:
    history = judged.history
    salt = np.random.default_rng(20070611).integers(1, 1 << 63, size=max(len(history.values), 1), dtype=np.uint64)
    return [ReleaseGroups(past, len(history.respondents), salt) for past in history.releases]


def met_in_earlier(judged: JudgedHistory, at: int) -> list[IntArray]:
    """Return for each earlier release the group of every row in it, group by group of this one; -1 for none.

    Made once for all promises about the newest release. A person with several rows here has the same earlier group in
    each.
    """
    return judged.once(_met_by_newest) if at == len(judged.history) - 1 else _met(taken_apart(judged), at)


def _met_by_newest(judged: JudgedHistory) -> list[IntArray]:
    return _met(taken_apart(judged), len(judged.history) - 1)


def _met(releases: list[ReleaseGroups], at: int) -> list[IntArray]:
    groups = releases[at]
    person = groups.past.person[groups.rows]
    real = np.flatnonzero(person >= 0)
    own = np.full(groups.n_people, -1, dtype=np.int32)
    own[person[real]] = real
    met = [met_before(own, len(person), old.past.person, old.past.group) for old in releases[:at]]
    if (own[person[real]] == real).all():
        return met
    place = np.where(person >= 0, own[person], np.arange(len(person)))
    return [one[place] for one in met]


def numbers_to_check(judged: JudgedHistory, newest: bool) -> range:
    """Return the releases a promise checks: the newest against all before it, or each against those before."""
    n = len(judged.history)
    return range(max(0, n - 1) if newest else 0, n)
