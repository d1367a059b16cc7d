"""What counts as near: a window of a width, absolute or in per cent, as [promise] keys write it; and exact differences.

"5" is a window 5 units wide, "±5" (or "+-5") everything within 5 of a guess, a window of 10. "5%" and "±5%" are the
same in per cent of the number at the middle of the window. "±5% or 100" is within 5 per cent or within 100, whichever
is more: the floor is for zeros and small numbers. Dates count in days, ordered categories in ranks; per cent of either
mean nothing.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.model.scale import FloatArray, Scale

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
    """Values as whole steps of one size, where differences are exact: in floats .8 - .6 is more than .2.

    Whole numbers are their own grid. Decimals are scaled by a power of ten, up to 14 digits in all and nine places
    behind the first digit that counts. Any other numbers are rounded to a fine grid of 2^50 steps over their range;
    windows on it are ``slack`` steps wider, 2^-40 of the range, so that equal differences stay equal. That is the only
    tolerance, and values nearer to each other than such a step count as one.
    """

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


_FORM = re.compile(
    r"(±|\+-|\+/-)?\s*(\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*(%)?(?:\s+or\s+(\d+(?:\.\d+)?(?:e-?\d+)?))?", re.IGNORECASE
)
_TIE = 1e-9
_USUAL = "±5%"
_USUAL_DAYS = "±15"


@dataclass(frozen=True, slots=True)
class Nearness:
    """Two values are near if they fit into one window."""

    text: str
    width: float = 0.0
    """The width of the window, in units of the values."""
    ratio: float = 0.0
    """The half width of the window, as a share of the number at its middle."""

    def reach(self, positions: FloatArray) -> LongArray:
        """Return the last value that a window from each value holds; positions rise. It never falls."""
        grid = value_grid(positions)
        ends = np.searchsorted(grid.steps, grid.steps + grid.within(self.width), side="right")
        if self.ratio:
            wider = (1.0 + self.ratio) / (1.0 - self.ratio)
            farthest = np.where(positions > 0, positions * wider, positions / wider)
            ends = np.maximum(ends, np.searchsorted(positions, farthest + _TIE * np.abs(farthest), side="right"))
        return np.asarray(ends - 1, dtype=np.int64)


def window_of(text: str) -> Nearness:
    """Return what a key says is near; a ValueError if it says nothing that can be."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError("not a width")
    both, number, percent, floor = found.groups()
    sides = 2.0 if both else 1.0
    if percent is None:
        if floor is not None:
            raise ValueError("only a percentage takes a floor")
        return Nearness(text, sides * float(number))
    ratio = sides * float(number) / 200.0
    if not ratio < 1.0:
        raise ValueError("so wide that every value is near")
    return Nearness(text, sides * float(floor or 0.0), ratio)


def usual_window(scale: Scale) -> str:
    """Return the window that figures are shown for: 5 per cent of a number, a month of a date, a rank by itself."""
    return _USUAL_DAYS if scale.dated else "0" if scale.ranked else _USUAL


def has_distances(scale: Scale) -> bool:
    """Return whether differences of the values mean something: numbers, dates, or categories with a declared order."""
    return scale.form == "interval" or scale.ranked


def window_reach(scale: Scale, near: Nearness) -> LongArray:
    """Return the last code that a window from each code holds; a missing value is near to nothing but itself."""
    known = len(scale) - int(scale.texts.null_count)
    reach = np.arange(len(scale), dtype=np.int64)
    if known:
        reach[:known] = near.reach(scale.positions[:known])
    return reach


def positions_or_nan(scale: Scale) -> FloatArray:
    """Return the position of every code; nan for a missing value."""
    positions = scale.positions.astype(np.float64)
    positions[len(scale) - int(scale.texts.null_count) :] = np.nan
    return positions
