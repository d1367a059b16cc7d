"""Caps: how large a share of any part a value may have, also for values that are more frequent than one m-th.

Without ``[promise] odds`` no value may exceed 1/m. With it, a value whose share of the table is q may have
c q / (1 + (c - 1) q) of a part: its odds grow at most c-fold. The share q of every value is the largest seen so far: in
a table, among 200 newcomers or more, or among the others of a table if they are its larger half. It only grows, so
nothing published earlier becomes unfair. It is kept in whole millionths with the rows of each release, and everything
here counts in whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from seriatim.defences.series.contract import BoolArray, LongArray, SerialView
from seriatim.errors import Fault, TableError

MILLION = 10**6
ENOUGH_PEOPLE = 200
"""Fewer newcomers say too little about the values of those to come, and fewer others about those who stay."""
COMMON = 50_000
"""A value with this share, in millionths, is common: in a cell its odds stay near those in the table."""
SAYS_NOTHING = 970_000
"""A value with a larger share, in millionths: hardly anybody differs, so the column says nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Caps:
    """Value v may have ``num[v] / den[v]`` of a part."""

    num: LongArray
    den: LongArray
    baseline: LongArray
    """The share q of every value, in millionths."""

    @classmethod
    def of(cls, baseline: LongArray, m: int, odds: float | None) -> Self:
        """Return the caps of values with these shares; without ``odds`` every cap is 1/m."""
        if odds is None:
            return cls(np.ones_like(baseline), np.full_like(baseline, m), baseline)
        grown = round(odds * MILLION)
        raised = MILLION * grown * baseline // (MILLION**2 + (grown - MILLION) * baseline)
        above = raised * m > MILLION
        return cls(np.where(above, raised, 1), np.where(above, MILLION, m), baseline)

    def limit(self, size: int | LongArray, strangers: int = 0) -> LongArray:
        """Return how many of each value a part of a size may have, with so many people of other values at least.

        Several sizes return a row for each.
        """
        whole = np.asarray(size, dtype=np.int64)[..., None]
        return np.asarray(np.maximum(np.minimum(whole * self.num // self.den, whole - strangers), 0))

    def fair(self, counts: LongArray, strangers: int = 0) -> BoolArray:
        """Return whether no value exceeds its limit; counts by value, or a row of them for each part."""
        return np.asarray((counts <= self.limit(counts.sum(axis=-1), strangers)).all(axis=-1))

    def kept(self, counts: LongArray, strangers: int) -> LongArray:
        """Return the largest fair part of some people, by value."""
        kept, size = counts, -1
        while size != kept.sum():
            size = int(kept.sum())
            kept = np.minimum(counts, self.limit(size, strangers))
        return kept

    @classmethod
    def of_cells(cls, baseline: LongArray, m: int, odds: float | None) -> Self:
        """Return the caps of the cells that newcomers are dealt into: the odds of a common value grow at most so.

        A rare value may have 1/m there, as anywhere.
        """
        if odds is None:
            return cls.of(baseline, m, None)
        grown = round(odds * MILLION)
        raised = MILLION * grown * baseline // (MILLION**2 + (grown - MILLION) * baseline)
        common = baseline >= COMMON
        return cls(np.where(common, raised, 1), np.where(common, MILLION, m), baseline)


def largest_shares(view: SerialView, before: LongArray, newcomers: BoolArray) -> LongArray:
    """Return the largest share of every value so far, this view and its newcomers included, in millionths.

    So are those who were there before, if they are half of it: where leaving depends on the value, those who stay are
    no longer like the table. Half of it can have at most twice a share of the whole. Raise an error if nearly everyone
    has the same value.
    """
    out = np.zeros(view.n_values, dtype=np.int64)
    out[: len(before)] = before
    parts = [view.sensitive]
    if newcomers.sum() >= ENOUGH_PEOPLE:
        parts.append(view.sensitive[newcomers])
    if len(view) - newcomers.sum() >= max(ENOUGH_PEOPLE, newcomers.sum()):
        parts.append(view.sensitive[~newcomers])
    for values in parts:
        out = np.maximum(out, rounded_shares(np.bincount(values, minlength=view.n_values)))
    most = np.bincount(view.sensitive, minlength=1).max() / max(len(view), 1)
    if most * MILLION > SAYS_NOTHING:
        found, allowed = f"one value has {most:.1%}", f"at most {SAYS_NOTHING / MILLION:.0%}"
        raise TableError(Fault("sensitive column", found, allowed, "the column carries no information; drop it"))
    return out


def rounded_shares(counts: LongArray) -> LongArray:
    """Return the share of every value in millionths, rounded up."""
    return np.asarray(-(-counts.astype(np.int64) * MILLION // max(int(counts.sum()), 1)))
