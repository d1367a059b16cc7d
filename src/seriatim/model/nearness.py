"""What counts as near: a window of a width, absolute or in per cent, as [promise] keys write it.

"5" is a window 5 units wide, "±5" (or "+-5") everything within 5 of a guess, a window of 10. "5%" and "±5%" are the
same in per cent of the number at the middle of the window. "±5% or 100" is within 5 per cent or within 100, whichever
is more: the floor is for zeros and small numbers. Dates count in days, ordered categories in ranks; per cent of either
mean nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from seriatim.model.scale import FloatArray, Scale
from seriatim.model.value_grid import LongArray, value_grid

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


def nearness_of(text: str) -> Nearness:
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


def usual_nearness(scale: Scale) -> str:
    """Return the window that figures are shown for: 5 per cent of a number, a month of a date, a rank by itself."""
    return _USUAL_DAYS if scale.dated else "0" if scale.ranked else _USUAL


def has_nearness(scale: Scale) -> bool:
    """Return whether differences of the values mean something: numbers, dates, or categories with a declared order."""
    return scale.form == "interval" or scale.ranked


def nearness_reach(scale: Scale, near: Nearness) -> LongArray:
    """Return the last code that a window from each code holds; a missing value is near to nothing but itself."""
    known = len(scale) - int(scale.texts.null_count)
    reach = np.arange(len(scale), dtype=np.int64)
    if known:
        reach[:known] = near.reach(scale.positions[:known])
    return reach


def nearness_distances(scale: Scale) -> FloatArray:
    """Return the position of every code; nan for a missing value."""
    positions = scale.positions.astype(np.float64)
    positions[len(scale) - int(scale.texts.null_count) :] = np.nan
    return positions
