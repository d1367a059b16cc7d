"""How many people lie in a range, estimated from boxes with the counterfeits left out.

A published group says: so many rows, so many of them counterfeit, all real ones inside this box. The best a reader
can do without further knowledge is to spread the real ones evenly over the box.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.kernels.series.ranges import expected_counts

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Published boxes: lowest and highest code per column, both inside, and how many real people each holds."""

    low: IntArray
    high: IntArray
    people: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RangeQueries:
    """Questions 'how many people have every column between from and to', both inside; one row per question."""

    from_: IntArray
    to: IntArray

    def __len__(self) -> int:
        return len(self.from_)


def count_in_ranges(boxes: Boxes, queries: RangeQueries) -> FloatArray:
    """The estimated number of people for each query."""
    return np.asarray(expected_counts(boxes.low, boxes.high, boxes.people, queries.from_, queries.to))
