"""Rows in the order of a key."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, kernel


@kernel
def rows_by_key(keys: Ints, n_keys: int) -> tuple[Longs, Ints]:
    """Return where each key's rows start, and the rows in order of their key; negative keys stay out."""
    starts = np.zeros(n_keys + 1, dtype=np.int64)
    for key in keys:
        if key >= 0:
            starts[key + 1] += 1
    for k in range(n_keys):
        starts[k + 1] += starts[k]
    rows = np.empty(starts[n_keys], dtype=np.int32)
    at = starts[:-1].copy()
    for row in range(len(keys)):
        key = keys[row]
        if key >= 0:
            rows[at[key]] = row
            at[key] += 1
    return starts, rows
