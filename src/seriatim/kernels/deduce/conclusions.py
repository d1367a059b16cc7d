"""What follows from groups about the values of people: candidate sets, narrowed to the fixed point.

Two groups g and h of different releases cut their people in three parts: K in both, X in g only, Y in h
only. Let M(a) be how many people of a part hold value a and S(a) how often it was published. Then

    M_X = S_g - M_K - fakes of g,    M_Y = S_h - M_K - fakes of h,    known <= M <= candidates,    sum M_K = |K|

gives bounds on every M. Where a bound is met by the people known to hold a, nobody else of that part can;
where the lower bound needs every candidate, all of them do. This one rule holds ct-pvr (no h), hc-pvr
(nobody in Y may hold a, so nobody in X does) and counting (the known values of both sides cover X).

"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Words, inner, kernel, leaf
from seriatim.kernels.deduce.board import (
    ONE,
    Board,
    Desk,
    board_bit_place,
    copy_board_row,
    count_board_bits,
    lowest_board_bit,
    n_left_on_board,
)


@kernel
def first_conclusions(board: Board, cand: Words) -> None:
    """Narrow ``cand`` in place by intersection: a value absent from one of a person's groups is none of theirs."""
    mask = np.zeros(cand.shape[1], dtype=np.uint64)
    for g in range(len(board.mem_ptr) - 1):
        for w in range(len(mask)):
            mask[w] = np.uint64(0)
        for i in range(board.sig_ptr[g], board.sig_ptr[g + 1]):
            a = board.sig_val[i]
            mask[a >> 6] |= ONE << np.uint64(a & 63)
        for i in range(board.mem_ptr[g], board.mem_ptr[g + 1]):
            for w in range(cand.shape[1]):
                cand[board.mem[i], w] &= mask[w]


@leaf
def _parts(board: Board, g: int, h: int, desk: Desk) -> int:
    """Return how many people are in g or h; put them on the desk with their part: 0 both, 1 only g, 2 only h."""
    i, i_end = board.mem_ptr[g], board.mem_ptr[g + 1]
    j, j_end = np.int64(0), np.int64(0)
    if h >= 0:
        j, j_end = board.mem_ptr[h], board.mem_ptr[h + 1]
    n = 0
    while i < i_end or j < j_end:
        if j >= j_end or (i < i_end and board.mem[i] < board.mem[j]):
            desk.who[n], desk.part[n] = board.mem[i], 1 if h >= 0 else 0
            i += 1
        elif i >= i_end or board.mem[j] < board.mem[i]:
            desk.who[n], desk.part[n] = board.mem[j], 2
            j += 1
        else:
            desk.who[n], desk.part[n] = board.mem[i], 0
            i += 1
            j += 1
        n += 1
    return n


@inner
def _look_plain(board: Board, g: int, h: int, n: int, read: Words, desk: Desk) -> int:
    """Return how many are left no value; put on the desk what the rule leaves, for groups alike: bits suffice."""
    sig = np.uint64(0)
    for i in range(board.sig_ptr[g], board.sig_ptr[g + 1]):
        sig |= ONE << np.uint64(board.sig_val[i])
    some = np.zeros(3, dtype=np.uint64)
    more = np.zeros(3, dtype=np.uint64)
    known = np.zeros(3, dtype=np.uint64)
    n_both = 0
    for i in range(n):
        word, p = read[desk.who[i], 0], desk.part[i]
        n_both += p == 0
        more[p] |= some[p] & word
        some[p] |= word
        if word & (word - ONE) == 0:
            known[p] |= word
    top = sig & some[0] & ~known[1] & ~known[2]
    low = known[0] | (sig if h < 0 else (sig & ~some[1]) | (sig & ~some[2]))
    if count_board_bits(low) == n_both:
        top = low
    elif count_board_bits(top) == n_both:
        low = top
    failed = 0
    for i in range(n):
        word, p = read[desk.who[i], 0], desk.part[i]
        desk.fresh[i, 0] = word
        if word & (word - ONE) == 0:
            continue
        may = top if p == 0 else sig & ~low
        must = low if p == 0 else sig & ~top
        left = word & may & ~known[p]
        forced = word & must & ~more[p]
        if forced != 0:
            left &= forced
        if left == 0:
            failed += 1
        else:
            desk.fresh[i, 0] = left
    return failed


@leaf
def _tally(n: int, read: Words, desk: Desk) -> None:
    """Count on the desk, per part and value, how many are known to hold it and how many may."""
    for i in range(n):
        e, p = desk.who[i], desk.part[i]
        desk.single[i] = n_left_on_board(read, e) == 1
        for w in range(read.shape[1]):
            word = read[e, w]
            while word != 0:
                bit = lowest_board_bit(word)
                a = (w << 6) + board_bit_place(bit)
                desk.may[p, a] += 1
                if desk.single[i]:
                    desk.holds[p, a] += 1
                word ^= bit


