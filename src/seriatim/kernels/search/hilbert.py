"""Places along a Hilbert curve in any number of dimensions, ties broken by a keyed hash.

The transform from axes to the curve is Skilling's (2004, Programming the Hilbert curve): one pass over the bits undoes
the turns of the curve from the largest cube to the smallest, a Gray code follows, and the bits of all axes are
interleaved into one number. Below it stands a keyed one-to-one scramble of the row's number: it breaks ties in an
order that only the holder of the key can know, and gives the row back after sorting, without a table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit


class Axes(NamedTuple):
    """How codes become cells of the curve's cube."""

    cells: npt.NDArray[np.uint32]
    """axes x codes, each below ``2 ** bits``."""
    columns: npt.NDArray[np.int64]
    """Which column of the rows each axis is."""
    bits: int


class Scramble(NamedTuple):
    """A one-to-one map of the numbers below ``2 ** width``: three rounds of odd factors and shifts."""

    width: int
    factors: npt.NDArray[np.uint64]
    inverses: npt.NDArray[np.uint64]
    summands: npt.NDArray[np.uint64]


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def curve_keys(lanes: npt.NDArray[Any], axes: Any, scramble: Any, first: int, keys: npt.NDArray[np.uint64]) -> None:
    """Write the keys of rows ``first`` .. ``first + len(keys)``: the place on the curve, then the scrambled number.

    The number of axes times their bits, and the width of the scramble, together are at most 64.
    """
    d = len(axes.columns)
    x = np.empty(d, dtype=np.uint64)
    one, top = np.uint64(1), np.uint64(axes.bits - 1)
    for row in range(len(keys)):
        for axis in range(d):
            x[axis] = axes.cells[axis, lanes[first + row, axes.columns[axis]]]
        bit = one << top
        while bit > one:
            below = bit - one
            for axis in range(d):
                # without a branch: the bits are as good as random
                is_set = np.uint64(0) - np.uint64((x[axis] & bit) != 0)
                swapped = (x[0] ^ x[axis]) & below & ~is_set
                x[0] ^= swapped | (below & is_set)
                x[axis] ^= swapped
            bit >>= one
        for axis in range(1, d):
            x[axis] ^= x[axis - 1]
        turn = np.uint64(0)
        bit = one << top
        while bit > one:
            turn ^= (bit - one) & (np.uint64(0) - np.uint64((x[d - 1] & bit) != 0))
            bit >>= one
        key = np.uint64(0)
        for place in range(axes.bits):
            shift = top - np.uint64(place)
            for axis in range(d):
                key = (key << one) | (((x[axis] ^ turn) >> shift) & one)
        keys[row] = (key << np.uint64(scramble.width)) | scrambled(np.uint64(first + row), scramble)


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def scrambled(number: Any, scramble: Any) -> Any:
    mask = (np.uint64(1) << np.uint64(scramble.width)) - np.uint64(1)
    shift = np.uint64((scramble.width + 1) // 2)
    for place in range(len(scramble.factors)):
        number = (number * scramble.factors[place] + scramble.summands[place]) & mask
        number ^= number >> shift
    return number


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def unscrambled(number: Any, scramble: Any) -> Any:
    """A shift by at least half the width undoes itself; an odd factor has an inverse."""
    mask = (np.uint64(1) << np.uint64(scramble.width)) - np.uint64(1)
    shift = np.uint64((scramble.width + 1) // 2)
    for place in range(len(scramble.factors) - 1, -1, -1):
        number ^= number >> shift
        number = ((number - scramble.summands[place]) * scramble.inverses[place]) & mask
    return number


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def rows_in_order(keys: npt.NDArray[np.uint64], scramble: Any, lanes: Any, rows: Any, ordered: Any) -> None:
    """Give back the rows of sorted keys, and their lanes in that order."""
    mask = (np.uint64(1) << np.uint64(scramble.width)) - np.uint64(1)
    for place in range(len(keys)):
        row = np.int64(unscrambled(keys[place] & mask, scramble))
        rows[place] = row
        for column in range(lanes.shape[1]):
            ordered[place, column] = lanes[row, column]
