"""A tabulation: the classes of a table, and how often each value of one column occurs in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.value_counts import value_counts_by_class
from seriatim.model.classes import Classes, LongArray
from seriatim.model.scale import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Tabulation:
    """Sparse counts: class c has ``value[starts[c]:starts[c + 1]]`` (ascending), ``count`` times each."""

    classes: Classes
    starts: LongArray
    value: IntArray
    count: IntArray
    totals: LongArray
    """Records with each value, over all classes."""

    @property
    def n_values(self) -> int:
        return len(self.totals)

    @property
    def margin(self) -> FloatArray:
        """Return the share of each value in the whole table."""
        return self.totals / max(int(self.totals.sum()), 1)

    def dense(self) -> LongArray:
        """Return classes by values, zeros included: only for a few values."""
        full = np.zeros((len(self.classes), self.n_values), dtype=np.int64)
        owner = np.repeat(np.arange(len(self.classes)), np.diff(self.starts))
        full[owner, self.value] = self.count
        return full

    def only(self, c: int) -> Tabulation:
        """Return one class alone, its values still counted over all."""
        first, last = self.starts[c], self.starts[c + 1]
        alone = Classes(np.zeros(0, dtype=np.int32), self.classes.sizes[c : c + 1])
        starts = np.array([0, last - first], dtype=np.int64)
        return Tabulation(alone, starts, self.value[first:last], self.count[first:last], self.totals)

    def without(self, dropped: npt.NDArray[np.bool_]) -> Tabulation:
        """Return the same with some classes emptied, as if their records were withheld."""
        owner = np.repeat(np.arange(len(self.classes)), np.diff(self.starts))
        kept = ~dropped[owner]
        lengths = np.where(dropped, 0, np.diff(self.starts))
        value, count = self.value[kept], self.count[kept]
        totals = np.bincount(value, weights=count, minlength=self.n_values).astype(np.int64)
        sizes = np.where(dropped, 0, self.classes.sizes)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        return Tabulation(Classes(self.classes.of_record, sizes), starts, value, count, totals)


def tabulation_of(classes: Classes, values: IntArray, n_values: int) -> Tabulation:
    """Count one column by class; a code of -1 is no value and counts only for the size of its class."""
    starts, value, count = value_counts_by_class(classes.of_record, len(classes), values, n_values)
    totals = np.bincount(value, weights=count, minlength=n_values).astype(np.int64)
    return Tabulation(classes, starts, value, count, totals)
