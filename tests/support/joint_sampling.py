"""Exact beliefs about whole panels, by sampling the joint model of everyone's values.

A state of the sampler says who has which value in every release. A move takes two people who share groups, and draws
anew who of them has which of their two values in each of these, given everyone else: exactly, along both chains. It
shares nothing with the engine, and is slow: thousands of moves for each appearance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from seriatim.knowledge import SequenceModel
from seriatim.knowledge.appearances import Appearances


class _Chains(NamedTuple):
    """Everyone's appearances: rows in order of time, person by person, and the logs of chances."""

    ptr: np.ndarray
    rows: np.ndarray
    gap: np.ndarray
    """The table of the gap before each appearance."""
    cls: np.ndarray
    log_step: np.ndarray
    """(classes, gaps, values, values)"""
    log_prior: np.ndarray


def sampled_beliefs(rows: Appearances, model: SequenceModel, sweeps: int, seed: int) -> np.ndarray:
    """Return beliefs about each appearance; a sweep is a move per appearance, and the first fifth does not count.

    It starts from an assignment drawn at random, so that nothing of the truth is left in what it finds.
    """
    rng = np.random.default_rng(seed)
    value = rows.value.astype(np.int64)
    for first, last in zip(rows.groups.ptr[:-1], rows.groups.ptr[1:], strict=True):
        value[first:last] = rng.permutation(value[first:last])
    weight = np.zeros((len(value), rows.n_values))
    n_moves = sweeps * len(value)
    where = (rows.groups.ptr, rows.group.astype(np.int64), rows.person.astype(np.int64))
    _sample(_chains(rows, model), *where, value, (n_moves, n_moves // 5, seed), weight)
    return weight / weight.sum(axis=1, keepdims=True)


def _chains(rows: Appearances, model: SequenceModel) -> _Chains:
    gaps, which = np.unique(rows.people.gap, return_inverse=True)
    steps = np.stack(
        [[model._step(cls, max(int(gap), 1)) for gap in gaps.tolist()] for cls in range(len(model.classes))]
    )
    cls = np.zeros(len(rows.people.ptr) - 1, dtype=np.int64)
    cls[rows.person] = rows.people.cls
    logs = (np.log(np.maximum(chances, 1e-300)) for chances in (steps, model.prior))
    return _Chains(rows.people.ptr, rows.people.rows.astype(np.int64), which.astype(np.int64), cls, *logs)


@njit(cache=True)
def _sample(chains, group_ptr, group, person, value, plan, weight):  # type: ignore[no-untyped-def]
    """Move ``plan[0]`` times; add to ``weight`` for how many moves after ``plan[1]`` each row had each value."""
    n_moves, unread, seed = plan
    np.random.seed(seed)
    since = np.full(len(value), unread)
    at = np.empty((2, 64), dtype=np.int64)
    for move in range(n_moves):
        i = np.random.randint(len(value))
        g = group[i]
        j = group_ptr[g] + np.random.randint(group_ptr[g + 1] - group_ptr[g])
        if i == j:
            continue
        n = _shared(chains, group, person[i], person[j], at)
        swapped = _drawn(chains, value, person[i], person[j], at[:, :n])
        for k in np.flatnonzero(swapped):
            one, other = chains.rows[at[0, k]], chains.rows[at[1, k]]
            for row in (one, other):
                weight[row, value[row]] += max(move - since[row], 0)
                since[row] = max(move, unread)
            value[one], value[other] = value[other], value[one]
    for row in range(len(value)):
        weight[row, value[row]] += max(n_moves - since[row], 1)


@njit(cache=True)
def _shared(chains, group, one, other, at):  # type: ignore[no-untyped-def]
    """Write where two people are in one group to ``at``, and return how often."""
    n, a, b = 0, chains.ptr[one], chains.ptr[other]
    while a < chains.ptr[one + 1] and b < chains.ptr[other + 1]:
        here, there = group[chains.rows[a]], group[chains.rows[b]]
        if here == there:
            at[0, n], at[1, n] = a, b
            n += 1
        a, b = a + (here <= there), b + (there <= here)
    return n


@njit(cache=True)
def _drawn(chains, value, one, other, at):  # type: ignore[no-untyped-def]
    """Draw in which of their shared groups two people swap their values: filter forward, draw backward."""
    n = at.shape[1]
    own, step, ahead = np.zeros((n, 2)), np.zeros((n, 2, 2)), np.zeros((n, 2))
    held = np.empty((n, 2), dtype=np.int64)
    for k in range(n):
        held[k, 0], held[k, 1] = value[chains.rows[at[0, k]]], value[chains.rows[at[1, k]]]
    for side, who in enumerate((one, other)):
        for k in range(n):
            a, log_step = at[side, k], chains.log_step[chains.cls[who]]
            for s in range(2):
                v = held[k, side ^ s]
                if a == chains.ptr[who]:
                    own[k, s] += chains.log_prior[chains.cls[who], v]
                elif k > 0 and at[side, k - 1] == a - 1:
                    for r in range(2):
                        step[k, r, s] += log_step[chains.gap[a], held[k - 1, side ^ r], v]
                else:
                    own[k, s] += log_step[chains.gap[a], value[chains.rows[a - 1]], v]
                if a + 1 < chains.ptr[who + 1] and not (k + 1 < n and at[side, k + 1] == a + 1):
                    own[k, s] += log_step[chains.gap[a + 1], v, value[chains.rows[a + 1]]]
    for k in range(n):
        for s in range(2):
            ahead[k, s] = own[k, s]
            if k > 0:
                ahead[k, s] += np.logaddexp(ahead[k - 1, 0] + step[k, 0, s], ahead[k - 1, 1] + step[k, 1, s])
    swapped, later = np.zeros(n, dtype=np.bool_), 0
    for k in range(n - 1, -1, -1):
        odds = ahead[k, 1] - ahead[k, 0]
        if k + 1 < n:
            odds += step[k + 1, 1, later] - step[k + 1, 0, later]
        later = int(np.random.random() < 1.0 / (1.0 + np.exp(-odds)))
        swapped[k] = later == 1 and held[k, 0] != held[k, 1]
    return swapped
