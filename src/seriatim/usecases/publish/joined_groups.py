"""What groups of cohorts say: each read alone, and all of them joined by a reader who knows everyone's other columns.

What all groups together show about people who are alike is shown on purpose. So two figures are stated: how much a
group read alone raises the odds of a value, and how much one's own group adds to what all others show.
"""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from seriatim.kernels.arrays import Ints, Longs
from seriatim.model import CodedColumn, Draft, Measure, View
from seriatim.model.methods import METHODS
from seriatim.model.policy import Policy

COMMON = 0.05
"""A value that this share of the rows hold, or more, is common."""
BANDS = 50
"""A column with more values is joined in so many bands of neighbours."""
FEWEST = 4
"""Fewer groups say nothing about each other."""
ALMOST = 0.99
"""The share of people whose own group adds at most the figure stated."""


def joined_group_measures(view: View, draft: Draft, policy: Policy) -> tuple[Measure, ...]:
    """Return the odds in a group, and what one's own group adds to what all others show."""
    row = METHODS.get(policy.defence.method) if policy.defence is not None else None
    if row is None or "blind" not in row.marks or len(view.sensitive) != 1 or not draft.table.num_rows:
        return ()
    common = {"values": f"with {COMMON:.0%} of the rows or more"}
    odds = Measure("odds_in_group", _odds_in_group(draft), "times", common)
    group = pc.fill_null(draft.groups.column("group").slice(0, len(view)), -1).to_numpy()
    inside = np.flatnonzero(group >= 0).astype(np.int64)
    cell, value = np.unique(group[inside], return_inverse=True)[1].astype(np.int32), _common(view.sensitive[0], inside)
    if cell.max(initial=-1) + 1 < FEWEST or not value.any():
        return (odds,)
    from seriatim.reading.joined import cells_of_codes, joined, own_part

    codes = [_banded(column, inside) for column in view.quasi]
    cells = cells_of_codes(codes, [column.scale.form == "interval" for column in view.quasi], cell, value)
    own = float(np.quantile(own_part(cells, joined([cells]).ridge), ALMOST))
    return (odds, Measure("own_part", own, "times", {**common, "people": f"{ALMOST:.0%}"}))


def _odds_in_group(draft: Draft) -> float:
    """Return how much more likely a common value is in a group than in the table, as odds; the table shows it."""
    shown = next(iter(draft.sensitive.values()))
    _, group = np.unique(draft.table.column("group").to_numpy(), return_inverse=True)
    held = np.zeros((int(group.max()) + 1, len(shown.scale)))
    np.add.at(held, (group, shown.codes), 1)
    base, inside = held.sum(axis=0) / held.sum(), held / held.sum(axis=1, keepdims=True)
    common = (base >= COMMON) & (base < 1)
    with np.errstate(divide="ignore"):
        odds = inside[:, common] / (1 - inside[:, common]) / (base[common] / (1 - base[common]))
    return float(odds.max(initial=1.0))


def _common(column: CodedColumn, inside: Longs) -> Ints:
    """Return the number of each person's value among the common ones, from 1; all others are one value, 0."""
    codes = column.codes[inside]
    counts = np.bincount(codes, minlength=len(column.scale))
    number = np.zeros(len(counts), dtype=np.int32)
    often = np.flatnonzero(counts >= COMMON * len(codes))
    number[often] = 1 + np.arange(len(often))
    return number[codes]


def _banded(column: CodedColumn, inside: Longs) -> Ints:
    n, codes = len(column.scale), column.codes[inside].astype(np.int64)
    bands = codes if n <= BANDS else codes * BANDS // n
    return np.unique(bands, return_inverse=True)[1].astype(np.int32)
