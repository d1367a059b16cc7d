"""What a group tells each of its people: the weight of every value, given what is believed about all the others.

A group of k people publishes value s exactly m_s times. With beliefs P(r, s), the message to person r about value s is
the total weight of all assignments in which r has s, without r's own factor. Equal values are interchangeable, so a
table over vectors of used counts holds all assignments: prod(m_s + 1) entries, each of one layer (the number of people
placed). Above ``limit`` entries, belief propagation replaces it (the Bethe approximation of the permanent, with equal
values as equal columns). Rows and columns are scaled first, which changes no message but its scale, and keeps the
table within the range of floats.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs, Marks, inner, kernel, leaf

EXACT, PROPAGATED, IMPOSSIBLE = 0, 1, 2
"""How a group was judged; an impossible group (no assignment has weight) tells its people the counts alone."""
_SWEEPS = 4
_ROUNDS = 300
_CLOSE = 1e-9
_LEAST = 1e-13
_TINY = 1e-200


class MessageGroups(NamedTuple):
    """Groups of one or several releases: rows of people, group by group, and what each group published."""

    ptr: Longs
    """First row of each group."""
    val_ptr: Longs
    val: Ints
    cnt: Ints
    """Values and counts of each group, by ``val_ptr``."""

    @property
    def sizes(self) -> Longs:
        return np.diff(self.ptr)


@kernel
def group_messages(groups: MessageGroups, beliefs: Any, limit: int, out: Any) -> Marks:
    """Return how each group was judged; write into ``out`` what each group tells each of its people.

    ``beliefs`` and ``out`` have a row per person, group by group, and a column per value. Rows of ``out`` are
    scaled to a largest entry of 1. Values that a group does not publish get 0.
    """
    ptr, val_ptr, val, cnt = groups.ptr, groups.val_ptr, groups.val, groups.cnt
    how = np.zeros(len(ptr) - 1, dtype=np.int8)
    forward, backward = np.empty(limit), np.empty(limit)
    for group in range(len(ptr) - 1):
        n_people, n_values = ptr[group + 1] - ptr[group], val_ptr[group + 1] - val_ptr[group]
        if n_people == 0:
            continue
        chances, lam = np.empty((n_people, n_values)), np.zeros((n_people, n_values))
        scale = np.ones(n_values)
        counts = cnt[val_ptr[group] : val_ptr[group + 1]]
        for i in range(n_people):
            for j in range(n_values):
                chances[i, j] = beliefs[ptr[group] + i, val[val_ptr[group] + j]]
        size = 1
        for j in range(n_values):
            # it stops once it is too large: the product could leave the range of whole numbers
            size = size * (counts[j] + 1) if size <= limit else size
        fine = _balance_group_messages(chances, counts, scale)
        if fine and size <= limit:
            fine = _count(chances, counts, size, forward, backward, lam)
        elif fine:
            _propagate(chances, counts, lam)
            how[group] = PROPAGATED
        if not fine:
            how[group] = IMPOSSIBLE
        for i in range(n_people):
            row = ptr[group] + i
            for value in range(out.shape[1]):
                out[row, value] = 0.0
            top = 0.0
            for j in range(n_values):
                # columns were scaled to stay within floats; a message needs its column's factor back
                lam[i, j] = lam[i, j] * scale[j] if fine else float(counts[j])
                top = max(top, lam[i, j])
            for j in range(n_values):  # what underflowed says nothing
                out[row, val[val_ptr[group] + j]] = lam[i, j] / top if top > 0.0 else 1.0
    return how


@leaf
def _balance_group_messages(chances: Floats, counts: Ints, scale: Floats) -> bool:
    """Return whether any assignment can have weight; scale ``chances`` in place, its columns' factors into ``scale``.

    Rows come to sum to 1 and columns to their counts, nearly. A row or column that is all 0 leaves no assignment.
    """
    n_people, n_values = chances.shape
    for _ in range(_SWEEPS):
        for j in range(n_values):
            total = column_sum(chances, j)
            if not total > 0.0:
                return False
            factor = counts[j] / total
            scale[j] *= factor
            for i in range(n_people):
                chances[i, j] *= factor
        for i in range(n_people):
            total = row_sum(chances, i)
            if not total > 0.0:
                return False
            for j in range(n_values):
                chances[i, j] /= total
    return True


@leaf
def row_sum(chances: Floats, i: int) -> float:
    """Return the sum of a person's chances."""
    total = 0.0
    for j in range(chances.shape[1]):
        total += chances[i, j]
    return total


