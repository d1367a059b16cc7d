"""What follows from groups about the values of people: candidate sets, narrowed to the fixed point.

Two groups g and h of different releases cut their people in three parts: K in both, X in g only, Y in h
only. Let M(a) be how many people of a part hold value a and S(a) how often it was published. Then

    M_X = S_g - M_K - counterfeits of g,  M_Y = S_h - M_K - counterfeits of h,  known <= M <= candidates,  sum M_K = |K|

gives bounds on every M. Where a bound is met by the people known to hold a, nobody else of that part can;
where the lower bound needs every candidate, all of them do. This one rule holds ct-pvr (no h), hc-pvr
(nobody in Y may hold a, so nobody in X does) and counting (the known values of both sides cover X).

"""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Words, inner, kernel, leaf
from seriatim.kernels.deduce.board import ONE, Board, PairScratch, bit_place, copy_row, count_bits, lowest_bit, n_left


@kernel
def intersect_groups(board: Board, cand: Words) -> None:
    """Narrow ``cand`` in place by intersection: a value absent from one of a person's groups is none of theirs."""
    mask = np.zeros(cand.shape[1], dtype=np.uint64)
    for group in range(len(board.mem_ptr) - 1):
        for column in range(len(mask)):
            mask[column] = np.uint64(0)
        for i in range(board.sig_ptr[group], board.sig_ptr[group + 1]):
            value = board.sig_val[i]
            mask[value >> 6] |= ONE << np.uint64(value & 63)
        for i in range(board.mem_ptr[group], board.mem_ptr[group + 1]):
            for column in range(cand.shape[1]):
                cand[board.mem[i], column] &= mask[column]


@leaf
def _parts(board: Board, group: int, other: int, desk: PairScratch) -> int:
    """Return how many people are in either group; put them on the desk with their part: 0 both, 1 and 2 one only."""
    i, i_end = board.mem_ptr[group], board.mem_ptr[group + 1]
    j, j_end = np.int64(0), np.int64(0)
    if other >= 0:
        j, j_end = board.mem_ptr[other], board.mem_ptr[other + 1]
    n_people = 0
    # members are sorted in both groups: one walk along the two lists
    while i < i_end or j < j_end:
        if j >= j_end or (i < i_end and board.mem[i] < board.mem[j]):
            desk.who[n_people], desk.part[n_people] = board.mem[i], 1 if other >= 0 else 0
            i += 1
        elif i >= i_end or board.mem[j] < board.mem[i]:
            desk.who[n_people], desk.part[n_people] = board.mem[j], 2
            j += 1
        else:
            desk.who[n_people], desk.part[n_people] = board.mem[i], 0
            i += 1
            j += 1
        n_people += 1
    return n_people


@inner
def _look_plain(board: Board, group: int, other: int, n_people: int, read: Words, desk: PairScratch) -> int:
    """Return how many are left no value; put on the desk what the rule leaves, for groups alike: bits suffice."""
    sig = np.uint64(0)
    for i in range(board.sig_ptr[group], board.sig_ptr[group + 1]):
        sig |= ONE << np.uint64(board.sig_val[i])
    # per part, as bits of values: somebody may hold it, at least two may, and somebody is known to
    some = np.zeros(3, dtype=np.uint64)
    more = np.zeros(3, dtype=np.uint64)
    known = np.zeros(3, dtype=np.uint64)
    n_both = 0
    for i in range(n_people):
        word, part = read[desk.who[i], 0], desk.part[i]
        n_both += part == 0
        more[part] |= some[part] & word
        some[part] |= word
        # a word with a single bit: this value is known
        if word & (word - ONE) == 0:
            known[part] |= word
    # each value stands once in each group, so what one part surely holds no other part of that group can; `low` is what
    # the people in both surely hold, `top` all they can
    top = sig & some[0] & ~known[1] & ~known[2]
    low = known[0] | (sig if other < 0 else (sig & ~some[1]) | (sig & ~some[2]))
    # as many values as people: there is no room for another
    if count_bits(low) == n_both:
        top = low
    elif count_bits(top) == n_both:
        low = top
    failed = 0
    for i in range(n_people):
        word, part = read[desk.who[i], 0], desk.part[i]
        desk.fresh[i, 0] = word
        if word & (word - ONE) == 0:
            continue
        may = top if part == 0 else sig & ~low
        must = low if part == 0 else sig & ~top
        left = word & may & ~known[part]
        # a value that this part holds for certain and only one person can take is theirs
        forced = word & must & ~more[part]
        if forced != 0:
            left &= forced
        # no history that is true leaves somebody nothing: counted, and what was known before is kept
        if left == 0:
            failed += 1
        else:
            desk.fresh[i, 0] = left
    return failed


@leaf
def _tally(n_people: int, read: Words, desk: PairScratch) -> None:
    """Count on the desk, per part and value, how many are known to hold it and how many may."""
    for i in range(n_people):
        episode, part = desk.who[i], desk.part[i]
        desk.single[i] = n_left(read, episode) == 1
        for column in range(read.shape[1]):
            word = read[episode, column]
            while word != 0:
                bit = lowest_bit(word)
                value = (column << 6) + bit_place(bit)
                desk.may[part, value] += 1
                if desk.single[i]:
                    desk.holds[part, value] += 1
                word ^= bit


