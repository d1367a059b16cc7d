"""The median of many small codes, by counting."""

from __future__ import annotations

from seriatim.kernels.arrays import Ints, Longs, leaf

FEW = 256
"""Room for the codes in the step that holds the median; more of them are found by halving the range."""


@leaf
def median_code(
    codes: Ints,
    n_codes: int,
    least: int,
    most: int,
    histogram: Ints,
    few: Longs,
) -> tuple[int, int, int]:
    """Return the median code, how many lie below it and how many equal it; the histogram comes and goes all zero.

    A wide range is counted in coarse steps first; only the codes in the step that holds the median are sorted.
    """
    half, shift = n_codes // 2, 0
    # more steps than this would cost more to clear than the rows cost to count
    while (most - least) >> shift > 4 * n_codes:
        shift += 1
    for row in range(n_codes):
        histogram[(codes[row] - least) >> shift] += 1
    below, step = 0, 0
    while below + histogram[step] <= half:
        below += histogram[step]
        step += 1
    equal = int(histogram[step])
    # left as it was found, so that the next piece need not clear all of it
    for clear in range(((most - least) >> shift) + 1):
        histogram[clear] = 0
    if shift == 0:
        return least + step, below, equal
    if equal > len(few):
        return _middle_by_halving(codes, n_codes, least, most)
    found = 0
    for row in range(n_codes):
        if (codes[row] - least) >> shift == step:
            place = found
            while place > 0 and few[place - 1] > codes[row]:
                few[place] = few[place - 1]
                place -= 1
            few[place] = codes[row]
            found += 1
    middle = few[half - below]
    at, equal = half - below, 1
    while at > 0 and few[at - 1] == middle:
        at -= 1
    while at + equal < found and few[at + equal] == middle:
        equal += 1
    return int(middle), below + at, equal


@leaf
def _middle_by_halving(codes: Ints, n_codes: int, least: int, most: int) -> tuple[int, int, int]:
    """Return what :func:`median_code` does, for codes crowded into one step of a wide range, halving the range."""
    half, low, high, below = n_codes // 2, least, most, 0
    while low < high:
        middle = (low + high) >> 1
        upto = 0
        for row in range(n_codes):
            upto += codes[row] <= middle
        if upto > half:
            high = middle
        else:
            low, below = middle + 1, upto
    equal = 0
    for row in range(n_codes):
        equal += codes[row] == low
    return low, below, equal
