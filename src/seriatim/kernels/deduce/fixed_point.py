"""Candidate sets narrowed by every pair of groups until nothing moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Words, inner, kernel, leaf
from seriatim.kernels.deduce.board import (
    GROUP,
    LINK,
    PAIR,
    Board,
    EpisodeLinks,
    PairScratch,
    RemovalLog,
    WorkQueue,
    bit_place,
    copy_row,
    count_bits,
    lowest_bit,
)
from seriatim.kernels.deduce.conclusions import compare_groups

LOGGED, BY, FIRST_GROUP, OTHER_GROUP, LYING = range(5)
"""Where the work stands: how long the log is (-1: none is kept), the rule at work, its two groups, and how many people
lie on the desk."""


class StartingFacts(NamedTuple):
    """What is known before any conclusion."""

    board: Board
    links: EpisodeLinks


@inner
def _clean_desk(board: Board, n_words: int) -> PairScratch:
    """Return scratch space for the two largest groups, all counts zero."""
    most = 0
    for group in range(len(board.mem_ptr) - 1):
        most = max(most, board.mem_ptr[group + 1] - board.mem_ptr[group])
    room, n_values = 2 * most + 1, 64 * n_words
    return PairScratch(
        np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.bool_),
        np.empty((room, n_words), np.uint64), np.zeros((3, n_values), np.int32), np.zeros((3, n_values), np.int32),
        np.full((3, n_values), -1, np.int32), np.zeros((3, n_values), np.int32), np.empty(n_values, np.int32),
    )  # fmt: skip


@inner
def _push(queue: WorkQueue, item: int) -> None:
    """Put an item at the end of the queue unless it waits there already."""
    if not queue.waiting[item]:
        queue.waiting[item] = True
        queue.items[queue.ends[1]] = item
        queue.ends[1] = (queue.ends[1] + 1) % len(queue.items)


@leaf
def _pop(queue: WorkQueue) -> int:
    """Return the first item of the queue and take it out."""
    item = queue.items[queue.ends[0]]
    queue.ends[0] = (queue.ends[0] + 1) % len(queue.items)
    queue.waiting[item] = False
    return int(item)


@inner
def _grown(log: RemovalLog, n_kept: int) -> RemovalLog:
    """Return a copy of the log with more than twice the room; its first ``n`` entries are kept."""
    size = 2 * len(log.who) + 64
    who, rule, group, other = (
        np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    )  # fmt: skip
    gone = np.empty((size, log.gone.shape[1]), np.uint64)
    for i in range(n_kept):
        who[i], rule[i], group[i], other[i] = log.who[i], log.rule[i], log.group[i], log.other[i]
        copy_row(log.gone, i, gone, i)
    return RemovalLog(who, rule, group, other, gone)


@leaf
def _look_next(links: EpisodeLinks, episode: int, forward: bool, cand: Words, desk: PairScratch) -> int:
    """Put on the desk what an episode leaves its neighbour; return how many people lie there."""
    other = links.after[episode] if forward else links.before[episode]
    if other < 0:
        return 0
    table = links.may_follow if forward else links.may_precede
    desk.who[0] = other
    for column in range(cand.shape[1]):
        desk.fresh[0, column] = np.uint64(0)
    for column in range(cand.shape[1]):
        word = cand[episode, column]
        while word != 0:
            bit = lowest_bit(word)
            value = (column << 6) + bit_place(bit)
            # what may follow any of the values that are left
            for each in range(cand.shape[1]):
                desk.fresh[0, each] |= table[value, each]
            word ^= bit
    left = 0
    for column in range(cand.shape[1]):
        desk.fresh[0, column] &= cand[other, column]
        left += count_bits(desk.fresh[0, column])
    return 1 if left > 0 else 0


@inner
def _settle(
    case: StartingFacts, desk: PairScratch, cand: Words, queue: WorkQueue, log: RemovalLog, at: Longs
) -> RemovalLog:
    """Return the log with what changes; take what lies on the desk over into ``cand``, wake every group it touches."""
    board, links = case.board, case.links
    n_groups = len(board.mem_ptr) - 1
    for i in range(at[LYING]):
        episode, changed = desk.who[i], False
        for column in range(cand.shape[1]):
            changed |= desk.fresh[i, column] != cand[episode, column]
        if not changed:
            continue
        if at[LOGGED] >= 0:
            k = at[LOGGED]
            # a kernel cannot know beforehand how much will be removed
            if k == len(log.who):
                log = _grown(log, k)
            log.who[k], log.rule[k], log.group[k], log.other[k] = episode, at[BY], at[FIRST_GROUP], at[OTHER_GROUP]
            for column in range(cand.shape[1]):
                log.gone[k, column] = cand[episode, column] & ~desk.fresh[i, column]
            at[LOGGED] += 1
        copy_row(desk.fresh, i, cand, episode)
        # whoever shares a group with this person may now learn something as well
        for j in range(board.per_ptr[episode], board.per_ptr[episode + 1]):
            _push(queue, board.per[j])
        if links.before[episode] >= 0 or links.after[episode] >= 0:
            _push(queue, n_groups + episode)
    return log


@kernel
def narrow_fully(board: Board, links: EpisodeLinks, cand: Words, first: Ints, keep_log: bool) -> tuple[RemovalLog, int]:
    """Return the log and how often somebody is left no value; narrow ``cand`` in place until no rule removes anything.

    Returns the log and how often the rules left somebody no value at all: 0 for a history that is true.
    """
    n_groups, n_words = len(board.mem_ptr) - 1, cand.shape[1]
    desk = _clean_desk(board, n_words)
    n_items = n_groups + len(cand)
    queue = WorkQueue(np.empty(n_items + 1, np.int32), np.zeros(n_items, np.bool_), np.zeros(2, np.int64))
    for i in range(len(first)):
        _push(queue, first[i])
    none = np.empty(0, np.int32)
    log = RemovalLog(none, none, none, none, np.empty((0, n_words), np.uint64))
    case, at = StartingFacts(board, links), np.zeros(5, dtype=np.int64)
    at[LOGGED] = 0 if keep_log else -1
    failed = 0
    while queue.ends[0] != queue.ends[1]:
        group = _pop(queue)
        # numbers from here on are episodes, whose neighbours in time must hear what is left of them
        if group >= n_groups:
            at[BY], at[FIRST_GROUP], at[OTHER_GROUP] = LINK, group - n_groups, -1
            for forward in (True, False):
                at[LYING] = _look_next(links, group - n_groups, forward, cand, desk)
                log = _settle(case, desk, cand, queue, log, at)
            continue
        # the place before the first pair stands for the group alone
        for k in range(board.pair_ptr[group] - 1, board.pair_ptr[group + 1]):
            other = board.pair[k] if k >= board.pair_ptr[group] else -1
            at[LYING], bad = compare_groups(board, group, other, cand, desk)
            failed += bad
            at[BY], at[FIRST_GROUP], at[OTHER_GROUP] = GROUP if other < 0 else PAIR, group, other
            log = _settle(case, desk, cand, queue, log, at)
    n_logged = max(at[LOGGED], 0)
    return RemovalLog(
        log.who[:n_logged], log.rule[:n_logged], log.group[:n_logged], log.other[:n_logged], log.gone[:n_logged]
    ), failed
