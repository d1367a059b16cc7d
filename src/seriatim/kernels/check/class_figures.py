"""All figures of every class in one pass over its counts.

Only the values that stand in a class are visited; what the others add is known from sums over the prior, so
a class of one record costs the same whether the column has ten values or ten thousand.
"""

from __future__ import annotations

import math

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, inner, kernel, leaf

SIZE, DISTINCT_L, ENTROPY_L, RECURSIVE_C, TV, EMD, L_D, L_E = 0, 1, 2, 3, 4, 5, 6, 7
KL, BETA, BETA_ENHANCED, DELTA, DELTA_PRESENT, MAX_P, N_MISSING, N_EXCLUSIVE = 8, 9, 10, 11, 12, 13, 14, 15
FIGURES = (
    "size",
    "distinct_l",
    "entropy_l",
    "recursive_c",
    "tv",
    "emd",
    "l_d",
    "l_e",
    "kl",
    "beta",
    "beta_enhanced",
    "delta",
    "delta_present",
    "max_p",
    "n_missing",
    "n_exclusive",
)
"""The rows of the result, in order."""

_SMALL = 256
"""Counts below this have their logarithm looked up: most classes are small."""


@kernel
def class_figures(starts: Longs, value: Ints, count: Ints, totals: Longs, prior: Floats, recursive_l: int) -> Floats:
    """Return one row per figure, one column per class; nan where a class holds no value at all.

    ``totals`` counts each value over all classes; ``prior`` is positive wherever ``totals`` is.
    """
    n_classes = len(starts) - 1
    figures = np.full((len(FIGURES), n_classes), np.nan)
    below, area = _prior_sums(prior)
    certainty = _bits(prior)
    log_prior, log_of = np.empty(len(prior)), np.empty(_SMALL)
    squares, n_possible = 0.0, 0
    for code in range(len(prior)):
        squares += prior[code] * prior[code]
        n_possible += prior[code] > 0.0
        log_prior[code] = math.log(max(prior[code], 1e-300))
    for held in range(_SMALL):
        log_of[held] = math.log(max(held, 1))
    top = np.empty(max(recursive_l, 2), dtype=np.int64)
    for each in range(n_classes):
        first, last = starts[each], starts[each + 1]
        size = 0
        for i in range(first, last):
            size += count[i]
        figures[SIZE, each] = size
        if size == 0:
            continue
        log_size = log_of[size] if size < _SMALL else math.log(size)
        kl = tv = near = touched = beta = delta = entropy = 0.0
        largest = exclusive = 0
        enhanced = True
        for i in range(first, last):
            held = count[i]
            share, expected = held / size, prior[value[i]]
            log_share = (log_of[held] if held < _SMALL else math.log(held)) - log_size
            ratio = log_share - log_prior[value[i]]
            entropy -= share * log_share
            kl += share * ratio
            near += (share - expected) * (share - expected)
            touched += expected * expected
            delta = max(delta, abs(ratio))
            largest = max(largest, held)
            exclusive += held == totals[value[i]]
            if share > expected:
                tv += share - expected
                beta = max(beta, (share - expected) / expected)
                enhanced = enhanced and (share - expected) / expected <= -log_prior[value[i]] + 1e-12
        missing = n_possible - (last - first)
        # a value that the class lacks is off by its whole prior: all squares of the prior but those that were visited
        bits = entropy / math.log(2.0)
        figures[DISTINCT_L, each] = last - first
        figures[ENTROPY_L, each] = math.exp(entropy)
        figures[RECURSIVE_C, each] = _recursive(count[first:last], size, recursive_l, top)
        figures[TV, each] = tv
        figures[EMD, each] = _ordered(value[first:last], count[first:last], size, below, area)
        figures[L_D, each] = math.sqrt(near + (max(squares - touched, 0.0) if missing else 0.0))
        figures[L_E, each] = certainty - bits
        figures[KL, each] = max(kl / math.log(2.0), 0.0)
        figures[BETA, each] = beta
        figures[BETA_ENHANCED, each] = beta if enhanced else np.inf
        figures[DELTA, each] = np.inf if missing else delta
        figures[DELTA_PRESENT, each] = delta
        figures[MAX_P, each] = largest / size
        figures[N_MISSING, each] = missing
        figures[N_EXCLUSIVE, each] = exclusive
    return figures


@inner
def _prior_sums(prior: Floats) -> tuple[Floats, Floats]:
    """Return the prior's distribution function, and its own sums: ``area[i]`` over the values before i."""
    below = np.empty(len(prior))
    area = np.zeros(len(prior) + 1)
    reached = 0.0
    for i in range(len(prior)):
        reached += prior[i]
        below[i] = min(reached, 1.0)
        area[i + 1] = area[i] + below[i]
    return below, area


@leaf
def _bits(prior: Floats) -> float:
    """Return the entropy of the prior in bits."""
    bits = 0.0
    for share in prior:
        if share > 0.0:
            bits -= share * math.log(share)
    return bits / math.log(2.0)


@leaf
def _recursive(count: Ints, size: int, recursive_l: int, top: Longs) -> float:
    """Return the smallest c with r_1 <= c (r_l + ... + r_m), counts from the most frequent on.

    ``top`` is overwritten with the l - 1 largest counts.
    """
    n_top = 0
    for held in count:
        at = n_top
        n_top = min(n_top + 1, max(recursive_l - 1, 1))
        if at == n_top:  # full: the least one makes room, if it is less
            at -= 1
            if top[at] >= held:
                continue
        while at > 0 and top[at - 1] < held:
            top[at] = top[at - 1]
            at -= 1
        top[at] = held
    rest = size
    for rank in range(min(recursive_l - 1, n_top)):
        rest -= top[rank]
    return top[0] / rest if rest > 0 else np.inf


@leaf
def _ordered(value: Ints, count: Ints, size: int, below: Floats, area: Floats) -> float:
    """Return earth mover's distance on ranks: between two values of the class its distribution function is flat."""
    n_values = len(below)
    if n_values < 2:
        return 0.0
    moved = area[value[0]]
    reached = 0
    for i in range(len(value)):
        reached += count[i]
        begin = value[i]
        end = value[i + 1] if i + 1 < len(value) else n_values
        level = reached / size
        # the class is flat at this level until ``end``, the prior rises: where it crosses the level, the sign changes
        crossing, after = begin, end
        while crossing < after:
            middle = (crossing + after) >> 1
            if below[middle] < level:
                crossing = middle + 1
            else:
                after = middle
        moved += level * (crossing - begin) - (area[crossing] - area[begin])
        moved += (area[end] - area[crossing]) - level * (end - crossing)
    return float(max(moved, 0.0) / (n_values - 1))
