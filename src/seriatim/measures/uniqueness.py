"""Special uniques: records singled out by a few columns.

A minimal sample unique is a set of columns on which a record is unique, while it is not on any subset. The fewer
columns it takes, the more a record is at risk: after SUDA (Elliot and Manning), each minimal set of size s out of M
columns scores (M - s)!. Factorials of many columns are too large for a number, so scores are logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from seriatim.model.classes import LongArray, numbered_alike
from seriatim.model.scale import FloatArray, IntArray

Bits = npt.NDArray[np.uint8]
MOST_SETS = 60_000


@dataclass(frozen=True, slots=True, eq=False)
class SpecialUniques:
    """Figures per record, over minimal unique sets up to the size searched."""

    n_sets: LongArray
    smallest: LongArray
    """Columns in the smallest set; 0 if none was found."""
    log_score: FloatArray
    """The logarithm of the score; minus infinity if no set was found."""
    up_to: int
    """The size of the largest sets searched."""
    by_column: LongArray
    """Number of minimal sets each column takes part in: which column to generalise first."""

    @property
    def score(self) -> FloatArray:
        """Return SUDA's score; infinite if a float cannot hold it, so compare by ``log_score``."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.log_score))

    @property
    def n_records(self) -> int:
        return int((self.n_sets > 0).sum())


def find_special_uniques(columns: Sequence[IntArray], sizes: Sequence[int], up_to: int = 3) -> SpecialUniques:
    """Search all sets of at most ``up_to`` columns, or of fewer if there would be too many sets.

    Of the sets of one size, only whom they single out is kept, a bit per record, until the next size is done.
    """
    n, m = len(columns[0]) if columns else 0, len(columns)
    up_to = _uniqueness_size_searched(m, up_to)
    per_size, by_column = np.zeros((up_to, n), dtype=np.int32), np.zeros(m, dtype=np.int64)
    before: dict[tuple[int, ...], Bits] = {}
    for size in range(1, up_to + 1):
        unique: dict[tuple[int, ...], Bits] = {}
        for chosen in combinations(range(m), size):
            classes = numbered_alike([columns[i] for i in chosen], [sizes[i] for i in chosen], n)
            alone = np.packbits((classes.sizes == 1)[classes.of_record])
            if size < up_to:
                unique[chosen] = alone
            minimal = alone & ~_covered(before, chosen, len(alone))
            rows = np.flatnonzero(np.unpackbits(minimal, count=n))
            per_size[size - 1, rows] += 1
            by_column[list(chosen)] += len(rows)
        before = unique
    smallest = np.where(per_size.any(axis=0), (per_size > 0).argmax(axis=0) + 1, 0) if up_to else np.zeros(n)
    n_sets = per_size.sum(axis=0, dtype=np.int64)
    return SpecialUniques(n_sets, smallest.astype(np.int64), _log_scores(per_size, m), up_to, by_column)


def _uniqueness_size_searched(n_columns: int, up_to: int) -> int:
    """Return the largest size, up to ``up_to``, whose sets are few enough to be counted one by one."""
    found = 0
    for size in range(1, min(up_to, n_columns) + 1):
        if sum(math.comb(n_columns, s) for s in range(1, size + 1)) > MOST_SETS:
            break
        found = size
    return found


def _covered(before: dict[tuple[int, ...], Bits], chosen: tuple[int, ...], n_bytes: int) -> Bits:
    covered = np.zeros(n_bytes, dtype=np.uint8)
    for part in combinations(chosen, len(chosen) - 1):
        if part in before:
            covered |= before[part]
    return covered


def _log_scores(per_size: npt.NDArray[np.int32], n_columns: int) -> FloatArray:
    """Return the logarithm of the sum of (M - s)! over a record's minimal sets, added up from the largest term."""
    scores = np.full(per_size.shape[1], -np.inf)
    for size, count in enumerate(per_size, 1):
        with np.errstate(divide="ignore"):
            scores = np.logaddexp(scores, np.log(count) + math.lgamma(n_columns - size + 1))
    return scores
