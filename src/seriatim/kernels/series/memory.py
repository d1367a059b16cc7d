"""What one more release adds to the memory of a series: signatures and distinct groups of every person."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Words, inner, kernel


@kernel
def by_key(keys: Ints, n_keys: int) -> tuple[Longs, Ints]:
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


@kernel
def take_in(
    release: int, person: Longs, value: Ints, lineage: Longs, slot: Longs, own_slot: Longs,
    own_value: Ints, publications: Ints, lineage_of_slot: Longs, last_holder: Longs, since: Longs,
) -> None:  # fmt: skip
    """One release into what is known of people (the last three arrays but three) and of slots (the last three)."""
    for row in range(len(slot)):
        p, s = person[row], slot[row]
        if p >= 0 and last_holder[s] == p and own_slot[p] == s:  # mostly: somebody who stayed where he was
            publications[p] += 1
            continue
        lineage_of_slot[s] = lineage[row]
        if since[s] < 0 or (p >= 0 and last_holder[s] != p):
            since[s] = release
        if p >= 0:
            own_slot[p], own_value[p], last_holder[s] = s, value[row], p
            publications[p] += 1


@kernel
def look_back(person: Ints, own: Ints, release: int, release_of: Ints, row_of: Ints, publications: Ints) -> int:
    """One release into where everyone stood last, the newest release first; gives how many were not met before.

    ``own``: for a person's number the entry that the last three arrays keep of him, -1 for none.
    """
    found = 0
    for row in range(len(person)):
        p = person[row]
        i = own[p] if 0 <= p < len(own) else -1
        if i < 0:
            continue
        publications[i] += 1
        if release_of[i] < 0:
            release_of[i], row_of[i] = release, row
            found += 1
    return found


@inner
def _scrambled(number: int) -> np.uint64:
    """The same 64 bits for the same number, all over the range (splitmix64)."""
    z = (np.uint64(number) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def meet(
    starts: Longs, rows: Ints, person: Ints, own: Ints, places: Ints, n_places: Ints,
    last_place: Ints, at: Ints, real: Ints, size: Ints, key: Words, member_starts: Longs,
    members: Ints, n_old: int,
) -> int:  # fmt: skip
    """One release, the oldest first, into who was with whom; gives how many groups there are then.

    ``own``: for a person's number his entry in ``places``, ``n_places``, ``last_place`` and ``at`` (everyone's group in
    this release), -1 for people who have none. A group that all its people were in last, and nobody else, keeps its
    number and need not be entered again; ``key`` tells who it was (but for a chance of 2^-64). A group of none but
    people without an entry gets no number.
    """
    n_groups = n_old
    largest = 0
    for g in range(len(starts) - 1):
        largest = max(largest, starts[g + 1] - starts[g])
    present = np.empty(largest, dtype=np.int32)
    for g in range(len(starts) - 1):
        who, n_real, here, last, same = np.uint64(0), 0, 0, -1, True
        for k in range(starts[g], starts[g + 1]):
            p = person[rows[k]]
            if p < 0:
                continue
            n_real += 1
            who += _scrambled(p)
            i = own[p] if p < len(own) else -1
            if i >= 0:
                same = same and (here == 0 or last_place[i] == last)
                last = last_place[i]
                present[here] = i
                here += 1
        if here == 0:
            continue
        n_rows = starts[g + 1] - starts[g]
        if not (same and last >= 0 and key[last] == who and real[last] == n_real and size[last] == n_rows):
            last = n_groups
            n_groups += 1
            key[last], real[last], size[last] = who, n_real, n_rows
            filled = member_starts[last]
            for k in range(here):
                i = present[k]
                places[i, n_places[i]] = last
                n_places[i] += 1
                last_place[i] = last
                members[filled + k] = i
            member_starts[last + 1] = filled + here
        for k in range(here):
            at[present[k]] = last
    return n_groups


@kernel
def distinct_values(starts: Longs, rows: Ints, value: Ints, wanted: Ints) -> tuple[Longs, Ints]:
    """The signature of each wanted group: its different values in order."""
    out_starts = np.zeros(len(wanted) + 1, dtype=np.int64)
    room = 0
    for g in wanted:
        room += starts[g + 1] - starts[g]
    out = np.empty(room, dtype=np.int32)
    at = 0
    for w in range(len(wanted)):
        g, first = wanted[w], at
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
        out_starts[w + 1] = at
    return out_starts, out[:at]


@kernel
def number_sets(starts: Longs, values: Ints) -> tuple[Longs, Longs]:
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
