"""Figures of groups and of what groups of two releases have in common: for the promises about a series."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, Words, kernel


@kernel
def rows_of_groups(group: Ints, n_groups: int) -> tuple[Longs, Ints]:
    """Return rows by group: those of group g are ``rows[starts[g]:starts[g + 1]]``."""
    starts = np.zeros(n_groups + 1, dtype=np.int64)
    for g in group:
        starts[g + 1] += 1
    for g in range(n_groups):
        starts[g + 1] += starts[g]
    at, rows = starts.copy(), np.empty(len(group), dtype=np.int32)
    for i in range(len(group)):
        rows[at[group[i]]] = i
        at[group[i]] += 1
    return starts, rows


@kernel
def describe_groups(starts: Longs, rows: Ints, value: Ints, salt: Words) -> tuple[Ints, Ints, Ints, Words]:
    """Return per group: distinct values, the count of the rarest and of the most frequent, a number for its set."""
    n_groups = len(starts) - 1
    distinct, fewest, most = (
        np.zeros(n_groups, dtype=np.int32), np.zeros(n_groups, dtype=np.int32), np.zeros(n_groups, dtype=np.int32)
    )  # fmt: skip
    key = np.zeros(n_groups, dtype=np.uint64)
    count = np.zeros(len(salt), dtype=np.int32)
    for g in range(n_groups):
        for i in range(starts[g], starts[g + 1]):
            a = value[rows[i]]
            if count[a] == 0:
                distinct[g] += 1
                key[g] += salt[a]
            count[a] += 1
        for i in range(starts[g], starts[g + 1]):
            c = count[value[rows[i]]]
            if c > 0:
                most[g] = max(most[g], c)
                fewest[g] = c if fewest[g] == 0 else min(fewest[g], c)
        for i in range(starts[g], starts[g + 1]):
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
def groups_met_in(own: Ints, n_rows: int, person: Ints, group: Ints) -> Ints:
    """Return for each row of a release the group that its person was in in another one, -1 for none.

    ``own``: the row of everyone by number, -1 for people without one; ``person`` and ``group`` are the other's rows.
    """
    met = np.full(n_rows, -1, dtype=np.int32)
    for i in range(len(person)):
        p = person[i]
        if p >= 0 and own[p] >= 0:
            met[own[p]] = group[i]
    return met


@kernel
def groups_met_others(starts: Longs, met: Ints, sets: Words, old_sets: Words, moved: Flags) -> None:
    """Mark the rows whose person was in a group with another set of values."""
    for g in range(len(starts) - 1):
        for i in range(starts[g], starts[g + 1]):
            if met[i] >= 0 and old_sets[met[i]] != sets[g]:
                moved[i] = True


@kernel
def correlated_groups(
    starts: Longs, counterfeits: Ints, met: Ints, old_size: Ints, old_fakes: Ints
) -> tuple[Ints, Flags]:
    """Return per group, against an earlier release, the lowest degree of a usable correlation, and subtraction holes.

    ``met`` gives for each row, group after group, its person's group in the earlier release, -1 for none. A
    counterfeit counts in a group's size and never in the common core; one group of the two must hold none, and the
    other somebody real outside the core. The degree is that of the smaller group. 0 stands for none.
    """
    n_groups = len(starts) - 1
    lowest, hole = np.zeros(n_groups, dtype=np.int32), np.zeros(n_groups, dtype=np.bool_)
    shared = np.zeros(len(old_size), dtype=np.int32)
    for g in range(n_groups):
        size = starts[g + 1] - starts[g]
        real = size - counterfeits[g]
        for i in range(starts[g], starts[g + 1]):
            if met[i] >= 0:
                shared[met[i]] += 1
        for i in range(starts[g], starts[g + 1]):
            h = met[i]
            if h < 0 or shared[h] == 0:
                continue
            core, least = shared[h], min(size, old_size[h])
            shared[h] = 0
            hole[g] |= core == least and size != old_size[h]
            clean, old_clean = size == real, old_fakes[h] == 0
            victim = (old_clean and real > core) or (clean and old_size[h] - old_fakes[h] > core)
            if victim and core < least and (lowest[g] == 0 or least - core < lowest[g]):
                lowest[g] = least - core
    return lowest, hole
