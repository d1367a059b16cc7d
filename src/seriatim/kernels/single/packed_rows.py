"""Rows packed into 64-bit words: each column has as many bits as its codes need.

Ten columns, a postcode and a date of birth among them, are often one word, so a row that is fetched out of order costs
one line of the cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Words, kernel


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
