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
    """Write what each group tells each of its people to ``out``, rows scaled to a largest entry of 1.

    ``beliefs`` and ``out`` have a row per person, group by group, and a column per value. Values that a group does not
    publish get 0. Return how each group was judged.
    """
    ptr, val_ptr, val, cnt = groups.ptr, groups.val_ptr, groups.val, groups.cnt
    how = np.zeros(len(ptr) - 1, dtype=np.int8)
    forward, backward = np.empty(limit), np.empty(limit)
    for g in range(len(ptr) - 1):
        k, v = ptr[g + 1] - ptr[g], val_ptr[g + 1] - val_ptr[g]
        if k == 0:
            continue
        P, lam = np.empty((k, v)), np.zeros((k, v))
        scale = np.ones(v)
        m = cnt[val_ptr[g] : val_ptr[g + 1]]
        for i in range(k):
            for j in range(v):
                P[i, j] = beliefs[ptr[g] + i, val[val_ptr[g] + j]]
        size = 1
        for j in range(v):
            size = size * (m[j] + 1) if size <= limit else size
        fine = balance_group_messages(P, m, scale)
        if fine and size <= limit:
            fine = _count(P, m, size, forward, backward, lam)
        elif fine:
            _propagate(P, m, lam)
            how[g] = 1
        if not fine:
            how[g] = 2
        for i in range(k):
            row = ptr[g] + i
            for s in range(out.shape[1]):
                out[row, s] = 0.0
            top = 0.0
            for j in range(v):
                lam[i, j] = lam[i, j] * scale[j] if fine else float(m[j])
                top = max(top, lam[i, j])
            for j in range(v):  # what underflowed says nothing
                out[row, val[val_ptr[g] + j]] = lam[i, j] / top if top > 0.0 else 1.0
    return how


@leaf
def balance_group_messages(P: Floats, m: Ints, scale: Floats) -> bool:
    """Scale rows to 1 and columns to their counts, a few times; ``scale`` collects the factors of the columns.

    Return False where a row or column is all 0, since no assignment has any weight then.
    """
    k, v = P.shape
    for _ in range(_SWEEPS):
        for j in range(v):
            total = 0.0
            for i in range(k):
                total += P[i, j]
            if not total > 0.0:
                return False
            factor = m[j] / total
            scale[j] *= factor
            for i in range(k):
                P[i, j] *= factor
        for i in range(k):
            total = 0.0
            for j in range(v):
                total += P[i, j]
            if not total > 0.0:
                return False
            for j in range(v):
                P[i, j] /= total
    return True


@inner
def _count(P: Floats, m: Ints, size: int, forward: Floats, backward: Floats, lam: Floats) -> bool:
    """Fill ``lam`` from tables over vectors of used counts; return whether any assignment has weight."""
    k, v = P.shape
    stride, digit = np.ones(v, dtype=np.int64), np.zeros(v, dtype=np.int64)
    for j in range(1, v):
        stride[j] = stride[j - 1] * (m[j - 1] + 1)
    for x in range(size):
        forward[x] = 0.0
    forward[0] = 1.0
    layer = 0
    for x in range(size - 1):
        weight = forward[x]
        if weight > 0.0:
            for j in range(v):
                if digit[j] < m[j]:
                    forward[x + stride[j]] += weight * P[layer, j]
        j = 0
        while digit[j] == m[j]:
            layer -= digit[j]
            digit[j] = 0
            j += 1
        digit[j] += 1
        layer += 1
    if not forward[size - 1] > 0.0:
        return False
    backward[size - 1] = 1.0
    for j in range(v):
        digit[j] = m[j]
    layer = k
    for x in range(size - 2, -1, -1):
        j = 0
        while digit[j] == 0:
            digit[j] = m[j]
            layer += m[j]
            j += 1
        digit[j] -= 1
        layer -= 1
        total, weight = 0.0, forward[x]
        for j in range(v):
            if digit[j] < m[j]:
                beyond = backward[x + stride[j]]
                total += P[layer, j] * beyond
                lam[layer, j] += weight * beyond
        backward[x] = total
    return True


@inner
def _propagate(P: Floats, m: Ints, lam: Floats) -> None:
    """Fill ``lam`` by belief propagation: each single record of a value takes one person, each person one record."""
    k, v = P.shape
    alpha, beta = np.empty((k, v)), np.ones((k, v))
    before = np.zeros((k, v))
    for _ in range(_ROUNDS):
        change = 0.0
        for i in range(k):
            total = 0.0
            for j in range(v):
                total += m[j] * P[i, j] * beta[i, j]
            for j in range(v):
                own = P[i, j] * beta[i, j]
                alpha[i, j] = P[i, j] / max(total - own, _LEAST * total, _TINY)
                share = own / max(total, _TINY)
                change = max(change, abs(share - before[i, j]))
                before[i, j] = share
        for j in range(v):
            total = 0.0
            for i in range(k):
                total += alpha[i, j]
            for i in range(k):
                beta[i, j] = 1.0 / max(total - alpha[i, j], _LEAST * total, _TINY)
        if change < _CLOSE:
            break
    for i in range(k):
        for j in range(v):
            lam[i, j] = m[j] * beta[i, j]
