"""Special uniques: records singled out by a handful of attributes.

A minimal sample unique is a set of attributes on which a record is unique while on none of its subsets it is. The
fewer attributes it takes, the more a record is at risk: after SUDA (Elliot and Manning), each minimal set of size
s out of M attributes scores (M - s)!.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from seriatim.model.scale import FloatArray, IntArray
from seriatim.model.tabulation import LongArray, classify


@dataclass(frozen=True, slots=True, eq=False)
class SpecialUniques:
    """Per record, over minimal unique sets up to the size searched."""

    n_sets: LongArray
    smallest: LongArray
    """Attributes in the smallest set; 0 when none was found."""
    score: FloatArray
    by_column: LongArray
    """How many minimal sets each column takes part in: which column to coarsen first."""

    @property
    def n_records(self) -> int:
        return int((self.n_sets > 0).sum())


def special_uniques(columns: Sequence[IntArray], sizes: Sequence[int], up_to: int = 3) -> SpecialUniques:
    """Search all sets of at most ``up_to`` columns."""
    n = len(columns[0]) if columns else 0
    found = SpecialUniques(
        np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n), np.zeros(len(columns), dtype=np.int64)
    )
    before: dict[tuple[int, ...], npt.NDArray[np.bool_]] = {}
    for size in range(1, min(up_to, len(columns)) + 1):
        unique: dict[tuple[int, ...], npt.NDArray[np.bool_]] = {}
        for chosen in combinations(range(len(columns)), size):
            classes = classify([columns[i] for i in chosen], [sizes[i] for i in chosen], n)
            alone = (classes.sizes == 1)[classes.of_record]
            covered = np.zeros(n, dtype=bool)
            for part in combinations(chosen, size - 1):
                covered |= before.get(part, covered)
            _record(found, np.flatnonzero(alone & ~covered), chosen)
            unique[chosen] = alone
        before = unique
    return found


def _record(found: SpecialUniques, rows: LongArray, chosen: tuple[int, ...]) -> None:
    found.n_sets[rows] += 1
    found.smallest[rows] = np.where(found.smallest[rows] == 0, len(chosen), found.smallest[rows])
    found.score[rows] += math.factorial(len(found.by_column) - len(chosen))
    found.by_column[list(chosen)] += len(rows)
