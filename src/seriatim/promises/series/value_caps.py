"""Caps of values, as promises compute them: from the shares stored with the rows, in whole numbers.

A value may have 1/m of whatever can be counted, or, with ``[promise] odds`` = c, c q / (1 + (c - 1) q) if that is
more, where q is its largest share so far. The second is rounded down to millionths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

LongArray = npt.NDArray[np.int64]
PARTS = 1_000_000
ENOUGH = 200
"""Newcomers whose values count by themselves."""


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


def value_caps_baseline(value: LongArray, new: npt.NDArray[np.bool_], before: LongArray) -> LongArray:
    """Return the largest share of every value that may be stored, in millionths, rounded up.

    ``value`` has the code of everyone in the view, -1 for a value that was not published.
    """
    out = before.copy()
    for part in (value, value[new] if new.sum() >= ENOUGH else value[:0]):
        if len(part):
            counts = np.bincount(part[part >= 0], minlength=len(before))
            out = np.maximum(out, -(-counts * PARTS // len(part)))
    return out
