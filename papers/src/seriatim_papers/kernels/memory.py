"""What one more release adds to the memory of a series: signatures and distinct groups of every person."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Words, inner, kernel


@kernel
def look_back_in_memory(
    person: Ints, own: Ints, release: int, release_of: Ints, row_of: Ints, publications: Ints
) -> int:
    """Return how many were not met before; update ``release_of``, ``row_of``, ``publications``, newest release first.

    ``own``: for a person's number the entry that the last three arrays keep of them, -1 for none.
    """
    found = 0
    for row in range(len(person)):
        who = person[row]
        i = own[who] if 0 <= who < len(own) else -1
        if i < 0:
            continue
        publications[i] += 1
        if release_of[i] < 0:
            release_of[i], row_of[i] = release, row
            found += 1
    return found


@inner
def _scrambled(number: int) -> np.uint64:
    """Return the same 64 bits for the same number, all over the range (splitmix64)."""
    bits = (np.uint64(number) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


class MemoryRows(NamedTuple):
    """The rows of a release: those of group i are ``rows[starts[i]:starts[i + 1]]``; who stands in each row."""

    starts: Longs
    rows: Ints
    person: Ints


class MemoryMeetings(NamedTuple):
    """Per person: the groups they were in, how many, the last one, and the one of this release."""

    places: Ints
    n_places: Ints
    last_place: Ints
    at: Ints


class MemoryGroups(NamedTuple):
    """Per group: real people, rows, a key that tells who they are (but for a chance of 2^-64), and members."""

    real: Ints
    size: Ints
    key: Words
    member_starts: Longs
    members: Ints


@kernel
def meet_in_memory(release: MemoryRows, own: Ints, people: MemoryMeetings, groups: MemoryGroups, n_old: int) -> int:
    """Return how many groups there are after one release, the oldest first; enter it in ``people`` and ``groups``.

    ``own``: for a person's number their entry in ``people``, -1 for people who have none. A group that all its people
    were in last, and nobody else, keeps its number and need not be entered again. A group of none but people without
    an entry gets no number.
    """
    starts, last_place = release.starts, people.last_place
    n_groups, largest = n_old, 0
    for group in range(len(starts) - 1):
        largest = max(largest, starts[group + 1] - starts[group])
    present = np.empty(largest, dtype=np.int32)
    for group in range(len(starts) - 1):
        who, n_real, here, last, same = np.uint64(0), 0, 0, -1, True
        for at in range(starts[group], starts[group + 1]):
            person = release.person[release.rows[at]]
            if person < 0:
                continue
            n_real += 1
            who += _scrambled(person)
            i = own[person] if person < len(own) else -1
            if i >= 0:
                same = same and (here == 0 or last_place[i] == last)
                last = last_place[i]
                present[here] = i
                here += 1
        if here == 0:
            continue
        n_rows = starts[group + 1] - starts[group]
        known = same and last >= 0 and groups.key[last] == who
        if not (known and groups.real[last] == n_real and groups.size[last] == n_rows):
            last = n_groups
            n_groups += 1
            groups.key[last], groups.real[last], groups.size[last] = who, n_real, n_rows
            filled = groups.member_starts[last]
            for k in range(here):
                i = present[k]
                people.places[i, people.n_places[i]] = last
                people.n_places[i] += 1
                last_place[i] = last
                groups.members[filled + k] = i
            groups.member_starts[last + 1] = filled + here
        for k in range(here):
            people.at[present[k]] = last
    return n_groups


@kernel
def distinct_in_memory(starts: Longs, rows: Ints, value: Ints, wanted: Ints) -> tuple[Longs, Ints]:
    """Return the signature of each wanted group: where it starts, and its different values in order."""
    out_starts = np.zeros(len(wanted) + 1, dtype=np.int64)
    room = 0
    for group in wanted:
        room += starts[group + 1] - starts[group]
    out = np.empty(room, dtype=np.int32)
    at = 0
    for which in range(len(wanted)):
        group, first = wanted[which], at
        for i in range(starts[group], starts[group + 1]):
            code = value[rows[i]]
            j = at
            while j > first and out[j - 1] > code:
                j -= 1
            if j > first and out[j - 1] == code:
                continue
            for k in range(at, j, -1):
                out[k] = out[k - 1]
            out[j] = code
            at += 1
        out_starts[which + 1] = at
    return out_starts, out[:at]


@kernel
def number_memory_sets(starts: Longs, values: Ints) -> tuple[Longs, Longs]:
    """Return the number of each ordered set, by first appearance, and which set each number stands for."""
    n_sets = len(starts) - 1
    width = 16
    while width < 2 * n_sets:
        width *= 2
    table = np.full(width, -1, dtype=np.int64)
    numbers = np.empty(n_sets, dtype=np.int64)
    first = np.empty(n_sets, dtype=np.int64)
    n_first = 0
    for which in range(n_sets):
        lo, size = starts[which], starts[which + 1] - starts[which]
        digest = np.uint64(1469598103934665603)
        for i in range(lo, lo + size):
            digest = (digest ^ np.uint64(values[i])) * np.uint64(1099511628211)
        at = np.int64((digest ^ (digest >> np.uint64(29))) & np.uint64(width - 1))
        while True:
            seen = table[at]
            if seen < 0:
                table[at] = n_first
                first[n_first] = which
                numbers[which] = n_first
                n_first += 1
                break
            other = starts[first[seen]]
            same = starts[first[seen] + 1] - other == size
            i = 0
            while same and i < size:
                same = values[lo + i] == values[other + i]
                i += 1
            if same:
                numbers[which] = seen
                break
            at = (at + 1) & (width - 1)
    return numbers, first[:n_first]
