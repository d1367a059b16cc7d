"""The sensitive values of a published table in class order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.model.published import PublishedTable
from seriatim.model.scale import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ShownValues:
    """One sensitive column of a published table, class by class."""

    starts: npt.NDArray[np.int64]
    """Where the values of each class start, and where those of the last one end."""
    values: IntArray
    """Positions on the scale, in class order."""
    margin: npt.NDArray[np.float64]
    """Share of each value in the whole published table: the prior of every figure here."""

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        return np.diff(self.starts)

    def without(self, dropped: npt.NDArray[np.bool_]) -> ShownValues:
        """Return the other classes, as if the records of these were withheld; the margin is that of the rest."""
        values = self.values[np.repeat(~dropped, self.sizes)]
        starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.sizes[~dropped])))
        counts = np.bincount(values, minlength=len(self.margin))
        return ShownValues(starts, values, counts / max(len(values), 1))


def shown(published: PublishedTable, column: str) -> ShownValues:
    """Return the values of one sensitive column, none of which may be missing."""
    coded, classes = published.sensitive[column], published.classes
    values = coded.codes[classes.rows]
    counts = np.bincount(values, minlength=len(coded.scale))
    return ShownValues(classes.starts, values, counts / max(len(values), 1))
