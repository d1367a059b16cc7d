"""Caps of values, as promises compute them: from the shares stored with the rows, in whole numbers.

A value may have 1/m of whatever can be counted, or, with ``[promise] odds`` = c, c q / (1 + (c - 1) q) if that is
more, where q is its largest share so far. The second is rounded down to millionths.

The stored shares are judged too: they must be those of the history's tables, and never fall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model.history import JudgedHistory

LongArray = npt.NDArray[np.int64]
PARTS = 1_000_000
ENOUGH = 200
"""So many newcomers count by themselves, and so many others, if no fewer than newcomers."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueCaps:
    """The cap of every value: 1/m, or some millionths if that is more."""

    m: int
    millionths: LongArray
    """0 where the cap is 1/m."""

    @classmethod
    def of(cls, baseline: LongArray, m: int, odds: float | None) -> Self:
        """Return the caps for values with these shares, in millionths."""
        if odds is None:
            return cls(m, np.zeros_like(baseline))
        c = round(odds * PARTS)
        raised = np.array(
            [PARTS * c * q // (PARTS * PARTS + (c - PARTS) * q) for q in baseline.tolist()], dtype=np.int64
        )
        return cls(m, np.where(m * raised > PARTS, raised, 0))

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        return np.where(self.millionths > 0, self.millionths / PARTS, 1.0 / self.m)

    def limits(self, sizes: LongArray, strangers: int) -> LongArray:
        """Return how many of each value parts of these sizes may have; strangers: people of other values, at least."""
        n = sizes[:, None]
        by_share = np.where(self.millionths > 0, n * self.millionths // PARTS, n // self.m)
        return np.maximum(np.minimum(by_share, n - strangers), 0)


def largest_shares(value: LongArray, new: npt.NDArray[np.bool_], before: LongArray) -> LongArray:
    """Return the largest share of every value that may be stored, in millionths, rounded up.

    ``value`` has the code of everyone in the view, -1 for a value that was not published.
    """
    out = before.copy()
    entering, others = value[new], value[~new]
    parts = [(value, 1), (entering, ENOUGH), (others, max(ENOUGH, len(entering)))]
    for part, least in parts:
        if len(part) >= least:
            counts = np.bincount(part[part >= 0], minlength=len(before))
            out = np.maximum(out, -(-counts * PARTS // len(part)))
    return out


MARK = "baseline"


def newcomer_shares_judged(judged: JudgedHistory) -> tuple[LongArray, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the value of everyone in the draft's view (-1: never published), who is new, and who is withheld."""
    assert judged.draft is not None
    assert judged.view is not None
    rows = judged.draft.groups.slice(0, len(judged.view)).filter(pa.array(~judged.view.suppressed))
    if "lineage" in rows.column_names:  # people known by name have none, and no part in the shares
        rows = rows.filter(pc.not_equal(rows.column("lineage"), -1).fill_null(True))
    values = pc.cast(judged.history.values, pa.string())
    code = pc.index_in(pc.cast(rows.column(judged.column), pa.string()), value_set=values).fill_null(-1)
    earlier = [past.person[past.person >= 0] for past in judged.history.releases[:-1]]
    known = np.unique(np.concatenate(earlier)) if earlier else np.empty(0, dtype=np.int64)
    old = pc.cast(judged.history.respondents.take(pa.array(known)), pa.string())
    new = pc.invert(pc.is_in(pc.cast(rows.column("respondent"), pa.string()), value_set=old))
    hidden = pc.is_null(rows.column("group"))
    return (
        code.to_numpy().astype(np.int64),
        new.to_numpy(zero_copy_only=False).astype(np.bool_),
        hidden.to_numpy(zero_copy_only=False).astype(np.bool_),
    )


def stored_shares_too_large(judged: JudgedHistory, stored: LongArray) -> int:
    """Count the values whose stored share is larger than the draft's people and those before allow."""
    if judged.draft is None or judged.view is None or judged.column is None:
        return 0
    before = np.zeros_like(stored)
    for past in judged.history.releases[:-1]:
        if MARK in past.marks:
            np.maximum.at(before, past.value, past.marks[MARK])
    value, new, _ = newcomer_shares_judged(judged)
    return int((stored > largest_shares(value, new, before)).sum())
