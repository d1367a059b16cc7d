"""Names the classes that break a promise: the first few by number, worst first, for a steward to look up."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

NAMED = 10


def worst_classes(broken: npt.NDArray[np.bool_], badness: npt.NDArray[np.float64]) -> tuple[int, ...]:
    """Return the numbers of broken classes, from the largest ``badness`` down; ties in the order of first records."""
    numbers = np.flatnonzero(broken)
    order = np.argsort(-badness[numbers], kind="stable")
    return tuple(int(c) for c in numbers[order[:NAMED]])
