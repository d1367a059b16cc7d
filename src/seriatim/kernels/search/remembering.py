"""What one more release adds to the memory of a series: signatures and distinct groups of every person."""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]


@nb.njit(cache=True, nogil=True)
def by_key(keys: IntArray, n_keys: int) -> tuple[LongArray, IntArray]:
    """Counting sort: where each key's rows start, and the rows in order of their key. Negative keys stay out."""
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


@nb.njit(cache=True, nogil=True)
def take_in(
    release: int, person: LongArray, value: IntArray, lineage: LongArray, slot: LongArray, own_slot: LongArray,
    own_value: IntArray, publications: IntArray, lineage_of_slot: LongArray, last_holder: LongArray, since: LongArray,
) -> None:  # fmt: skip
    """One release into what is known of people (the last three arrays but three) and of slots (the last three)."""
    for row in range(len(slot)):
        p, s = person[row], slot[row]
        lineage_of_slot[s] = lineage[row]
        if since[s] < 0 or (p >= 0 and last_holder[s] != p):
            since[s] = release
        if p >= 0:
            own_slot[p], own_value[p], last_holder[s] = s, value[row], p
            publications[p] += 1


@nb.njit(cache=True, nogil=True)
def same_group(
    rows: IntArray, person: LongArray, places: IntArray, n_places: IntArray, real: IntArray, size: IntArray
) -> int:
    """The old group that these rows republish unchanged, or -1."""
    old, n_real = -1, 0
    for row in rows:
        p = person[row]
        if p < 0:
            continue
        n_real += 1
        if n_places[p] == 0:
            return -1
        last = places[p, n_places[p] - 1]
        if old >= 0 and last != old:
            return -1
        old = last
    if old < 0 or real[old] != n_real or size[old] != len(rows):
        return -1
    return old


@nb.njit(cache=True, nogil=True)
def remember_groups(
    starts: LongArray,
    rows: IntArray,
    person: LongArray,
    places: IntArray,
    n_places: IntArray,
    real: IntArray,
    size: IntArray,
    n_old: int,
) -> LongArray:
    """The lasting number of every group of a release: its old one when it is republished unchanged, else a new one.

    ``real`` and ``size`` have room for all; new groups are entered there and in their members' places.
    """
    lasting = np.full(len(starts) - 1, -1, dtype=np.int64)
    fresh = n_old
    for g in range(len(starts) - 1):
        members = rows[starts[g] : starts[g + 1]]
        number = same_group(members, person, places, n_places, real, size)
        if number >= 0:
            lasting[g] = number
            continue
        n_real = 0
        for row in members:
            p = person[row]
            if p >= 0:
                places[p, n_places[p]] = fresh
                n_places[p] += 1
                n_real += 1
        if n_real:
            real[fresh], size[fresh] = n_real, len(members)
            lasting[g] = fresh
            fresh += 1
    return lasting


@nb.njit(cache=True, nogil=True)
def distinct_values(starts: LongArray, rows: IntArray, value: IntArray) -> tuple[LongArray, IntArray]:
    """The signature of each group: its different values in order."""
    out_starts = np.zeros(len(starts), dtype=np.int64)
    out = np.empty(len(rows), dtype=np.int32)
    at = 0
    for g in range(len(starts) - 1):
        first = at
        for i in range(starts[g], starts[g + 1]):
            v = value[rows[i]]
            j = at
            while j > first and out[j - 1] > v:
                j -= 1
            if j > first and out[j - 1] == v:
                continue
            for k in range(at, j, -1):
                out[k] = out[k - 1]
            out[j] = v
            at += 1
        out_starts[g + 1] = at
    return out_starts, out[:at]


@nb.njit(cache=True, nogil=True)
def number_sets(starts: LongArray, values: IntArray) -> tuple[LongArray, LongArray]:
    """Number ordered sets by first appearance: the number of each, and which set each number stands for."""
    n = len(starts) - 1
    width = 16
    while width < 2 * n:
        width *= 2
    table = np.full(width, -1, dtype=np.int64)
    numbers = np.empty(n, dtype=np.int64)
    first = np.empty(n, dtype=np.int64)
    n_first = 0
    for g in range(n):
        lo, size = starts[g], starts[g + 1] - starts[g]
        h = np.uint64(1469598103934665603)
        for i in range(lo, lo + size):
            h = (h ^ np.uint64(values[i])) * np.uint64(1099511628211)
        at = np.int64((h ^ (h >> np.uint64(29))) & np.uint64(width - 1))
        while True:
            seen = table[at]
            if seen < 0:
                table[at] = n_first
                first[n_first] = g
                numbers[g] = n_first
                n_first += 1
                break
            other = starts[first[seen]]
            same = starts[first[seen] + 1] - other == size
            i = 0
            while same and i < size:
                same = values[lo + i] == values[other + i]
                i += 1
            if same:
                numbers[g] = seen
                break
            at = (at + 1) & (width - 1)
    return numbers, first[:n_first]
