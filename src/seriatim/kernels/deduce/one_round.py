"""The two private value restriction functions of Cor-Split, each applied once to what is known."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Words, kernel, leaf
from seriatim.kernels.deduce.board import Board, board_bit_place, lowest_board_bit, n_left_on_board


@kernel
def one_round_by_compromised(board: Board, read: Words) -> Words:
    """Return the candidates after ct-pvr: a value whose every row in a group is known is nobody else's there."""
    cand = read.copy()
    held = np.zeros(64 * read.shape[1], dtype=np.int32)
    taken = np.zeros(read.shape[1], dtype=np.uint64)
    for g in range(len(board.mem_ptr) - 1):
        for i in range(board.mem_ptr[g], board.mem_ptr[g + 1]):
            e = board.mem[i]
            if n_left_on_board(read, e) == 1:
                for w in range(read.shape[1]):
                    if read[e, w] != 0:
                        held[(w << 6) + board_bit_place(lowest_board_bit(read[e, w]))] += 1
        for w in range(len(taken)):
            taken[w] = np.uint64(0)
        for i in range(board.sig_ptr[g], board.sig_ptr[g + 1]):
            a = board.sig_val[i]
            if held[a] >= board.sig_cnt[i]:
                taken[a >> 6] |= np.uint64(1) << np.uint64(a & 63)
            held[a] = 0
        for i in range(board.mem_ptr[g], board.mem_ptr[g + 1]):
            e = board.mem[i]
            if n_left_on_board(read, e) > 1:
                for w in range(read.shape[1]):
                    cand[e, w] &= ~taken[w]
    return cand


@leaf
def _same_values(board: Board, g: int, h: int) -> bool:
    """Return whether two groups publish the same values, each as often."""
    length = board.sig_ptr[g + 1] - board.sig_ptr[g]
    if board.sig_ptr[h + 1] - board.sig_ptr[h] != length:
        return False
    for i in range(length):
        a, b = board.sig_ptr[g] + i, board.sig_ptr[h] + i
        if board.sig_val[a] != board.sig_val[b] or board.sig_cnt[a] != board.sig_cnt[b]:
            return False
    return True


@kernel
def one_round_by_correlations(board: Board, pair_ptr: Longs, pair: Ints, read: Words) -> Words:
    """Return the candidates after hc-pvr.

    In two groups with the same published values, nobody left out of the common core holds a value that nobody on the
    other side may hold. The other side must be free of counterfeits.
    """
    cand = read.copy()
    inside = np.full(len(read), -1, dtype=np.int32)
    some = np.zeros(read.shape[1], dtype=np.uint64)
    for g in range(len(board.mem_ptr) - 1):
        for k in range(pair_ptr[g], pair_ptr[g + 1]):
            h = pair[k]
            if board.counterfeits[h] > 0 or not _same_values(board, g, h):
                continue
            for i in range(board.mem_ptr[g], board.mem_ptr[g + 1]):
                inside[board.mem[i]] = 0
            for w in range(len(some)):
                some[w] = np.uint64(0)
            for i in range(board.mem_ptr[h], board.mem_ptr[h + 1]):
                e = board.mem[i]
                if inside[e] == 0:
                    inside[e] = 1
                else:
                    for w in range(read.shape[1]):
                        some[w] |= read[e, w]
            for i in range(board.mem_ptr[g], board.mem_ptr[g + 1]):
                e = board.mem[i]
                if inside[e] == 0:
                    for w in range(read.shape[1]):
                        cand[e, w] &= some[w]
                inside[e] = -1
    return cand
