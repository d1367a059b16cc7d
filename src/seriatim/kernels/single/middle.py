"""The median of many small codes, by counting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

FEW = 256
"""Room for the codes in the step that holds the median; more of them are sorted whole."""


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def middle_of(
    codes: npt.NDArray[np.int32],
    n: int,
    least: int,
    most: int,
    histogram: npt.NDArray[np.int32],
    few: npt.NDArray[np.int64],
) -> tuple[int, int, int]:
    """The median code, how many codes lie below it and how many equal it. The histogram comes and goes all zero.

    A wide range is counted in coarse steps first; only the codes in the step that holds the median are sorted.
    """
    half, shift = n // 2, 0
    while (most - least) >> shift > 4 * n:
        shift += 1
    for row in range(n):
        histogram[(codes[row] - least) >> shift] += 1
    below, step = 0, 0
    while below + histogram[step] <= half:
        below += histogram[step]
        step += 1
    equal = int(histogram[step])
    for clear in range(((most - least) >> shift) + 1):
        histogram[clear] = 0
    if shift == 0:
        return least + step, below, equal
    if equal > len(few):
        return _middle_of_sorted(codes[:n])
    found = 0
    for row in range(n):
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


@njit(cache=True, nogil=True)  # type: ignore[misc, unused-ignore]
def _middle_of_sorted(codes: npt.NDArray[np.int32]) -> tuple[int, int, int]:
    """For codes crowded into one step of a wide range."""
    ordered = np.sort(codes)
    middle = ordered[len(codes) // 2]
    below = np.searchsorted(ordered, middle)
    return int(middle), int(below), int(np.searchsorted(ordered, middle, side="right") - below)
