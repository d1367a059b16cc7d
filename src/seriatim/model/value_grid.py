"""Numbers on an integer grid, where differences are exact: in floats .8 - .6 is more than .2.

Whole numbers are their own grid. Decimals are scaled by a power of ten, up to 14 digits in all and nine places behind
the first digit that counts. Any other numbers are rounded to a fine grid of 2^50 steps over their range; windows on it
are ``slack`` steps wider, 2^-40 of the range, so that equal differences stay equal. That is the only tolerance, and
values nearer to each other than such a step count as one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.model.scale import FloatArray

LongArray = npt.NDArray[np.int64]
PLACES = 9
_MOST_PLACES = 300
_WHOLE = float(1 << 61)
_DIGITS = float(1 << 47)
"""Above this many steps, floats are too coarse to tell decimals from other numbers."""
_FARTHEST = float(1 << 62)
_FINE = 2.0**-50
_NEAR = 2.0**-40
_ULPS = 4
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
        """Return a width in whole steps: two values at most that many steps apart are within it."""
        if width == 0.0:
            return 0
        steps = min(width / self.step, _FARTHEST)
        nearest = round(steps)
        is_whole = abs(steps - nearest) <= max(_ROUNDING, 4 * np.finfo(np.float64).eps * steps)
        return (nearest if is_whole else math.floor(steps)) + self.slack


def value_grid(values: npt.NDArray[np.generic]) -> ValueGrid:
    """Return finite numbers on the coarsest grid that holds them all, in their order."""
    if values.dtype.kind in "iu":
        return ValueGrid(values.astype(np.int64), 1.0)
    numbers: FloatArray = values.astype(np.float64)
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest < _WHOLE and (np.rint(numbers) == numbers).all():
        return ValueGrid(numbers.astype(np.int64), 1.0)
    return _decimal_grid(numbers, largest) or _fine_grid(numbers, largest)


def _decimal_grid(numbers: FloatArray, largest: float) -> ValueGrid | None:
    """Return the coarsest decimal grid that holds the numbers, if there is one; coarser than 1 for huge ones only."""
    first = -math.floor(math.log10(largest))
    first = first if largest >= _WHOLE else max(first, 0)
    for places in range(first, min(first + PLACES, _MOST_PLACES) + 1):
        scaled = numbers * 10.0**places if places >= 0 else numbers / 10.0**-places
        size = np.abs(scaled)
        if float(size.max()) >= _DIGITS:
            return None
        whole = np.rint(scaled)
        if (np.abs(scaled - whole) <= _ULPS * np.finfo(np.float64).eps * size).all():
            return ValueGrid(whole.astype(np.int64), 10.0**-places)
    return None


def _fine_grid(numbers: FloatArray, largest: float) -> ValueGrid:
    """Return the numbers rounded to steps so fine that different ones stay apart, with slack for equal differences."""
    low, high = float(numbers.min()), float(numbers.max())
    ulp = float(np.spacing(largest))
    step = max(high * _FINE - low * _FINE, ulp)
    tolerance = max(high * _NEAR - low * _NEAR, _ULPS * ulp)
    steps = np.rint(numbers / step - low / step) if low < 0 < high else np.rint((numbers - low) / step)
    return ValueGrid(steps.astype(np.int64), step, math.ceil(tolerance / step))
