"""Cells of several dependencies as one pair of numbers, as a journal keeps them.

With one dependency the pair is x and y. With several it is the two halves of one number, in which every dependency's
cell is a digit. -1 stands for a value (first number) or a target (second number) that is unknown to a dependency.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim.gate.inputs import LongArray

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
