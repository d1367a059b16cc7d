"""Figures of groups, and who met in them before: for the promises about a series."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, Words, kernel


@kernel
def value_profiles(starts: Longs, rows: Ints, value: Ints, salt: Words) -> tuple[Ints, Ints, Ints, Words]:
    """Return per group: distinct values, the count of the rarest and of the most frequent, a number for its set."""
    n_groups = len(starts) - 1
    distinct, fewest, most = (
        np.zeros(n_groups, dtype=np.int32), np.zeros(n_groups, dtype=np.int32), np.zeros(n_groups, dtype=np.int32)
    )  # fmt: skip
    key = np.zeros(n_groups, dtype=np.uint64)
    count = np.zeros(len(salt), dtype=np.int32)
    for group in range(n_groups):
        for i in range(starts[group], starts[group + 1]):
            code = value[rows[i]]
            if count[code] == 0:
                distinct[group] += 1
                key[group] += salt[code]
            count[code] += 1
        for i in range(starts[group], starts[group + 1]):
            times = count[value[rows[i]]]
            if times > 0:
                most[group] = max(most[group], times)
                fewest[group] = times if fewest[group] == 0 else min(fewest[group], times)
        for i in range(starts[group], starts[group + 1]):
            count[value[rows[i]]] = 0
    return distinct, fewest, most, key


@kernel
def group_value_sets(group: Ints, value: Ints, n_groups: int) -> Words:
    """Return a number for each group's set of values, of at most 64: a bit for each."""
    sets = np.zeros(n_groups, dtype=np.uint64)
    for i in range(len(group)):
        sets[group[i]] |= np.uint64(1) << np.uint64(value[i])
    return sets


@kernel
def met_before(own: Ints, n_rows: int, person: Ints, group: Ints) -> Ints:
    """Return for each row of a release the group that its person was in in another one, -1 for none.

    ``own``: the row of everyone by number, -1 for people without one; ``person`` and ``group`` are the other's rows.
    """
    met = np.full(n_rows, -1, dtype=np.int32)
    for i in range(len(person)):
        who = person[i]
        if who >= 0 and own[who] >= 0:
            met[own[who]] = group[i]
    return met


@kernel
def mark_moved(starts: Longs, met: Ints, sets: Words, old_sets: Words, moved: Flags) -> None:
    """Mark in ``moved`` the rows whose person was in a group with another set of values."""
    for group in range(len(starts) - 1):
        for i in range(starts[group], starts[group + 1]):
            if met[i] >= 0 and old_sets[met[i]] != sets[group]:
                moved[i] = True