@leaf
def _tighten(desk: Desk, n_vals: int, p: int, size: int) -> None:
    """Narrow the bounds on the desk: the counts of a part add up to its size."""
    sum_lo, sum_hi = 0, 0
    for i in range(n_vals):
        sum_lo += desk.lo[p, desk.vals[i]]
        sum_hi += desk.hi[p, desk.vals[i]]
    for i in range(n_vals):
        a = desk.vals[i]
        lo, hi = desk.lo[p, a], desk.hi[p, a]
        desk.hi[p, a] = min(hi, size - (sum_lo - lo))
        desk.lo[p, a] = max(lo, size - (sum_hi - hi))


@inner
def _bound(board: Board, g: int, h: int, n: int, desk: Desk) -> int:
    """Return how many values there are; put bounds on every count of every part on the desk."""
    lo, hi, holds, may = desk.lo, desk.hi, desk.holds, desk.may
    sizes = np.zeros(3, dtype=np.int64)
    for i in range(n):
        sizes[desk.part[i]] += 1
    n_vals = 0
    for side in range(1, 3):
        q = g if side == 1 else h
        if q < 0:
            continue
        for i in range(board.sig_ptr[q], board.sig_ptr[q + 1]):
            a, s = board.sig_val[i], board.sig_cnt[i]
            if lo[0, a] < 0:
                lo[0, a], hi[0, a] = holds[0, a], may[0, a]
                desk.vals[n_vals] = a
                n_vals += 1
            lo[0, a] = max(lo[0, a], s - may[side, a] - board.fakes[q])
            hi[0, a] = min(hi[0, a], s - holds[side, a])
    _tighten(desk, n_vals, 0, sizes[0])
    for side in range(1, 3):
        q = g if side == 1 else h
        for i in range(n_vals):
            lo[side, desk.vals[i]], hi[side, desk.vals[i]] = 0, 0
        if q < 0:
            continue
        for i in range(board.sig_ptr[q], board.sig_ptr[q + 1]):
            a, s = board.sig_val[i], board.sig_cnt[i]
            lo[side, a] = max(holds[side, a], s - hi[0, a] - board.fakes[q])
            hi[side, a] = min(may[side, a], s - lo[0, a])
        _tighten(desk, n_vals, side, sizes[side])
    return n_vals


@inner
def _look_counts(board: Board, g: int, h: int, n: int, read: Words, desk: Desk) -> int:
    """Return how many are left no value; put on the desk what the rule leaves, whatever the groups publish."""
    _tally(n, read, desk)
    n_vals = _bound(board, g, h, n, desk)
    failed = 0
    for i in range(n):
        e, p = desk.who[i], desk.part[i]
        copy_board_row(read, e, desk.fresh, i)
        if desk.single[i]:
            continue
        left, forced = 0, -1
        for w in range(read.shape[1]):
            word = read[e, w]
            while word != 0:
                bit = lowest_board_bit(word)
                a = (w << 6) + board_bit_place(bit)
                word ^= bit
                if desk.hi[p, a] <= desk.holds[p, a]:
                    desk.fresh[i, w] &= ~bit
                else:
                    left += 1
                    if desk.lo[p, a] >= desk.may[p, a]:
                        forced = a
        if left == 0:
            failed += 1
            copy_board_row(read, e, desk.fresh, i)
        elif forced >= 0:
            for w in range(read.shape[1]):
                desk.fresh[i, w] = np.uint64(0)
            desk.fresh[i, forced >> 6] = ONE << np.uint64(forced & 63)
    for i in range(n_vals):
        for p in range(3):
            a = desk.vals[i]
            desk.holds[p, a], desk.may[p, a], desk.lo[p, a], desk.hi[p, a] = 0, 0, -1, 0
    return failed


@leaf
def _alike(board: Board, g: int, h: int) -> bool:
    """Return whether both are plain and publish the same values."""
    if h < 0 or not board.plain[g]:
        return bool(board.plain[g])
    length = board.sig_ptr[g + 1] - board.sig_ptr[g]
    if not board.plain[h] or board.sig_ptr[h + 1] - board.sig_ptr[h] != length:
        return False
    for i in range(length):  # noqa: SIM110 - compiled, no generators
        if board.sig_val[board.sig_ptr[g] + i] != board.sig_val[board.sig_ptr[h] + i]:
            return False
    return True


@inner
def look_for_conclusions(board: Board, g: int, h: int, read: Words, desk: Desk) -> tuple[int, int]:
    """Put the people of g and h (-1: g alone) and what they may still hold on the desk."""
    n = _parts(board, g, h, desk)
    if _alike(board, g, h):
        return n, _look_plain(board, g, h, n, read, desk)
    return n, _look_counts(board, g, h, n, read, desk)
