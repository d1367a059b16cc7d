"""A history's groups as arrays, and candidate sets as bits: value a is bit ``a % 64`` of word ``a // 64``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Ints, Longs, Words, kernel, leaf

GROUP, PAIR, LINK = 0, 1, 2
ONE = np.uint64(1)
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_PLACE = np.zeros(64, dtype=np.int64)
for _i in range(64):
    _PLACE[((0x03F79D71B4CB0A89 << _i) & 0xFFFFFFFFFFFFFFFF) >> 58] = _i


class Board(NamedTuple):
    """All groups of a history as arrays: members (real people only, in order), published values, counterfeits."""

    mem_ptr: Longs
    mem: Ints
    per_ptr: Longs
    per: Ints
    sig_ptr: Longs
    sig_val: Ints
    sig_cnt: Ints
    counterfeits: Ints
    plain: Flags
    """Groups with every value once and no counterfeits, in a domain of at most 64 values."""
    pair_ptr: Longs
    pair: Ints


class EpisodeLinks(NamedTuple):
    """Episodes of one respondent: the one before and after (-1 for none), and which value may follow which."""

    before: Ints
    after: Ints
    may_follow: Words
    may_precede: Words


class RemovalLog(NamedTuple):
    """What was removed, in order: from whom, by which rule, in which groups, which values."""

    who: Ints
    rule: Ints
    group: Ints
    other: Ints
    gone: Words


class PairScratch(NamedTuple):
    """Scratch for looking at two groups: their people, part and fresh candidates; counts per part and value."""

    who: Ints
    part: Ints
    single: Flags
    fresh: Words
    holds: Ints
    may: Ints
    lo: Ints
    """-1 between looks; the other counts are 0."""
    hi: Ints
    vals: Ints


class WorkQueue(NamedTuple):
    """Work to do: a group's number, or the number of groups plus an episode whose neighbours must hear of it."""

    items: Ints
    waiting: Flags
    ends: Longs


@leaf
def count_bits(word: int) -> int:
    """Return how many bits of a word are set."""
    bits = np.uint64(word)
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@leaf
def copy_row(source: Words, at: int, target: Words, to: int) -> None:
    """Overwrite row ``to`` of the target with row ``at`` of the source."""
    for column in range(source.shape[1]):
        target[to, column] = source[at, column]


@leaf
def n_left(cand: Words, episode: int) -> int:
    """Return how many values an episode may still have."""
    total = 0
    for column in range(cand.shape[1]):
        total += count_bits(cand[episode, column])
    return total


@leaf
def bit_place(bit: np.uint64) -> int:
    """Return which bit of its word a word with one bit is."""
    return int(_PLACE[(bit * _DE_BRUIJN) >> np.uint64(58)])


@leaf
def lowest_bit(word: np.uint64) -> np.uint64:
    """Return the word with only its lowest bit."""
    return word & (~word + ONE)


@kernel
def overlaps(mem_ptr: Longs, mem: Ints, per_ptr: Longs, per: Ints, least: int) -> tuple[Longs, Ints]:
    """Return for each group the groups that share at least ``least`` people with it, all its own excepted.

    A pair whose groups are the same people without anyone over teaches nothing and is left out.
    """
    n_groups = len(mem_ptr) - 1
    ptr = np.zeros(n_groups + 1, dtype=np.int64)
    shared = np.zeros(n_groups, dtype=np.int32)
    seen = np.empty(n_groups, dtype=np.int32)
    found = np.empty(max(16, n_groups), dtype=np.int32)
    n_found = 0
    for group in range(n_groups):
        n_seen = 0
        for i in range(mem_ptr[group], mem_ptr[group + 1]):
            episode = mem[i]
            for j in range(per_ptr[episode], per_ptr[episode + 1]):
                other = per[j]
                # met for the first time: the list of these is what is wiped at the end
                if shared[other] == 0:
                    seen[n_seen] = other
                    n_seen += 1
                shared[other] += 1
        size = mem_ptr[group + 1] - mem_ptr[group]
        if n_found + n_seen > len(found):
            grown = np.empty(max(2 * len(found), n_found + n_seen), dtype=np.int32)
            for i in range(n_found):
                grown[i] = found[i]
            found = grown
        for i in range(n_seen):
            other = seen[i]
            same = shared[other] == size and mem_ptr[other + 1] - mem_ptr[other] == size
            if other != group and shared[other] >= least and not same:
                found[n_found] = other
                n_found += 1
            shared[other] = 0
        ptr[group + 1] = n_found
    return ptr, found[:n_found].copy()
