"""All figures of every class in one pass over its counts; and those that need more than counts.

Only the values that stand in a class are visited; what the others add is known from sums over the prior, so
a class of one record costs the same whether the column has ten values or ten thousand. Classes are sparse runs, see
``classes``.

Apart from that pass: earth mover's distance on a tree of values; how near an attacker comes to a number (the best hit
chance, and the entropy that is left; ``reach[v]`` is the last value that a window from value v holds); and what classes
drawn by lot would leak.
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
        # a value without a prior occurs in no class: its logarithm is never read
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
        # logarithms are most of the work
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
            # all of its records are here: whoever has it is in this class
            exclusive += held == totals[value[i]]
            if share > expected:
                # gains and losses are equally large in all, so half of the distance is the gains
                tv += share - expected
                beta = max(beta, (share - expected) / expected)
                # the bound of the definition, -ln of the prior
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


@kernel
def tree_distances(starts: Longs, value: Ints, count: Ints, margin: Floats, nodes: Ints) -> Floats:
    """Return earth mover's distance on a value tree; ``nodes[h, v]`` names the node at height h above value v.

    Classes are sparse runs, see ``classes``; nan for an empty one. Mass that cannot stay under a node of height h
    must pass above it: the distance is the sum over heights of what crosses, each step up and down costing
    1 / (2 top). That is the same number as matching surplus to lack node by node, reached another way.
    """
    n_classes, n_values, top = len(starts) - 1, len(margin), nodes.shape[0] - 1
    distance = np.full(n_classes, np.nan)
    surplus, lack = np.zeros(n_values), np.zeros((top, n_values))
    for height in range(top):
        for code in range(n_values):
            lack[height, nodes[height, code]] += margin[code]
    for each in range(n_classes):
        size = 0
        for i in range(starts[each], starts[each + 1]):
            size += count[i]
        if size == 0:
            continue
        crossing = 0.0
        for height in range(top):
            for node in range(n_values):
                surplus[node] = -lack[height, node]
            for i in range(starts[each], starts[each + 1]):
                surplus[nodes[height, value[i]]] += count[i] / size
            for node in range(n_values):
                crossing += abs(surplus[node])
        # what leaves one node arrives at another: each crossing was counted at both ends
        distance[each] = crossing / (2.0 * top)
    return distance


@kernel
def hit_chances_of_near_values(starts: Longs, value: Ints, count: Ints, reach: Longs) -> Floats:
    """Return the largest share of each class in one window; nan for an empty class."""
    chances = np.full(len(starts) - 1, np.nan)
    for each in range(len(chances)):
        last, size, inside, most = starts[each], 0, 0, 0
        for first in range(starts[each], starts[each + 1]):
            size += count[first]
            # both ends only move up, so a class costs as much as it has values
            while last < starts[each + 1] and value[last] <= reach[value[first]]:
                inside += count[last]
                last += 1
            most = max(most, inside)
            inside -= count[first]
        if size > 0:
            chances[each] = most / size
    return chances


@kernel
def entropies_of_near_values(starts: Longs, value: Ints, count: Ints, reach: Longs) -> Floats:
    """Return each class's least entropy, in bits, over partitions into windows; nan for an empty class."""
    entropies = np.full(len(starts) - 1, np.nan)
    longest = 0
    for each in range(len(entropies)):
        longest = max(longest, starts[each + 1] - starts[each])
    best = np.empty(longest + 1)
    for each in range(len(entropies)):
        begin, n_held, size = starts[each], starts[each + 1] - starts[each], 0
        for i in range(begin, starts[each + 1]):
            size += count[i]
        if size == 0:
            continue
        best[0] = 0.0
        for i in range(1, n_held + 1):
            best[i] = np.inf
        for first in range(n_held):
            held, last = 0, first
            while last < n_held and value[begin + last] <= reach[value[begin + first]]:
                held += count[begin + last]
                share = held / size
                best[last + 1] = min(best[last + 1], best[first] - share * math.log2(share))
                last += 1
        # what rounding leaves of certainty is certainty
        entropies[each] = best[n_held] if best[n_held] > 1e-12 else 0.0
    return entropies


@kernel
def leakage_of_random_classes(pool: Ints, prior: Floats, uniforms: Floats) -> Floats:
    """Return distribution leakages: row k - 1, column d is that of the first k records of draw d. Shuffles ``pool``.

    ``pool`` holds the value of every record and is shuffled in place: whatever order a draw leaves it in, the
    next partial shuffle of it is uniform again. ``uniforms`` has one number in [0, 1) per draw and record.
    """
    draws, largest = uniforms.shape
    leaks = np.empty((largest, draws))
    counts = np.zeros(len(prior), dtype=np.int64)
    squares = 0.0
    for share in prior:
        squares += share * share
    for draw in range(draws):
        same, along = 0, 0.0
        for i in range(largest):
            j = i + int(uniforms[draw, i] * (len(pool) - i))
            pool[i], pool[j] = pool[j], pool[i]
            value = pool[i]
            # the square of a count grows by this when one record comes in
            same += 2 * counts[value] + 1
            counts[value] += 1
            along += prior[value]
            k = i + 1
            leaks[i, draw] = math.sqrt(max(same / (k * k) - 2.0 * along / k + squares, 0.0))
        # wiped by the same records, not over all values
        for i in range(largest):
            counts[pool[i]] = 0
    return leaks
