"""Estimates how many people lie in a range, from boxes without counterfeits.

A published group says how many rows it has, how many of them are counterfeit, and that all real ones are inside its
box. Without more knowledge, the best estimate spreads the real ones evenly over the box.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.kernels.check.box_counts import expected_in_ranges
from seriatim.reading.published_boxes import Boxes, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RangeQueries:
    """Queries 'how many people have every column between low and high', both included; one row per query."""

    from_: IntArray
    to: IntArray

    def __len__(self) -> int:
        return len(self.from_)


def count_in_ranges(boxes: Boxes, queries: RangeQueries) -> FloatArray:
    """Estimate the number of people for each query."""
    return np.asarray(expected_in_ranges(boxes.low, boxes.high, boxes.people, queries.from_, queries.to))
