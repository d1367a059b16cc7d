"""Numbers on an integer grid, where differences are exact: in floats .8 - .6 is more than .2.

Whole numbers are their own grid. Decimals are scaled by a power of ten, up to nine places. Any other numbers are
rounded to a fine grid of 2^40 steps over their range; windows on it are ``slack`` steps wider, so that equal
differences stay equal. That is the only tolerance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.model.scale import FloatArray

LongArray = npt.NDArray[np.int64]
PLACES = 9
_EXACT = float(1 << 53)
_FINE = float(1 << 40)
_ROUNDING = 1e-9
"""Parts of a step by which a width may miss a whole number of steps because floats were subtracted or divided."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueGrid:
    """Values as whole steps of one size."""

    steps: LongArray
    step: float
    """The size of a step, in units of the values."""
    slack: int = 0
    """Steps by which a window is wider, where the values had to be rounded."""

    def within(self, width: float) -> int:
        """Return a width in whole steps: two values at most so many steps apart are within it."""
        steps = min(width / self.step, _EXACT)
        nearest = round(steps)
        is_whole = abs(steps - nearest) <= max(_ROUNDING, 4 * np.finfo(np.float64).eps * steps)
        return (nearest if is_whole else math.floor(steps)) + self.slack


def value_grid(values: npt.NDArray[np.generic]) -> ValueGrid:
    """Return finite numbers on the coarsest grid that holds them all, in their order."""
    if values.dtype.kind in "iu":
        return ValueGrid(values.astype(np.int64), 1.0)
    numbers: FloatArray = values.astype(np.float64)
    for places in range(PLACES + 1):
        scaled = numbers * 10.0**places
        size = np.abs(scaled)
        if float(size.max(initial=0.0)) >= _EXACT:
            break
        whole = np.rint(scaled)
        if (np.abs(scaled - whole) <= 4 * np.finfo(np.float64).eps * size).all():
            return ValueGrid(whole.astype(np.int64), 10.0**-places)
    low = float(numbers.min())
    step = (float(numbers.max()) / _FINE - low / _FINE) or 1.0
    return ValueGrid(np.rint(numbers / step - low / step).astype(np.int64), step, 2)
