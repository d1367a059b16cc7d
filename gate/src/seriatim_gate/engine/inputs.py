"""What callers hand to the gate, checked before anything is computed; messages carry no value.

A journal keeps the cells of several dependencies as one pair of numbers. With one dependency the pair is x and y. With
several it is the two halves of one number, in which every dependency's cell is a digit. -1 stands for a value (first
number) or a target (second number) that is unknown to a dependency.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError

FloatArray = npt.NDArray[np.float64]
LongArray = npt.NDArray[np.int64]

TESTS = ("mis", "kld", "cst", "dqt", "wdt")
MERGES = ("smallest", "forward", "none")
SUM_TOLERANCE = 1e-6
LARGEST_COUNT = 1 << 50


def input_probabilities(baseline: Any, where: str = "baseline", least: int = 2) -> FloatArray:
    """Return the baseline as probabilities that sum to one."""
    p = _numbers(where, baseline, "a list of probabilities")
    if p.ndim != 1 or len(p) < least:
        raise InputError(Fault(where, f"{p.ndim} dimensions, {p.size} entries", f"one dimension, {least} or more"))
    if not bool(np.isfinite(p).all()) or bool((p < 0).any()):
        raise InputError(Fault(where, "an entry that is negative or not finite", "probabilities"))
    if abs(float(p.sum()) - 1.0) > SUM_TOLERANCE:
        raise InputError(Fault(where, f"sums to {p.sum():.6g}", "1", "divide by the sum"))
    # what sums to one but for rounding stays as it is: a stored baseline is read back bit for bit
    return p if abs(float(p.sum()) - 1.0) <= 1e-12 else np.asarray(p / p.sum())


def input_counts(counts: Any, baseline: FloatArray) -> LongArray:
    """Return |X| x |Y| counts; none may be where the baseline is zero."""
    table = _numbers("counts", counts, "a table of counts")
    if table.ndim != 2 or table.shape[0] != len(baseline):
        shape = " x ".join(map(str, table.shape))
        raise InputError(Fault("counts", shape, f"{len(baseline)} x number of targets", "one row per value of X"))
    good = np.isfinite(table) & (table >= 0) & (table < LARGEST_COUNT) & (table == np.floor(table))
    if not bool(good.all()):
        raise InputError(Fault("counts", "an entry that is not a count", "whole numbers from 0"))
    whole = table.astype(np.int64)
    if bool(whole[baseline == 0].any()):
        raise InputError(Fault("counts", "records of a value whose baseline is zero", "none"))
    return whole


def input_level(alpha: Any, where: str = "alpha") -> float:
    """Return a significance level strictly between 0 and 1."""
    if isinstance(alpha, bool) or not isinstance(alpha, float | int | np.floating) or not 0 < float(alpha) < 1:
        raise InputError(Fault(where, "not a level", "a number between 0 and 1, e.g. 0.2"))
    return float(alpha)


def input_tests(tests: Any) -> tuple[str, ...]:
    """Return the chosen tests in the order of ``TESTS``; a single name counts as a list of one."""
    chosen = (tests,) if isinstance(tests, str) else tests
    try:
        names = set(chosen)
    except TypeError:
        names = {None}
    if not names or not names <= set(TESTS):
        raise InputError(Fault("tests", "an unknown test or none", ", ".join(TESTS)))
    return tuple(name for name in TESTS if name in names)


def input_choice(where: str, value: Any, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise InputError(Fault(where, "not an option", ", ".join(allowed)))
    return value


def _numbers(where: str, values: Any, what: str) -> FloatArray:
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "iuf":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(Fault(where, f"a {type(values).__name__} that is not numeric", what)) from None


IntArray = npt.NDArray[np.int32]
_HALF = 31
_LARGEST = 1 << 2 * _HALF
Places = Sequence[tuple[LongArray, LongArray]]
"""x and y of every dependency."""


class Codes:
    """Pack and unpack cells; ``sizes`` are the numbers of values and of targets of every dependency."""

    def __init__(self, sizes: Sequence[tuple[int, int]]) -> None:
        self.sizes = tuple(sizes)
        product = 1
        for width, height in self.sizes:
            product *= width * height
        if product > _LARGEST:
            raise InputError(
                Fault("dependencies", "too many combinations of their cells", "fewer than 2^62", "use fewer values")
            )

    def pack(self, places: Places) -> tuple[LongArray, LongArray]:
        """Return the pair of numbers of every record."""
        if len(self.sizes) == 1:
            ((width, height),), ((x, y),) = self.sizes, places
            return np.where(x >= width, -1, x), np.where(y >= height, -1, y)
        code = np.zeros(len(places[0][0]), np.int64)
        no_value, no_target = np.zeros(len(code), bool), np.zeros(len(code), bool)
        for (width, height), (x, y) in zip(self.sizes, places, strict=True):
            no_value |= (x < 0) | (x >= width)
            no_target |= (y < 0) | (y >= height)
            code = code * (width * height) + np.clip(y, 0, height - 1) * width + np.clip(x, 0, width - 1)
        first, second = code >> _HALF, code & ((1 << _HALF) - 1)
        return np.where(no_value, -1, first), np.where(no_target, -1, second)

    def unpack(self, x: IntArray | LongArray, y: IntArray | LongArray) -> Places:
        """Return x and y of every dependency; both are -1 where any of the two numbers is."""
        high, low = np.asarray(x, np.int64), np.asarray(y, np.int64)
        if len(self.sizes) == 1:
            return [(high, low)]
        unknown, rest, places = (high < 0) | (low < 0), (high << _HALF) | low, []
        for width, height in reversed(self.sizes):
            rest, cell = np.divmod(rest, width * height)
            places.append((np.where(unknown, -1, cell % width), np.where(unknown, -1, cell // width)))
        return places[::-1]
