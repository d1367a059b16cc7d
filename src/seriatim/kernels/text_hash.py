"""Numbers for texts by hashing: keyed ones, and places among known texts with new ones after them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Bytes, Flags, Ints, Longs, Words, inlined, kernel, leaf

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
LOW = np.uint64(0xFFFFFFFF)
BLOCK = 256


class Texts(NamedTuple):
    """Texts as bytes, one after the other: text i is ``data[starts[i]:starts[i + 1]]``."""

    starts: Longs
    data: Bytes
    there: Flags
    """Which are there; empty when all are."""


@inlined
def _hash(texts: Texts, i: int, key: np.uint64) -> np.uint64:
    """Return a number for text i that nobody can foresee without the key."""
    digest = key
    for at in range(texts.starts[i], texts.starts[i + 1]):
        digest = (digest ^ np.uint64(texts.data[at])) * np.uint64(0x100000001B3)
        digest ^= digest >> np.uint64(29)
    digest *= np.uint64(0x9E3779B97F4A7C15)
    return digest ^ (digest >> np.uint64(32))


@inlined
def _find(table: Words, digest: np.uint64, texts: Texts, i: int, first: Ints, own: Texts) -> tuple[np.uint64, int]:
    """Return where text i with this hash stands or would stand in the table, and its number there, -1 for none.

    A slot holds half of a hash and a number, so that texts are compared only where they are the same, but for a
    chance of 2^-32. ``first``: for each number its row in the table's own texts.
    """
    starts, data, own_starts, own_data = texts.starts, texts.data, own.starts, own.data
    mask, size = np.uint64(len(table) - 1), starts[i + 1] - starts[i]
    at, found = digest & mask, -1
    while found < 0 and table[at] != EMPTY:
        if (table[at] & ~LOW) == (digest & ~LOW):
            number = int(np.int64(table[at] & LOW))  # unsigned and signed numbers would meet as floats
            here, there = starts[i], own_starts[first[number]]
            same = own_starts[first[number] + 1] - there == size
            for k in range(size if same else 0):
                same = same and data[here + k] == own_data[there + k]
            if same:
                found = number
        if found < 0:
            at = (at + np.uint64(1)) & mask
    return at, found


@leaf
def _hash_block(texts: Texts, begin: int, end: int, key: np.uint64, table: Words, hashes: Words) -> np.uint64:
    """Write the hashes of some texts into ``hashes``; return what stands in the table where they begin to look."""
    looks, mask = np.uint64(0), np.uint64(len(table) - 1)
    for i in range(begin, end):
        # many looks side by side: memory answers them together, where one alone would wait for it
        hashes[i - begin] = _hash(texts, i, key)
        looks ^= table[hashes[i - begin] & mask]
    return looks


@kernel
def digest_texts(texts: Texts, key: np.uint64) -> Words:
    """Return a number for each text that nobody can foresee without the key; 0 for those that are not there."""
    n_texts = len(texts.starts) - 1
    found = np.zeros(n_texts, dtype=np.uint64)
    for i in range(n_texts):
        if not len(texts.there) or texts.there[i]:
            found[i] = _hash(texts, i, key)
    return found


@kernel
def number_texts(known: Texts, wanted: Texts, key: np.uint64) -> tuple[Ints, Ints]:
    """Return the number of each wanted text, -1 for none; and the rows in which the new ones stand first.

    The table holds the wanted texts and the known ones, which are more, only pass by: it stays small. Both come in
    blocks: many looks into the table at once, where each alone would wait.
    """
    n_known, n_wanted = len(known.starts) - 1, len(wanted.starts) - 1
    width = 16
    # at most half full, so that searches stay short
    while width < 2 * n_wanted:
        width *= 2
    table = np.full(width, EMPTY, dtype=np.uint64)
    number, first, n_texts = np.full(n_wanted, -1, dtype=np.int32), np.empty(n_wanted, dtype=np.int32), 0
    hashes, looks = np.empty(BLOCK, dtype=np.uint64), np.uint64(0)
    for begin in range(0, n_wanted, BLOCK):
        end = min(begin + BLOCK, n_wanted)
        looks ^= _hash_block(wanted, begin, end, key, table, hashes)
        for i in range(begin, end):
            if len(wanted.there) and not wanted.there[i]:
                continue
            digest = hashes[i - begin]
            at, found = _find(table, digest, wanted, i, first, wanted)
            if found < 0:
                found = n_texts
                table[at], first[found] = (digest & ~LOW) | np.uint64(found), i
                n_texts += 1
            number[i] = found
    place = np.full(n_texts, -1, dtype=np.int32)
    for begin in range(0, n_known, BLOCK):
        end = min(begin + BLOCK, n_known)
        looks ^= _hash_block(known, begin, end, key, table, hashes)
        for i in range(begin, end):
            if len(known.there) and not known.there[i]:
                continue
            _, found = _find(table, hashes[i - begin], known, i, first, wanted)
            if found >= 0:
                place[found] = i
    hashes[0] = looks  # so that the looks are not taken for idle
    fresh, n_fresh = np.empty(n_texts, dtype=np.int32), 0
    for found in range(n_texts):
        if place[found] < 0:
            place[found], fresh[n_fresh] = n_known + n_fresh, first[found]
            n_fresh += 1
    for i in range(n_wanted):
        if number[i] >= 0:
            number[i] = place[number[i]]
    return number, fresh[:n_fresh]
