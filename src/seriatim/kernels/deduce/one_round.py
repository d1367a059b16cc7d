"""The two private value restriction functions of Cor-Split, each applied once to what is known."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Words, kernel, leaf
from seriatim.kernels.deduce.board import Board, bit_place, lowest_bit, n_left


@kernel
def narrow_by_compromised(board: Board, read: Words) -> Words:
    """Return the candidates after ct-pvr: a value whose every row in a group is known is nobody else's there."""
    cand = read.copy()
    held = np.zeros(64 * read.shape[1], dtype=np.int32)
    taken = np.zeros(read.shape[1], dtype=np.uint64)
    for group in range(len(board.mem_ptr) - 1):
        for i in range(board.mem_ptr[group], board.mem_ptr[group + 1]):
            episode = board.mem[i]
            if n_left(read, episode) == 1:
                for word in range(read.shape[1]):
                    if read[episode, word] != 0:
                        held[(word << 6) + bit_place(lowest_bit(read[episode, word]))] += 1
        for word in range(len(taken)):
            taken[word] = np.uint64(0)
        for i in range(board.sig_ptr[group], board.sig_ptr[group + 1]):
            value = board.sig_val[i]
            if held[value] >= board.sig_cnt[i]:
                taken[value >> 6] |= np.uint64(1) << np.uint64(value & 63)
            held[value] = 0
        for i in range(board.mem_ptr[group], board.mem_ptr[group + 1]):
            episode = board.mem[i]
            if n_left(read, episode) > 1:
                for word in range(read.shape[1]):
                    cand[episode, word] &= ~taken[word]
    return cand


@leaf
def _same_values(board: Board, group: int, other: int) -> bool:
    """Return whether two groups publish the same values, each as often."""
    length = board.sig_ptr[group + 1] - board.sig_ptr[group]
    if board.sig_ptr[other + 1] - board.sig_ptr[other] != length:
        return False
    for i in range(length):
        own, its = board.sig_ptr[group] + i, board.sig_ptr[other] + i
        if board.sig_val[own] != board.sig_val[its] or board.sig_cnt[own] != board.sig_cnt[its]:
            return False
    return True


@kernel
def alike_overlaps(board: Board, pair_ptr: Longs, pair: Ints) -> tuple[Longs, Ints]:
    """Return of pairs of groups those that hc-pvr reads: the same published values, and the other without counterfeits.

    In a long series nearly all groups that share a person differ in their values; each draw would look at them again.
    """
    ptr = np.zeros(len(pair_ptr), dtype=np.int64)
    found = np.empty(len(pair), dtype=np.int32)
    n_found = 0
    for group in range(len(pair_ptr) - 1):
        for at in range(pair_ptr[group], pair_ptr[group + 1]):
            if board.counterfeits[pair[at]] == 0 and _same_values(board, group, pair[at]):
                found[n_found] = pair[at]
                n_found += 1
        ptr[group + 1] = n_found
    return ptr, found[:n_found].copy()


@kernel
def narrow_by_correlations(board: Board, pair_ptr: Longs, pair: Ints, read: Words) -> Words:
    """Return the candidates after hc-pvr.

    In two groups with the same published values, nobody left out of the common core holds a value that nobody on the
    other side may hold. The other side must be free of counterfeits: pairs are those of ``alike_overlaps``.
    """
    cand = read.copy()
    inside = np.full(len(read), -1, dtype=np.int32)
    some = np.zeros(read.shape[1], dtype=np.uint64)
    for group in range(len(board.mem_ptr) - 1):
        for at in range(pair_ptr[group], pair_ptr[group + 1]):
            other = pair[at]
            for i in range(board.mem_ptr[group], board.mem_ptr[group + 1]):
                inside[board.mem[i]] = 0
            for word in range(len(some)):
                some[word] = np.uint64(0)
            for i in range(board.mem_ptr[other], board.mem_ptr[other + 1]):
                episode = board.mem[i]
                if inside[episode] == 0:
                    inside[episode] = 1
                else:
                    for word in range(read.shape[1]):
                        some[word] |= read[episode, word]
            for i in range(board.mem_ptr[group], board.mem_ptr[group + 1]):
                episode = board.mem[i]
                if inside[episode] == 0:
                    for word in range(read.shape[1]):
                        cand[episode, word] &= some[word]
                inside[episode] = -1
    return cand
