"""Beliefs about a group's people after they have seen the group: the three rules, group by group."""

from __future__ import annotations

from typing import Any

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Marks, kernel, leaf
from seriatim.kernels.belief.group_messages import IMPOSSIBLE, MessageGroups

_SWEEPS = 50
_CLOSE = 1e-9


@kernel
def group_posterior_omega(groups: MessageGroups, beliefs: Any, out: Any) -> int:
    """Write m_s P(r, s) / sum_r P(r, s), rows scaled to 1 (the omega estimate); count groups without any weight."""
    impossible = 0
    ptr, val_ptr, val, cnt = groups.ptr, groups.val_ptr, groups.val, groups.cnt
    for g in range(len(ptr) - 1):
        k, v = ptr[g + 1] - ptr[g], val_ptr[g + 1] - val_ptr[g]
        column = np.zeros(v)
        for i in range(ptr[g], ptr[g + 1]):
            for j in range(v):
                column[j] += beliefs[i, val[val_ptr[g] + j]]
        empty = 0
        for i in range(ptr[g], ptr[g + 1]):
            total = 0.0
            for j in range(v):
                s = val[val_ptr[g] + j]
                total += cnt[val_ptr[g] + j] * beliefs[i, s] / column[j] if column[j] > 0.0 else 0.0
            empty += 0 if total > 0.0 else 1
            _clear(out, i)
            for j in range(v):
                s, m = val[val_ptr[g] + j], cnt[val_ptr[g] + j]
                part = m * beliefs[i, s] / column[j] if column[j] > 0.0 else 0.0
                out[i, s] = part / total if total > 0.0 else m / k
        impossible += 1 if empty == k and k > 0 else 0
    return impossible


@kernel
def sum_posterior(groups: MessageGroups, beliefs: Any, out: Any) -> int:
    """Write the posterior whose configurations weigh the SUM of their beliefs; count groups without any weight."""
    impossible = 0
    ptr, val_ptr, val, cnt = groups.ptr, groups.val_ptr, groups.val, groups.cnt
    for g in range(len(ptr) - 1):
        k, v = ptr[g + 1] - ptr[g], val_ptr[g + 1] - val_ptr[g]
        column, row, whole = np.zeros(v), np.zeros(k), 0.0
        for i in range(k):
            for j in range(v):
                belief = beliefs[ptr[g] + i, val[val_ptr[g] + j]]
                column[j] += belief
                row[i] += cnt[val_ptr[g] + j] * belief
            whole += row[i]
        impossible += 0 if whole > 0.0 or k == 0 else 1
        for i in range(k):
            _clear(out, ptr[g] + i)
            for j in range(v):
                s, m = val[val_ptr[g] + j], cnt[val_ptr[g] + j]
                if k == 1 or not whole > 0.0:
                    out[ptr[g] + i, s] = m / k
                else:
                    weight = k * beliefs[ptr[g] + i, s] + whole - row[i] - column[j]
                    out[ptr[g] + i, s] = max(m * weight / ((k - 1) * whole), 0.0)
    return impossible


@kernel
def bayes_posterior(groups: MessageGroups, beliefs: Any, how: Marks, out: Any) -> None:
    """Multiply messages (in ``out``) with beliefs, in place, and make rows sum to 1 and columns to their counts.

    Exact messages need one pass; what belief propagation left over after its last round is spread here. ``how`` is
    what the messages were made by: an impossible group gets its counts alone.
    """
    ptr, val_ptr, val, cnt = groups.ptr, groups.val_ptr, groups.val, groups.cnt
    for g in range(len(ptr) - 1):
        k, v = ptr[g + 1] - ptr[g], val_ptr[g + 1] - val_ptr[g]
        b = np.empty((k, v))
        possible = how[g] != IMPOSSIBLE
        for i in range(k):
            total = 0.0
            for j in range(v):
                s = val[val_ptr[g] + j]
                b[i, j] = beliefs[ptr[g] + i, s] * out[ptr[g] + i, s]
                total += b[i, j]
            possible = possible and total > 0.0
        m = cnt[val_ptr[g] : val_ptr[g + 1]]
        possible = possible and _fit(b, m)
        for i in range(k):
            for j in range(v):
                out[ptr[g] + i, val[val_ptr[g] + j]] = b[i, j] if possible else m[j] / k


@leaf
def _fit(b: Floats, m: Ints) -> bool:
    """Scale rows and columns until both fit; return whether every column has any weight."""
    k, v = b.shape
    for _ in range(_SWEEPS):
        for i in range(k):
            total = 0.0
            for j in range(v):
                total += b[i, j]
            for j in range(v):
                b[i, j] /= total
        off = 0.0
        for j in range(v):
            total = 0.0
            for i in range(k):
                total += b[i, j]
            if not total > 0.0:
                return False
            off = max(off, abs(total - m[j]))
        if off < _CLOSE:
            break
        for j in range(v):
            total = 0.0
            for i in range(k):
                total += b[i, j]
            for i in range(k):
                b[i, j] *= m[j] / total
    return True


@leaf
def _clear(out: Any, row: int) -> None:
    for s in range(out.shape[1]):
        out[row, s] = 0.0
