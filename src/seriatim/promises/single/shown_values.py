"""The sensitive values of a draft in class order, placed on their scale again from what is published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seriatim.model import Coded, Draft
from seriatim.model.classes import Classes, draft_classes, text_codes
from seriatim.model.scale import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One sensitive column of a published table."""

    classes: Classes
    values: IntArray
    """Positions on the scale, in class order."""
    margin: npt.NDArray[np.float64]
    """Share of each value in the whole published table: the prior every figure here is measured against."""

    def without(self, dropped: npt.NDArray[np.bool_]) -> Shown:
        """The other classes, as if the records of these had been withheld; the margin is that of what is left."""
        sizes = self.classes.sizes
        rows = np.repeat(~dropped, sizes)
        values = self.values[rows]
        starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes[~dropped])))
        counts = np.bincount(values, minlength=len(self.margin))
        return Shown(Classes(starts, self.classes.rows[rows]), values, counts / max(len(values), 1))


def shown(draft: Draft, column: str) -> Shown:
    classes = draft_classes(draft)
    coded = draft.sensitive[column]
    values = places(draft.table.column(column), coded)[classes.rows]
    counts = np.bincount(values, minlength=len(coded.scale))
    return Shown(classes, values, counts / max(len(values), 1))


def places(column: pa.ChunkedArray, coded: Coded) -> IntArray:
    """Where each published value stands on its scale.

    The draft says where its rows stand; here the published values themselves decide, and the two must agree:
    equal values at one place, whatever order the rows were given.
    """
    seen, values = text_codes(column)
    place = np.zeros(len(values) + 1, dtype=np.int32)
    place[seen] = coded.codes
    found = place[seen]
    if not np.array_equal(found, coded.codes):
        raise AssertionError(f"column {coded.name!r}: equal published values stand at different places of the scale")
    return found
