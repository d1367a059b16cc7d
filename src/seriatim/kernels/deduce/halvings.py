"""What cuts by values say: each value was cut at a place of its own, and its holders left of it lie below the others.

Someone on the left who lies above a holder on the right does not hold that value, nor does someone on the right who
lies below a holder on the left. How many holders each side has is public; so even if none of them is known, the
outermost places that they could have bound where the innermost of them lies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Floats, Ints, Longs, Singles, Words, inner, kernel, leaf
from seriatim.kernels.deduce.board import bit_place, lowest_bit, n_left


class Halvings(NamedTuple):
    """Cuts one after the other; each lists its people in order of their places along its column."""

    starts: Longs
    who: Ints
    spot: Singles
    right: Flags
    held: Ints
    """At least so many hold each value left of each cut, row 2 * cut, and right of it, the row after that.

    The last column counts the holders of all values that were cut at one common place.
    """
    common: Words
    """Those values, of each cut."""


class _Side(NamedTuple):
    """By value, as people of one side come from the outside: how far in its innermost holder lies at least, and counts.

    Right of a cut places are negated, so that further in is always more.
    """

    bound: Floats
    sure: Longs
    maybe: Longs


@leaf
def _note(side: _Side, value: int, sure: bool, spot: float, held: int) -> None:
    """Count on a ``side`` someone who surely holds a value, or may; all who surely do come before those who may."""
    if sure:
        side.sure[value] += 1
    else:
        side.maybe[value] += 1
        if side.maybe[value] != held - side.sure[value]:
            return
    side.bound[value] = max(side.bound[value], spot)


@inner
def _look(cuts: Halvings, cut: int, right: int, cand: Words, side: _Side) -> None:
    """Fill in one side of a cut."""
    lo, hi, row, last = cuts.starts[cut], cuts.starts[cut + 1], 2 * cut + right, cuts.held.shape[1] - 1
    for value in range(last + 1):
        side.bound[value], side.sure[value], side.maybe[value] = -np.inf, 0, 0
    # first those who surely hold a value, then those who may: the counts of the first say how many of the second matter
    for sure in (True, False):
        for k in range(hi - lo):
            at = hi - 1 - k if right else lo + k
            if cuts.right[at] != right:
                continue
            who, spot = cuts.who[at], -cuts.spot[at] if right else cuts.spot[at]
            wanted = (n_left(cand, who) == 1) == sure
            inside, outside = False, False
            for column in range(cand.shape[1]):
                word = cand[who, column]
                inside |= (word & cuts.common[cut, column]) != 0
                outside |= (word & ~cuts.common[cut, column]) != 0
                while wanted and word != 0:
                    bit = lowest_bit(word)
                    value = (column << 6) + bit_place(bit)
                    _note(side, value, sure, spot, cuts.held[row, value])
                    word ^= bit
            # holders of any of the common values, taken as one: sure if none of their values is another
            if inside and outside != sure:
                _note(side, last, sure, spot, cuts.held[row, last])
    for value in range(last):
        if cuts.common[cut, value >> 6] >> np.uint64(value & 63) & np.uint64(1):
            side.bound[last] = max(side.bound[last], side.bound[value])
    for value in range(last):
        if cuts.common[cut, value >> 6] >> np.uint64(value & 63) & np.uint64(1):
            side.bound[value] = side.bound[last]


@kernel
def narrow_by_cuts(cuts: Halvings, cand: Words) -> tuple[Flags, int]:
    """Return whose values were narrowed, in place, and how often nobody's value would have been left to someone."""
    n_values = cuts.held.shape[1]
    sides = (
        _Side(np.empty(n_values), np.empty(n_values, np.int64), np.empty(n_values, np.int64)),
        _Side(np.empty(n_values), np.empty(n_values, np.int64), np.empty(n_values, np.int64)),
    )
    moved, failed = np.zeros(len(cand), np.bool_), 0
    fresh = np.empty(cand.shape[1], np.uint64)
    for cut in range(len(cuts.starts) - 1):
        _look(cuts, cut, 0, cand, sides[0])
        _look(cuts, cut, 1, cand, sides[1])
        for at in range(cuts.starts[cut], cuts.starts[cut + 1]):
            who = cuts.who[at]
            own = cuts.spot[at] if cuts.right[at] else -cuts.spot[at]
            left = np.uint64(0)
            for column in range(cand.shape[1]):
                word = cand[who, column]
                fresh[column] = word
                while word != 0:
                    bit = lowest_bit(word)
                    value = (column << 6) + bit_place(bit)
                    # someone right of it lies below the innermost holder on the left, or the other way round
                    bound = sides[0].bound[value] if cuts.right[at] else sides[1].bound[value]
                    if own < bound:
                        fresh[column] ^= bit
                    word ^= bit
                left |= fresh[column]
            if left == 0:
                failed += 1
                continue
            for column in range(cand.shape[1]):
                moved[who] |= fresh[column] != cand[who, column]
                cand[who, column] = fresh[column]
    return moved, failed
