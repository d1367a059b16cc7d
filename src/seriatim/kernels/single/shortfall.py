"""How many records a node surely suppresses for want of k, told without numbering its classes.

Records are thrown into slots by a hash of what their class publishes. Equal classes share a slot, so a slot that holds
fewer than k records holds only classes of fewer than k; that different classes may share one makes the figure too
small, never too large. Slots are filled part by part of the hash, each part a fair sample of the classes that stays in
the cache, and the count ends as soon as it exceeds the budget, or promises not to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seriatim.kernels.arrays import Halves, Ints, inner, kernel

_PART_BITS = 3
_TOGETHER = 1024


@kernel
def shortfall(finer: Any, lookups: Any, node: Any, k: int, budget: int) -> int:
    """Return at most as many records as are in classes of fewer than ``k``; above ``budget`` it need not be exact.

    ``finer`` are the classes of a node nowhere coarser.
    """
    n_rows, n_parts = len(finer.sizes), 1 << _PART_BITS
    hashes = _hashes(finer.codes, lookups.local, node.at, node.cards)
    bits = 8
    while (1 << bits) * n_parts < 2 * n_rows:
        bits += 1
    mask = (1 << bits) - 1
    counts = np.empty(1 << bits, dtype=np.int32)
    slots, sizes = np.empty(n_rows + 1, dtype=np.int32), np.empty(n_rows + 1, dtype=np.int64)
    lacking = 0
    for part in range(n_parts):
        n_taken = 0
        for row in range(n_rows):
            slots[n_taken] = hashes[row] & mask
            sizes[n_taken] = finer.sizes[row]
            n_taken += hashes[row] >> (32 - _PART_BITS) == part
        counts[:] = 0
        for taken in range(n_taken):
            counts[slots[taken]] = min(counts[slots[taken]] + sizes[taken], k)
        for taken in range(n_taken):
            lacking += sizes[taken] if counts[slots[taken]] < k else 0
        if lacking > budget or lacking * n_parts <= budget * (part + 1):
            break
    return lacking


@inner
def _hashes(codes: Ints, local: Any, at: Any, cards: Any) -> Halves:
    """Return a hash of the generalised codes of each row, chunk by chunk for many rows together."""
    n_chunks, n_rows = codes.shape
    found = np.empty(n_rows, dtype=np.uint32)
    keys = np.empty(_TOGETHER, dtype=np.uint64)
    for begin in range(0, n_rows, _TOGETHER):
        end = min(begin + _TOGETHER, n_rows)
        keys[:] = 0
        for chunk in range(n_chunks):
            if cards[chunk] > 1:
                own, into, card = codes[chunk, begin:end], local[at[chunk] :], np.uint64(cards[chunk])
                for row in range(len(own)):
                    keys[row] = keys[row] * card + np.uint64(into[own[row]])
        for row in range(end - begin):
            mixed = keys[row] * np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
            found[begin + row] = np.uint32(mixed >> np.uint64(32))
    return found
