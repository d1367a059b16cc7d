"""Twins: people whose values are forced to be equal by any linear combination of groups.

Let x be 1 for the people who hold some value. Every group without counterfeits says how often the value
occurs in it: one linear equation, the same for every value but for its right side. Two people are forced
to be equal when their difference is a combination of these equations: when every vector of the null space
has equal entries for both. One random vector tells them apart with near certainty, so that is all we need.
Union and subtraction of groups, chains over many releases: all of it is this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.attacks.traces import Traces, trace
from seriatim.kernels.search.board import Flags, Ints, Offsets
from seriatim.kernels.search.nullspace import PRIME, Field, peel, solve_dense, substitute
from seriatim.model.chance import open_chance
from seriatim.model.history import History

DENSE = 600
"""Blocks of the core up to this many columns are solved exactly; larger ones first lose what is settled."""
SETTLED = 1e-7


def twins(history: History) -> list[set[Any]]:
    """Sets of respondents who must hold equal values, whoever is or is not compromised.

    People whose value follows from the groups alone (see :func:`determined`) are equal to all others with
    that value, and are listed so.
    """
    traces = trace(history)
    mark = _marks(traces)
    lone = (mark >= 0).all(axis=0)
    at = np.flatnonzero(lone)
    keys = np.stack([mark[0, at], mark[1, at], traces.value[at]])
    _, which, sizes = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    ids = history.respondents.take(traces.respondent[at]).to_pylist()
    sets: dict[int, set[Any]] = {}
    for who, cluster in zip(ids, which.ravel().tolist(), strict=True):
        if sizes[cluster] > 1:
            sets.setdefault(cluster, set()).add(who)
    return [held for held in sets.values() if len(held) > 1]


def determined(history: History) -> dict[Any, Any]:
    """Respondents whose value follows from the groups alone by linear combination, and that value."""
    traces = trace(history)
    at = np.flatnonzero(~_marks(traces).any(axis=0))
    ids = history.respondents.take(traces.respondent[at]).to_pylist()
    return dict(zip(ids, history.values.take(traces.value[at]).to_pylist(), strict=True))


@dataclass(frozen=True)
class _System:
    """Distinct groups without counterfeits (rows) and distinct traces (columns)."""

    row_ptr: Offsets
    row_col: Ints
    col_ptr: Offsets
    col_row: Ints

    @property
    def n_rows(self) -> int:
        return len(self.row_ptr) - 1

    @property
    def n_cols(self) -> int:
        return len(self.col_ptr) - 1


def _marks(traces: Traces) -> Field:
    """Two numbers per episode: equal for people whose values differ by a known amount, 0 when known, -1 when free."""
    system, column = _system(traces)
    vector = null_vector(system)
    shared = np.bincount(column, minlength=system.n_cols) > 1
    marks = np.asarray(vector[:, column])
    # people with the same trace can be exchanged, so none of them is bound to anyone
    marks[:, shared[column]] = -1
    return marks


def _system(traces: Traces) -> tuple[_System, Ints]:
    """The distinct rows and columns, and the column of each episode."""
    chance = open_chance(0, "twins")
    n_groups, n_people = traces.n_groups, len(traces.respondent)
    group_of = np.repeat(np.arange(n_groups), np.diff(traces.group_ptr))
    salt = chance.integers(0, 1 << 63, size=n_people, dtype=np.uint64)
    usable = (traces.fakes == 0) & (np.diff(traces.group_ptr) > 0)
    kept = _first_of_each(_sums(salt[traces.people], group_of, n_groups), usable)
    row_salt = np.where(kept, chance.integers(1, 1 << 63, size=n_groups, dtype=np.uint64), np.uint64(0))
    column_key = _sums(row_salt[group_of], traces.people, n_people)
    _, column = np.unique(column_key, return_inverse=True)
    n_cols = int(column.max()) + 1 if len(column) else 0
    row_number = np.cumsum(kept) - 1
    inside = kept[group_of]
    pairs = np.unique(row_number[group_of[inside]] * max(n_cols, 1) + column[traces.people[inside]])
    rows, cols = pairs // max(n_cols, 1), pairs % max(n_cols, 1)
    by_col = np.argsort(cols, kind="stable")
    n_rows = int(kept.sum())
    return (
        _System(_offsets(rows, n_rows), cols.astype(np.int32), _offsets(cols, n_cols), rows[by_col].astype(np.int32)),
        column.astype(np.int32),
    )


def null_vector(system: _System) -> Field:
    """Two random vectors of the null space; exact but for the chance 2^-31 of a bad prime or draw.

    Only a core block that stays larger than ``DENSE`` after everything settled is taken out is judged by
    floating point: there equal entries are found, other relations may be missed.
    """
    chance = open_chance(1, "twins")
    vector = chance.integers(1, PRIME, size=(2, system.n_cols), dtype=np.int64)
    row_gone, col_gone = np.zeros(system.n_rows, dtype=np.bool_), np.zeros(system.n_cols, dtype=np.bool_)
    peeled: list[tuple[Ints, Ints]] = []
    while True:
        peeled.append(peel(system.row_ptr, system.row_col, system.col_ptr, system.col_row, row_gone, col_gone))
        large = _solve_small_blocks(system, vector, row_gone, col_gone)
        settled = _settle_large(system, large, vector, row_gone, col_gone)
        if not settled:
            break
    rows = np.concatenate([r for r, _ in peeled])
    cols = np.concatenate([c for _, c in peeled])
    substitute(system.row_ptr, system.row_col, rows, cols, vector)
    return vector


def _blocks(system: _System, row_gone: Flags, col_gone: Flags) -> list[tuple[Ints, Ints]]:
    """The connected parts of what is left: (rows, columns) of each."""
    from scipy.sparse import bmat, csr_matrix
    from scipy.sparse.csgraph import connected_components

    rows, cols = np.flatnonzero(~row_gone), np.flatnonzero(~col_gone)
    if not len(rows):
        return []
    whole = csr_matrix(
        (np.ones(len(system.row_col), dtype=np.int8), system.row_col, system.row_ptr),
        shape=(system.n_rows, system.n_cols),
    )
    core = whole[rows][:, cols]
    _, label = connected_components(bmat([[None, core], [core.T, None]], format="csr"), directed=False)
    row_label, col_label = label[: len(rows)], label[len(rows) :]
    by_row, by_col = np.argsort(row_label, kind="stable"), np.argsort(col_label, kind="stable")
    found = []
    for part in np.unique(row_label):
        r0, r1 = np.searchsorted(row_label[by_row], [part, part + 1])
        c0, c1 = np.searchsorted(col_label[by_col], [part, part + 1])
        found.append((rows[by_row[r0:r1]].astype(np.int32), cols[by_col[c0:c1]].astype(np.int32)))
    return found


def _solve_small_blocks(system: _System, vector: Field, row_gone: Flags, col_gone: Flags) -> list[tuple[Ints, Ints]]:
    """Settle the blocks of the core that fit; returns those that do not."""
    large = []
    for rows, cols in _blocks(system, row_gone, col_gone):
        if len(cols) > DENSE:
            large.append((rows, cols))
            continue
        part = np.ascontiguousarray(vector[:, cols])
        solve_dense(_dense(system, rows, cols), part)
        vector[:, cols] = part
        row_gone[rows], col_gone[cols] = True, True
    return large


def _dense(system: _System, rows: Ints, cols: Ints) -> Field:
    matrix = np.zeros((len(rows), len(cols)), dtype=np.int64)
    for at, r in enumerate(rows):
        held = system.row_col[system.row_ptr[r] : system.row_ptr[r + 1]]
        spot = np.minimum(np.searchsorted(cols, held), len(cols) - 1)
        matrix[at, spot[cols[spot] == held]] = 1
    return matrix


def _settle_large(
    system: _System, blocks: list[tuple[Ints, Ints]], vector: Field, row_gone: Flags, col_gone: Flags
) -> bool:
    """Take out of large blocks the columns that are settled (0 in every null vector), so that peeling can go on.

    A block without any is closed: equal entries become equal numbers. Returns whether anything was done.
    """
    for number, (rows, cols) in enumerate(blocks):
        shadow = _projections(system, rows, cols, number)
        settled = (np.abs(shadow) < SETTLED).all(axis=0)
        if settled.any():
            vector[:, cols[settled]] = 0
            col_gone[cols[settled]] = True
        else:
            vector[:, cols] = vector[:, cols[_first_alike(shadow)]]
            row_gone[rows], col_gone[cols] = True, True
    return bool(blocks)


def _projections(system: _System, rows: Ints, cols: Ints, number: int) -> npt.NDArray[np.float64]:
    """Two random vectors projected on the null space of a block, by least squares."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import lsmr

    place = np.full(system.n_cols, -1, dtype=np.int64)
    place[cols] = np.arange(len(cols))
    held = [system.row_col[system.row_ptr[r] : system.row_ptr[r + 1]] for r in rows]
    row_of = np.repeat(np.arange(len(rows)), [len(h) for h in held])
    spot = place[np.concatenate(held)]
    row_of, spot = row_of[spot >= 0], spot[spot >= 0]
    across = csr_matrix((np.ones(len(spot)), (spot, row_of)), shape=(len(cols), len(rows)))
    shadow = open_chance(2 + number, "twins").standard_normal((2, len(cols)))
    for v in range(2):
        shadow[v] -= across @ lsmr(across, shadow[v], atol=1e-13, btol=1e-13, conlim=0, maxiter=4000)[0]
    return shadow