@leaf
def column_sum(chances: Floats, j: int) -> float:
    """Return the sum of a value's chances."""
    total = 0.0
    for i in range(chances.shape[0]):
        total += chances[i, j]
    return total


@inner
def _count(chances: Floats, counts: Ints, size: int, forward: Floats, backward: Floats, lam: Floats) -> bool:
    """Return whether any assignment has weight; fill ``lam`` from tables over vectors of used counts."""
    n_people, n_values = chances.shape
    stride, digit = np.ones(n_values, dtype=np.int64), np.zeros(n_values, dtype=np.int64)
    for j in range(1, n_values):
        # a vector of used counts is a number: place j has the base m_j + 1
        stride[j] = stride[j - 1] * (counts[j - 1] + 1)
    for used in range(size):
        forward[used] = 0.0
    forward[0] = 1.0
    layer = 0
    # a vector follows only from smaller numbers, so one pass meets each after all it follows from
    for used in range(size - 1):
        weight = forward[used]
        if weight > 0.0:
            for j in range(n_values):
                if digit[j] < counts[j]:
                    forward[used + stride[j]] += weight * chances[layer, j]
        j = 0
        # count on by one: full places carry over, and the layer is the sum of all places
        while digit[j] == counts[j]:
            layer -= digit[j]
            digit[j] = 0
            j += 1
        digit[j] += 1
        layer += 1
    if not forward[size - 1] > 0.0:
        return False
    backward[size - 1] = 1.0
    for j in range(n_values):
        digit[j] = counts[j]
    layer = n_people
    # backward holds what is still to be placed: forward times backward is the weight of every way through
    for used in range(size - 2, -1, -1):
        j = 0
        while digit[j] == 0:
            digit[j] = counts[j]
            layer += counts[j]
            j += 1
        digit[j] -= 1
        layer -= 1
        total, weight = 0.0, forward[used]
        for j in range(n_values):
            if digit[j] < counts[j]:
                beyond = backward[used + stride[j]]
                total += chances[layer, j] * beyond
                lam[layer, j] += weight * beyond
        backward[used] = total
    return True


@inner
def _propagate(chances: Floats, counts: Ints, lam: Floats) -> None:
    """Fill ``lam`` by belief propagation: each single record of a value takes one person, each person one record."""
    n_people, n_values = chances.shape
    alpha, beta = np.empty((n_people, n_values)), np.ones((n_people, n_values))
    before = np.zeros((n_people, n_values))
    for _ in range(_ROUNDS):
        change = 0.0
        for i in range(n_people):
            total = 0.0
            for j in range(n_values):
                total += counts[j] * chances[i, j] * beta[i, j]
            for j in range(n_values):
                own = chances[i, j] * beta[i, j]
                # what the other values leave: where this one has nearly all of it, the difference may round to 0
                alpha[i, j] = chances[i, j] / max(total - own, _LEAST * total, _TINY)
                # messages may circle for ever while beliefs stand still: beliefs say when it is over
                share = own / max(total, _TINY)
                change = max(change, abs(share - before[i, j]))
                before[i, j] = share
        for j in range(n_values):
            total = 0.0
            for i in range(n_people):
                total += alpha[i, j]
            for i in range(n_people):
                beta[i, j] = 1.0 / max(total - alpha[i, j], _LEAST * total, _TINY)
        if change < _CLOSE:
            break
    for i in range(n_people):
        for j in range(n_values):
            lam[i, j] = counts[j] * beta[i, j]