@leaf
def _tighten(desk: PairScratch, n_vals: int, part: int, size: int) -> None:
    """Narrow the bounds on the desk: the counts of a part add up to its size."""
    sum_lo, sum_hi = 0, 0
    for i in range(n_vals):
        sum_lo += desk.lo[part, desk.vals[i]]
        sum_hi += desk.hi[part, desk.vals[i]]
    for i in range(n_vals):
        value = desk.vals[i]
        lo, hi = desk.lo[part, value], desk.hi[part, value]
        desk.hi[part, value] = min(hi, size - (sum_lo - lo))
        desk.lo[part, value] = max(lo, size - (sum_hi - hi))


@inner
def _bound(board: Board, group: int, other: int, n_people: int, desk: PairScratch) -> int:
    """Return how many values there are; put bounds on every count of every part on the desk."""
    lo, hi, holds, may = desk.lo, desk.hi, desk.holds, desk.may
    sizes = np.zeros(3, dtype=np.int64)
    for i in range(n_people):
        sizes[desk.part[i]] += 1
    n_vals = 0
    for side in range(1, 3):
        one = group if side == 1 else other
        if one < 0:
            continue
        for i in range(board.sig_ptr[one], board.sig_ptr[one + 1]):
            value, shown = board.sig_val[i], board.sig_cnt[i]
            # -1 marks a value that neither group has shown yet
            if lo[0, value] < 0:
                lo[0, value], hi[0, value] = holds[0, value], may[0, value]
                desk.vals[n_vals] = value
                n_vals += 1
            # counterfeits may make up any part of what a group shows, and never add a holder: only the lower bounds
            # give way
            lo[0, value] = max(lo[0, value], shown - may[side, value] - board.counterfeits[one])
            hi[0, value] = min(hi[0, value], shown - holds[side, value])
    _tighten(desk, n_vals, 0, sizes[0])
    for side in range(1, 3):
        one = group if side == 1 else other
        for i in range(n_vals):
            lo[side, desk.vals[i]], hi[side, desk.vals[i]] = 0, 0
        if one < 0:
            continue
        for i in range(board.sig_ptr[one], board.sig_ptr[one + 1]):
            value, shown = board.sig_val[i], board.sig_cnt[i]
            lo[side, value] = max(holds[side, value], shown - hi[0, value] - board.counterfeits[one])
            hi[side, value] = min(may[side, value], shown - lo[0, value])
        _tighten(desk, n_vals, side, sizes[side])
    return n_vals


@inner
def _look_counts(board: Board, group: int, other: int, n_people: int, read: Words, desk: PairScratch) -> int:
    """Return how many are left no value; put on the desk what the rule leaves, whatever the groups publish."""
    _tally(n_people, read, desk)
    n_vals = _bound(board, group, other, n_people, desk)
    failed = 0
    for i in range(n_people):
        episode, part = desk.who[i], desk.part[i]
        copy_row(read, episode, desk.fresh, i)
        if desk.single[i]:
            continue
        left, forced = 0, -1
        for column in range(read.shape[1]):
            word = read[episode, column]
            while word != 0:
                bit = lowest_bit(word)
                value = (column << 6) + bit_place(bit)
                word ^= bit
                # all who can hold it in this part are known already, and this person is not one of them
                if desk.hi[part, value] <= desk.holds[part, value]:
                    desk.fresh[i, column] &= ~bit
                else:
                    left += 1
                    # everyone who may hold it must, this person too
                    if desk.lo[part, value] >= desk.may[part, value]:
                        forced = value
        if left == 0:
            failed += 1
            copy_row(read, episode, desk.fresh, i)
        elif forced >= 0:
            for column in range(read.shape[1]):
                desk.fresh[i, column] = np.uint64(0)
            desk.fresh[i, forced >> 6] = ONE << np.uint64(forced & 63)
    for i in range(n_vals):
        for part in range(3):
            value = desk.vals[i]
            # only what was touched is wiped: a board has many values, a pair of groups few
            desk.holds[part, value], desk.may[part, value], desk.lo[part, value], desk.hi[part, value] = 0, 0, -1, 0
    return failed


@leaf
def _alike(board: Board, group: int, other: int) -> bool:
    """Return whether both are plain and publish the same values."""
    if other < 0 or not board.plain[group]:
        return bool(board.plain[group])
    length = board.sig_ptr[group + 1] - board.sig_ptr[group]
    if not board.plain[other] or board.sig_ptr[other + 1] - board.sig_ptr[other] != length:
        return False
    for i in range(length):
        if board.sig_val[board.sig_ptr[group] + i] != board.sig_val[board.sig_ptr[other] + i]:
            return False
    return True


@kernel  # half of what the fixed point compiles: kept apart, it can be compiled beside it
def compare_groups(board: Board, group: int, other: int, read: Words, desk: PairScratch) -> tuple[int, int]:
    """Return how many people are in a group or another (-1: none) and whether that fails; put them on the desk.

    Beside each of them lies what they may still hold.
    """
    n_people = _parts(board, group, other, desk)
    if _alike(board, group, other):
        return n_people, _look_plain(board, group, other, n_people, read, desk)
    return n_people, _look_counts(board, group, other, n_people, read, desk)
