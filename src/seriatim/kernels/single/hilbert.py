"""Places along a Hilbert curve in any number of dimensions, ties broken by a keyed hash.

The transform from axes to the curve is Skilling's (2004, Programming the Hilbert curve): one pass over the bits undoes
the turns of the curve from the largest cube to the smallest, a Gray code follows, and the bits of all axes are
interleaved into one number. Below it stands a keyed one-to-one scramble of the row's number: it breaks ties in an
order that only the holder of the key can know, and gives the row back after sorting, without a table.

Many rows take each step together, axis by axis, so that the compiler does several of them with one instruction.

Rows are packed into 64-bit words: each column has as many bits as its codes need. Ten columns, a postcode and a date of
birth among them, are often one word, so a row that is fetched out of order costs one line of the cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Shorts, Words, inner, kernel


class PackedLayout(NamedTuple):
    """Where the code of each column lies."""

    words: Longs
    shifts: Words
    masks: Words


@kernel
def pack_column(codes: Ints, shift: Any, words: Words) -> None:
    """Write the codes of one column into its bits of ``words``, which are 0."""
    by = np.uint64(shift)
    for row in range(len(codes)):
        words[row] |= np.uint64(codes[row]) << by


@kernel
def fetch_packed_rows(words: Words, rows: Ints) -> Words:
    """Return the words of these rows, in their order."""
    taken = np.empty((len(words), len(rows)), dtype=np.uint64)
    for word in range(len(words)):
        for place in range(len(rows)):
            taken[word, place] = words[word, rows[place]]
    return taken


_TOGETHER = 256


class CurveAxes(NamedTuple):
    """How codes become cells of the curve's cube."""

    cells: Shorts
    """axes x codes, each below ``2 ** bits``."""
    columns: Longs
    """Which column of the rows each axis is."""
    bits: int
    spread: Words
    """For each number below ``2 ** bits`` its bits, as far apart as there are axes."""


class RowScramble(NamedTuple):
    """A one-to-one map of the numbers below ``2 ** width``: three rounds of odd factors and shifts."""

    width: int
    factors: Words
    inverses: Words
    summands: Words


@kernel
def curve_keys(words: Any, layout: Any, axes: Any, scramble: Any, first: int, keys: Words) -> None:
    """Write the keys of rows ``first`` .. ``first + len(keys)``: the place on the curve, then the scrambled number.

    ``words`` are the packed rows. The number of axes times their bits, and the width of the scramble, together are at
    most 64.
    """
    n_axes = len(axes.columns)
    codes = np.zeros((n_axes, _TOGETHER), dtype=np.uint16)
    turn = np.zeros(_TOGETHER, dtype=np.uint16)
    for begin in range(0, len(keys), _TOGETHER):
        end = min(begin + _TOGETHER, len(keys))
        for axis in range(n_axes):
            column = axes.columns[axis]
            shift, mask = layout.shifts[column], layout.masks[column]
            word, cells, out = words[layout.words[column], first + begin : first + end], axes.cells[axis], codes[axis]
            for row in range(len(word)):
                out[row] = cells[(word[row] >> shift) & mask]
        _turned_back(codes, turn, axes.bits)
        place = keys[begin:end]
        place[:] = 0
        for axis in range(n_axes):
            # the first axis has the highest bit of each group
            by, own = np.uint64(n_axes - 1 - axis), codes[axis]
            for row in range(len(place)):
                place[row] |= axes.spread[own[row] ^ turn[row]] << by
        for row in range(len(place)):
            number = _scrambled(np.uint64(first + begin + row), scramble)
            place[row] = (place[row] << np.uint64(scramble.width)) | number


@inner
def _turned_back(codes: Shorts, turn: Shorts, bits: int) -> None:
    """Change ``codes`` and ``turn`` in place: Skilling's transform, up to the last turn, which ``turn`` undoes."""
    n_axes = len(codes)
    turn[:] = 0
    if n_axes == 0:
        return
    top = codes[0]
    for bit in range(bits - 1, 0, -1):
        below, at = np.uint16((1 << bit) - 1), np.uint16(bit)
        for row in range(_TOGETHER):
            # the first axis against itself: exchanging would change nothing, so only inverting is left
            top[row] ^= below & np.uint16(0 - ((top[row] >> at) & np.uint16(1)))
        for axis in range(1, n_axes):
            own = codes[axis]
            for row in range(_TOGETHER):
                # without a branch: the bits are as good as random
                is_set = np.uint16(0 - ((own[row] >> at) & np.uint16(1)))
                swapped = (top[row] ^ own[row]) & below & ~is_set
                top[row] ^= swapped | (below & is_set)
                own[row] ^= swapped
    for axis in range(1, n_axes):
        own, before = codes[axis], codes[axis - 1]
        for row in range(_TOGETHER):
            own[row] ^= before[row]
    own = codes[n_axes - 1]
    for bit in range(bits - 1, 0, -1):
        below, at = np.uint16((1 << bit) - 1), np.uint16(bit)
        for row in range(_TOGETHER):
            turn[row] ^= below & np.uint16(0 - ((own[row] >> at) & np.uint16(1)))


@inner
def _scrambled(number: Any, scramble: Any) -> Any:
    """Return a key in a secret order."""
    mask = (np.uint64(1) << np.uint64(scramble.width)) - np.uint64(1)
    shift = np.uint64((scramble.width + 1) // 2)
    for place in range(len(scramble.factors)):
        # each step can be undone, so no two rows share a number
        number = (number * scramble.factors[place] + scramble.summands[place]) & mask
        number ^= number >> shift
    return number


@inner
def _unscrambled(number: Any, scramble: Any) -> Any:
    """Return the key that was scrambled; a shift by half the width undoes itself, an odd factor has an inverse."""
    mask = (np.uint64(1) << np.uint64(scramble.width)) - np.uint64(1)
    shift = np.uint64((scramble.width + 1) // 2)
    for place in range(len(scramble.factors) - 1, -1, -1):
        number ^= number >> shift
        number = ((number - scramble.summands[place]) * scramble.inverses[place]) & mask
    return number


@kernel
def rows_of_keys(keys: Words, scramble: Any, rows: Ints) -> None:
    """Write which rows these keys are of."""
    mask = (np.uint64(1) << np.uint64(scramble.width)) - np.uint64(1)
    for place in range(len(keys)):
        rows[place] = np.int32(_unscrambled(keys[place] & mask, scramble))