def _first_alike(shadow: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """For each column the first one with the same two entries, up to rounding."""
    rank = np.zeros(shadow.shape, dtype=np.int64)
    for v in range(len(shadow)):
        order = np.argsort(shadow[v], kind="stable")
        rank[v, order] = np.concatenate(([0], np.cumsum(np.diff(shadow[v][order]) > SETTLED)))
    _, first, inverse = np.unique(rank, axis=1, return_index=True, return_inverse=True)
    return first[inverse.ravel()]


def _sums(salt: npt.NDArray[np.uint64], key: npt.NDArray[Any], n: int) -> npt.NDArray[np.uint64]:
    """Per key the sum of its salts, modulo 2^64: the same members give the same sum."""
    total = np.zeros(n, dtype=np.uint64)
    np.add.at(total, key, salt)
    return total


def _first_of_each(keys: npt.NDArray[np.uint64], usable: Flags) -> Flags:
    at = np.flatnonzero(usable)
    _, first = np.unique(keys[at], return_index=True)
    kept = np.zeros(len(keys), dtype=np.bool_)
    kept[at[first]] = True
    return kept


def _offsets(keys: npt.NDArray[Any], n: int) -> Offsets:
    return np.concatenate(([0], np.cumsum(np.bincount(keys, minlength=n)))).astype(np.int64)
