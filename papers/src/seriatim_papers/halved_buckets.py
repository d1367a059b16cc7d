"""The attacker knows the algorithm: the halves of buckets that made the groups of ``invariant`` and ``historical``.

They halve a bucket, people with equally frequent values, into groups with one of each. All values are halved at once,
so the groups on the left are those whose people lie lower on average. Where groups tie, it is granted which of them
went left. A cut that the truth contradicts was not made so: it is left out, and so are those below it.
"""

from __future__ import annotations

import numpy as np

from seriatim.attacks.method import ALIKE
from seriatim.attacks.traces_by_person import Traces, trace_bit_words
from seriatim.kernels.arrays import Flags, Ints, Longs, Singles
from seriatim.kernels.deduce.halvings import Halvings

ENTRIES = 20_000_000
"""People times cuts that are looked at, at most: halves of halves of a large table are left out."""


def halved_buckets(traces: Traces, place: Singles, since: int) -> list[Halvings]:
    """Return the cuts of all buckets, level by level: first each in two, then the halves, down to the groups."""
    groups, node = _buckets(traces, since)
    number = np.full(traces.n_groups, -1, dtype=np.int64)
    number[groups] = np.arange(len(groups))
    of = np.repeat(number, np.diff(traces.group_ptr))
    known = (of >= 0) & np.isfinite(place[traces.people]).all(axis=1)
    who, of = traces.people[known], of[known]
    found: list[Halvings] = []
    while len(groups) > 1 and len(who) and sum(len(one.who) for one in found) < ENTRIES:
        spot, sure = _along_widest(place[who], node[of], int(node.max()) + 1)
        right, sure = _upper_half(spot, of, node, sure)
        sure &= _agrees(traces, who, spot, right[of], node[of], len(sure))
        # a node that cannot be rebuilt ends its branch: nothing below it would be certain
        kept = sure[node]
        number = np.cumsum(kept) - 1
        inside = kept[of]
        groups, node, right, who, of, spot = (
            groups[kept], node[kept], right[kept], who[inside], number[of[inside]], spot[inside]
        )  # fmt: skip
        _, node = np.unique(node, return_inverse=True)
        if len(groups):
            found.append(_one_level(traces, groups, node, right, who, of, spot))
            _, node = np.unique(2 * node + right, return_inverse=True)
    return found


def _buckets(traces: Traces, since: int) -> tuple[Longs, Longs]:
    """Return the groups that hold each of two values or more once, and the bucket of each: of a release, by values."""
    width = np.diff(traces.sig_ptr)
    if not len(width):
        return width, width
    # groups whose numbers last are cut otherwise, and rebuilt above
    lasting = np.array(["lineage" in past.marks for past in traces.history])[traces.release_of]
    once = np.maximum.reduceat(traces.sig_cnt, traces.sig_ptr[:-1]) == 1
    groups = np.flatnonzero(once & (width > 1) & (traces.release_of >= since) & ~lasting)
    flags = np.zeros((traces.n_groups, traces.n_values), dtype=np.bool_)
    flags[np.repeat(np.arange(traces.n_groups), width), traces.sig_val] = True
    keys = np.column_stack((traces.release_of[groups].astype(np.uint64), trace_bit_words(flags[groups])))
    return groups, np.unique(keys, axis=0, return_inverse=True)[1].ravel()


def _along_widest(place: Singles, node: Longs, n_nodes: int) -> tuple[Singles, Flags]:
    """Return where people lie along the column in which those of their node differ most, and where that is certain."""
    n = np.maximum(np.bincount(node, minlength=n_nodes), 1)
    wide = place.astype(np.float64).T
    total, squares = (np.array([np.bincount(node, one, n_nodes) for one in part]) for part in (wide, wide**2))
    spread = squares - total**2 / n
    column = spread.argmax(axis=0)
    most = spread.max(axis=0)
    sure = (most > 0) & ((spread >= most * (1 - ALIKE)).sum(axis=0) == 1)
    return np.take_along_axis(place, column[node][:, None], axis=1)[:, 0], sure


def _upper_half(spot: Singles, of: Longs, node: Longs, sure: Flags) -> tuple[Flags, Flags]:
    """Return which groups are in the upper half of their node by their mean place, and which nodes have two halves."""
    n = np.bincount(of, minlength=len(node))
    order = np.lexsort((np.bincount(of, spot, len(node)) / np.maximum(n, 1), node))
    size = np.bincount(node, minlength=len(sure))
    first = np.cumsum(size) - size
    right = np.zeros(len(node), dtype=np.bool_)
    right[order] = np.arange(len(node)) - first[node[order]] >= (size // 2)[node[order]]
    return right, sure & (size > 1) & (np.bincount(node, n == 0, len(sure)) == 0)


def _agrees(traces: Traces, who: Ints, spot: Singles, right: Flags, node: Longs, n_nodes: int) -> Flags:
    """Return in which nodes the truth agrees: all holders of a value on the left lie at or below those on the right."""
    keys, at = np.unique(node * traces.n_values + traces.value[who], return_inverse=True)
    inner, outer = np.full(len(keys), -np.inf), np.full(len(keys), np.inf)
    np.maximum.at(inner, at[~right], spot[~right])
    np.minimum.at(outer, at[right], spot[right])
    out = np.ones(n_nodes, dtype=np.bool_)
    out[keys[inner > outer] // traces.n_values] = False
    return out


def _one_level(
    traces: Traces, groups: Longs, node: Longs, right: Flags, who: Ints, of: Longs, spot: Singles
) -> Halvings:
    """Return a cut for each node, between its groups on the left and on the right."""
    n, side = int(node.max()) + 1, 2 * node + right
    width = np.diff(traces.sig_ptr)[groups]
    shown = np.repeat(traces.sig_ptr[groups] - np.cumsum(width) + width, width) + np.arange(int(width.sum()))
    held = np.zeros((2 * n, traces.n_values + 1), dtype=np.int32)
    np.add.at(held, (np.repeat(side, width), traces.sig_val[shown]), 1)
    unknown = held.sum(axis=1) - np.bincount(side[of], minlength=2 * n)
    held = np.maximum(held - unknown[:, None], 0).astype(np.int32)
    order = np.lexsort((spot, node[of]))
    words = np.zeros((n, max(1, -(-traces.n_values // 64))), dtype=np.uint64)
    starts = np.concatenate(([0], np.cumsum(np.bincount(node[of], minlength=n)))).astype(np.int64)
    return Halvings(starts, who[order].astype(np.int32), spot[order], right[of][order], held, words)
