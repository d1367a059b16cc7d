"""Beliefs about a group's people after they have seen the group: the three rules, group by group."""

from __future__ import annotations

from typing import Any

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Marks, kernel, leaf
from seriatim.kernels.belief.group_messages import IMPOSSIBLE, MessageGroups, column_sum, row_sum

_SWEEPS = 50
_CLOSE = 1e-9


@kernel
def omega_beliefs(groups: MessageGroups, beliefs: Any, out: Any) -> int:
    """Return how many groups have no weight; write the omega estimate m_s P(r, s) / sum_r P(r, s) into ``out``.

    Rows are scaled to 1.
    """
    impossible = 0
    ptr, val_ptr, val, cnt = groups.ptr, groups.val_ptr, groups.val, groups.cnt
    for group in range(len(ptr) - 1):
        n_people, n_values = ptr[group + 1] - ptr[group], val_ptr[group + 1] - val_ptr[group]
        column = np.zeros(n_values)
        for i in range(ptr[group], ptr[group + 1]):
            for j in range(n_values):
                column[j] += beliefs[i, val[val_ptr[group] + j]]
        empty = 0
        for i in range(ptr[group], ptr[group + 1]):
            total = 0.0
            for j in range(n_values):
                value = val[val_ptr[group] + j]
                total += cnt[val_ptr[group] + j] * beliefs[i, value] / column[j] if column[j] > 0.0 else 0.0
            empty += 0 if total > 0.0 else 1
            _clear(out, i)
            for j in range(n_values):
                value, count = val[val_ptr[group] + j], cnt[val_ptr[group] + j]
                part = count * beliefs[i, value] / column[j] if column[j] > 0.0 else 0.0
                out[i, value] = part / total if total > 0.0 else count / n_people
        impossible += 1 if empty == n_people and n_people > 0 else 0
    return impossible


@kernel
def sum_beliefs(groups: MessageGroups, beliefs: Any, out: Any) -> int:
    """Return how many groups have no weight; write into ``out`` posteriors that weigh the SUM of beliefs."""
    impossible = 0
    ptr, val_ptr, val, cnt = groups.ptr, groups.val_ptr, groups.val, groups.cnt
    for group in range(len(ptr) - 1):
        n_people, n_values = ptr[group + 1] - ptr[group], val_ptr[group + 1] - val_ptr[group]
        column, row, whole = np.zeros(n_values), np.zeros(n_people), 0.0
        for i in range(n_people):
            for j in range(n_values):
                belief = beliefs[ptr[group] + i, val[val_ptr[group] + j]]
                column[j] += belief
                row[i] += cnt[val_ptr[group] + j] * belief
            whole += row[i]
        impossible += 0 if whole > 0.0 or n_people == 0 else 1
        for i in range(n_people):
            _clear(out, ptr[group] + i)
            for j in range(n_values):
                value, count = val[val_ptr[group] + j], cnt[val_ptr[group] + j]
                if n_people == 1 or not whole > 0.0:
                    out[ptr[group] + i, value] = count / n_people
                else:
                    weight = n_people * beliefs[ptr[group] + i, value] + whole - row[i] - column[j]
                    out[ptr[group] + i, value] = max(count * weight / ((n_people - 1) * whole), 0.0)
    return impossible


@kernel
def bayes_beliefs(groups: MessageGroups, beliefs: Any, how: Marks, out: Any) -> None:
    """Multiply the messages in ``out`` with beliefs, in place; rows then sum to 1 and columns to their counts.

    Exact messages need one pass; what belief propagation left over after its last round is spread here. ``how`` is
    what the messages were made by: an impossible group gets its counts alone.
    """
    ptr, val_ptr, val, cnt = groups.ptr, groups.val_ptr, groups.val, groups.cnt
    for group in range(len(ptr) - 1):
        n_people, n_values = ptr[group + 1] - ptr[group], val_ptr[group + 1] - val_ptr[group]
        chances = np.empty((n_people, n_values))
        possible = how[group] != IMPOSSIBLE
        for i in range(n_people):
            total = 0.0
            for j in range(n_values):
                value = val[val_ptr[group] + j]
                chances[i, j] = beliefs[ptr[group] + i, value] * out[ptr[group] + i, value]
                total += chances[i, j]
            possible = possible and total > 0.0
        counts = cnt[val_ptr[group] : val_ptr[group + 1]]
        possible = possible and _fit(chances, counts)
        for i in range(n_people):
            for j in range(n_values):
                out[ptr[group] + i, val[val_ptr[group] + j]] = chances[i, j] if possible else counts[j] / n_people


@leaf
def _fit(chances: Floats, counts: Ints) -> bool:
    """Return whether every column has any weight; scale rows and columns of ``chances`` in place until both fit."""
    n_people, n_values = chances.shape
    for _ in range(_SWEEPS):
        for i in range(n_people):
            total = row_sum(chances, i)
            for j in range(n_values):
                chances[i, j] /= total
        off = 0.0
        for j in range(n_values):
            total = column_sum(chances, j)
            if not total > 0.0:
                return False
            off = max(off, abs(total - counts[j]))
        if off < _CLOSE:
            break
        for j in range(n_values):
            total = column_sum(chances, j)
            for i in range(n_people):
                chances[i, j] *= counts[j] / total
    return True


@leaf
def _clear(out: Any, row: int) -> None:
    """Set one row of ``out`` to 0."""
    for value in range(out.shape[1]):
        out[row, value] = 0.0
