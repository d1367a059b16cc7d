"""All figures of every class in one pass over its counts.

Only the values that stand in a class are visited; what the others add is known from sums over the prior, so
a class of one record costs the same whether the column has ten values or ten thousand.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

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


@njit(cache=True, nogil=True)
def class_figures(
    starts: LongArray, value: IntArray, count: IntArray, totals: LongArray, prior: FloatArray, recursive_l: int
) -> FloatArray:
    """One row per figure, one column per class; nan where a class holds no value at all.

    ``totals`` counts each value over all classes; ``prior`` is positive wherever ``totals`` is.
    """
    n_classes = len(starts) - 1
    figures = np.full((len(FIGURES), n_classes), np.nan)
    below, area = _prior_sums(prior)
    squares = (prior * prior).sum()
    n_possible = (prior > 0.0).sum()
    certainty = _bits(prior)
    log_prior = np.log(np.maximum(prior, 1e-300))
    log_of = np.log(np.maximum(np.arange(_SMALL), 1))
    for c in range(n_classes):
        first, last = starts[c], starts[c + 1]
        size = count[first:last].sum()
        figures[SIZE, c] = size
        if size == 0:
            continue
        log_size = log_of[size] if size < _SMALL else math.log(size)
        kl = tv = near = touched = beta = delta = entropy = 0.0
        largest = exclusive = 0
        enhanced = True
        for i in range(first, last):
            n = count[i]
            x, a = n / size, prior[value[i]]
            log_x = (log_of[n] if n < _SMALL else math.log(n)) - log_size
            ratio = log_x - log_prior[value[i]]
            entropy -= x * log_x
            kl += x * ratio
            near += (x - a) * (x - a)
            touched += a * a
            delta = max(delta, abs(ratio))
            largest = max(largest, n)
            exclusive += n == totals[value[i]]
            if x > a:
                tv += x - a
                beta = max(beta, (x - a) / a)
                enhanced = enhanced and (x - a) / a <= -log_prior[value[i]] + 1e-12
        missing = n_possible - (last - first)
        bits = entropy / math.log(2.0)
        figures[DISTINCT_L, c] = last - first
        figures[ENTROPY_L, c] = math.exp(entropy)
        figures[RECURSIVE_C, c] = _recursive(count[first:last], size, recursive_l)
        figures[TV, c] = tv
        figures[EMD, c] = _ordered(value[first:last], count[first:last], size, below, area)
        figures[L_D, c] = math.sqrt(near + (max(squares - touched, 0.0) if missing else 0.0))
        figures[L_E, c] = certainty - bits
        figures[KL, c] = max(kl / math.log(2.0), 0.0)
        figures[BETA, c] = beta
        figures[BETA_ENHANCED, c] = beta if enhanced else np.inf
        figures[DELTA, c] = np.inf if missing else delta
        figures[DELTA_PRESENT, c] = delta
        figures[MAX_P, c] = largest / size
        figures[N_MISSING, c] = missing
        figures[N_EXCLUSIVE, c] = exclusive
    return figures


@njit(cache=True, nogil=True)
def _prior_sums(prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The prior's distribution function, and its own sums: ``area[i]`` over the values before i."""
    below = np.empty(len(prior))
    area = np.zeros(len(prior) + 1)
    reached = 0.0
    for i in range(len(prior)):
        reached += prior[i]
        below[i] = min(reached, 1.0)
        area[i + 1] = area[i] + below[i]
    return below, area


@njit(cache=True, nogil=True)
def _bits(prior: FloatArray) -> float:
    bits = 0.0
    for a in prior:
        if a > 0.0:
            bits -= a * math.log(a)
    return bits / math.log(2.0)


@njit(cache=True, nogil=True)
def _recursive(count: IntArray, size: int, recursive_l: int) -> float:
    """The smallest c with r_1 <= c (r_l + ... + r_m), counts from the most frequent on: the textbook's order."""
    largest = count.max()
    if recursive_l == 2:
        rest = size - largest
    else:
        ordered = np.sort(count)[::-1]
        rest = ordered[recursive_l - 1 :].sum()
    return largest / rest if rest > 0 else np.inf


@njit(cache=True, nogil=True)
def _ordered(value: IntArray, count: IntArray, size: int, below: FloatArray, area: FloatArray) -> float:
    """Earth mover's distance on ranks: between two values of the class its distribution function is flat."""
    m = len(below)
    if m < 2:
        return 0.0
    moved = area[value[0]]
    reached = 0
    for i in range(len(value)):
        reached += count[i]
        begin = value[i]
        end = value[i + 1] if i + 1 < len(value) else m
        level = reached / size
        crossing = begin + np.searchsorted(below[begin:end], level)
        moved += level * (crossing - begin) - (area[crossing] - area[begin])
        moved += (area[end] - area[crossing]) - level * (end - crossing)
    return float(max(moved, 0.0) / (m - 1))
