"""Weighs the tables of two sensitive columns together, as someone does who knows how the columns go together.

Each column has a table of its own, and its promises hold for that table. Where values of one column go with values of
another (a drug with its disease), a person's group in the one table says something about their value in the other. The
attacker knows everyone's group in both tables, and the true share of every pair of values: more than anyone can. Their
belief about a person is the share of each value in the person's group, times how often it goes with the values of the
other group: P(a) ~ s(a) * sum over b of t(b) p(a, b) / (p(a) p(b)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.model import Estimate
from seriatim.model.scale import IntArray

ATTACK = "columns together"
_BATCH = 100_000
_ROUNDING = 1e-9
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnGroups:
    """One sensitive column of a release: everyone's group and value, and what each group shows."""

    group: IntArray
    """The group of each person, -1 for someone withheld; people are the same in all columns."""
    value: IntArray
    shown: Floats
    """shown[group, value]: rows of the published group with this value, counterfeits included."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnsTogether:
    """Beliefs in the true value of everyone who is in both tables."""

    alone: Floats
    """By the column's own table."""
    both: Floats
    """By both tables."""


def beliefs_by_both(own: ColumnGroups, beside: ColumnGroups) -> ColumnsTogether:
    """Return what is believed of each person's own value, by one table and by both."""
    people = np.flatnonzero((own.group >= 0) & (beside.group >= 0))
    if not len(people):
        return ColumnsTogether(np.zeros(0), np.zeros(0))
    shares = own.shown / np.maximum(own.shown.sum(axis=1, keepdims=True), 1)
    others = beside.shown / np.maximum(beside.shown.sum(axis=1, keepdims=True), 1)
    fits = others @ _lift(own, beside, people).T
    alone, both = np.empty(len(people)), np.empty(len(people))
    for first in range(0, len(people), _BATCH):
        here = people[first : first + _BATCH]
        part = slice(first, first + len(here))
        weight = shares[own.group[here]] * fits[beside.group[here]]
        truth = np.arange(len(here)), own.value[here]
        alone[part] = shares[own.group[here], own.value[here]]
        both[part] = weight[truth] / np.maximum(weight.sum(axis=1), np.finfo(np.float64).tiny)
    return ColumnsTogether(alone, both)


def _lift(own: ColumnGroups, beside: ColumnGroups, people: npt.NDArray[np.int64]) -> Floats:
    """Return lift[value, other value]: how much more often the two go together than by chance."""
    joint = np.zeros((own.shown.shape[1], beside.shown.shape[1]))
    np.add.at(joint, (own.value[people], beside.value[people]), 1.0)
    by_chance = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True) / len(people)
    lift: Floats = np.divide(joint, by_chance, out=np.zeros_like(joint), where=by_chance > 0)
    return lift


def columns_together(own: ColumnGroups, beside: ColumnGroups, name: str, sure: float) -> Estimate:
    """Return the share of people whose value is believed right above ``sure`` by both tables, and not by one."""
    found = beliefs_by_both(own, beside)
    n = len(found.both)
    certain = int(((found.both > sure) & (found.alone <= sure)).sum())
    share = certain / n if n else 0.0
    detail = {
        "beside": name,
        "sure": sure,
        "people": certain,
        "one_value_left": int(((found.both > 1 - _ROUNDING) & (found.alone <= 1 - _ROUNDING)).sum()),
        "mean_belief_alone": float(found.alone.mean()) if n else 0.0,
        "mean_belief": float(found.both.mean()) if n else 0.0,
        "largest_belief": float(found.both.max(initial=0.0)),
    }
    return Estimate(ATTACK, share, share, share, n_people=n, detail=detail)
