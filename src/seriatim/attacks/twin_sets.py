"""Twins: people whose values must be equal, by some linear combination of groups.

Let x be 1 for the people who hold some value. Every group without counterfeits says how often the value occurs in it:
one linear equation, the same for every value except for its right side. Two people must hold equal values if their
difference is a combination of these equations: if every vector of the null space has equal entries for both. One random
vector tells them apart with near certainty, so one is enough. It covers unions and differences of groups and chains
over many releases. If the difference of two people is fixed and their values are not equal, both values are known: one
value is 1 for the first person only, another for the second only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.attacks.traces_by_person import Traces, trace
from seriatim.kernels.arrays import Flags, Ints, Longs, Words
from seriatim.kernels.deduce.nullspace import (
    PRIME,
    SparseMatrix,
    peel_lone_columns,
    project_vectors,
    solve_dense,
    substitute_peeled,
)
from seriatim.model.chance import open_chance
from seriatim.model.history import History

DENSE = 600
"""Solve blocks of the core exactly up to this many columns."""
CLOSE = 1e-5
STEPS = 1000
"""Project larger ones in at most this many steps; make no claim about what has not settled by then."""
PROJECTED = 250_000
"""Do not project blocks with more ones than this: it would take minutes."""


class TwinSets(list[set[Any]]):
    """Sets of respondents who must hold equal values, and the number of people for whom the search is not exact."""

    def __init__(self, sets: Iterable[set[Any]] = (), undecided: int = 0) -> None:
        super().__init__(sets)
        self.undecided = undecided
        """People in parts too large for elimination: the sets listed hold, but others may be equal too."""

    @property
    def exact(self) -> bool:
        """Return whether nobody else must hold an equal value (except for the chance 2^-31 of a bad draw)."""
        return self.undecided == 0


@dataclass(frozen=True, repr=False, eq=False)
class TwinFindings:
    """What follows from the groups alone by linear combination."""

    twins: TwinSets
    determined: dict[Any, Any]
    """Respondents whose value is certain, with that value."""


def forced_and_determined(history: History) -> TwinFindings:
    """Find twins and determined people together, solving the equations once."""
    traces = trace(history)
    marks, unsure = _marks(traces)
    at = np.flatnonzero(~marks.any(axis=0) | _apart(traces, marks, unsure))
    known = history.values.take(traces.value[at]).to_pylist()
    undecided = len(np.unique(traces.respondent[unsure]))
    return TwinFindings(TwinSets(_sets(traces, marks), undecided), dict(zip(traces.ids(at), known, strict=True)))


def _apart(traces: Traces, marks: Longs, unsure: Flags) -> Flags:
    """Return who has a twin of another value: a known difference that is not 0 names both values."""
    at = np.flatnonzero((marks > 0).all(axis=0) & ~unsure)
    _, cluster = np.unique(marks[:, at], axis=1, return_inverse=True)
    cluster = cluster.reshape(-1)
    n = int(cluster.max()) + 1 if len(at) else 0
    low, high = np.full(n, traces.n_values), np.full(n, -1)
    np.minimum.at(low, cluster, traces.value[at])
    np.maximum.at(high, cluster, traces.value[at])
    found = np.zeros(len(traces.respondent), dtype=np.bool_)
    found[at] = (low < high)[cluster]
    return found


def nullspace_marks(traces: Traces) -> tuple[Ints, Flags]:
    """Return the cell of everyone (people of the same groups), and whether the groups fix what its people hold."""
    system, column = _system(traces)
    vector, unsure = _null_vector(system)
    fixed = ~vector.any(axis=0) & ~unsure
    return column, np.asarray(fixed[column])


def twins(history: History) -> TwinSets:
    """Return sets of respondents who must hold equal values, whoever is compromised.

    People whose value follows from the groups alone (see :func:`determined`) equal everyone else with that value, and
    are listed with them. ``.undecided`` counts the people whose twins may not all have been found.
    """
    return forced_and_determined(history).twins


def determined(history: History) -> dict[Any, Any]:
    """Return the respondents whose value follows from the groups alone by linear combination, with that value."""
    return forced_and_determined(history).determined


def certain_by_sharing(traces: Traces, words: Words, sets: Iterable[set[Any]]) -> set[Any]:
    """Return the twins whose value becomes certain once all twins of a set share their possible values.

    ``words`` are the possible values by episode that another attack left, priors included. People with several episodes
    are skipped, because a set does not say which of their values it binds.
    """
    ids = traces.ids(np.arange(len(traces.respondent)))
    alone = np.bincount(traces.respondent, minlength=1)[traces.respondent] == 1
    place = {who: at for at, (who, only) in enumerate(zip(ids, alone.tolist(), strict=True)) if only}
    found = set()
    for held in sets:
        at = [place[who] for who in held if who in place]
        # what all twins can hold is what any of them can
        if len(at) > 1 and np.bitwise_count(np.bitwise_and.reduce(words[at])).sum() == 1:
            undecided = np.bitwise_count(words[at]).sum(axis=1) > 1
            found |= {ids[episode] for episode, unsure in zip(at, undecided.tolist(), strict=True) if unsure}
    return found


def _sets(traces: Traces, mark: Longs) -> list[set[Any]]:
    at = np.flatnonzero((mark >= 0).all(axis=0))
    keys = np.stack([mark[0, at], mark[1, at], traces.value[at]])
    order = np.lexsort(keys)
    fresh = np.ones(len(at), dtype=np.bool_)
    fresh[1:] = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    cluster = np.empty(len(at), dtype=np.int64)
    cluster[order] = np.cumsum(fresh) - 1
    many = np.bincount(cluster, minlength=1)[cluster] > 1
    sets: dict[int, set[Any]] = {}
    for who, which in zip(traces.ids(at[many]), cluster[many].tolist(), strict=True):
        sets.setdefault(which, set()).add(who)
    return [held for held in sets.values() if len(held) > 1]


@dataclass(frozen=True, repr=False, eq=False)
class TwinSystem:
    """A 0/1 matrix: distinct groups without counterfeits (rows) by distinct traces (columns)."""

    row_ptr: Longs
    row_col: Ints
    col_ptr: Longs
    col_row: Ints

    @property
    def matrix(self) -> SparseMatrix:
        """Return the same as a kernel reads it."""
        return SparseMatrix(self.row_ptr, self.row_col, self.col_ptr, self.col_row)

    @property
    def n_rows(self) -> int:
        return len(self.row_ptr) - 1

    @property
    def n_cols(self) -> int:
        return len(self.col_ptr) - 1

    def part(self, rows: Flags, cols: Flags) -> tuple[TwinSystem, Ints, Ints]:
        """Return the submatrix, with the numbers of its rows and columns."""
        row_of = np.repeat(np.arange(self.n_rows), np.diff(self.row_ptr))
        inside = rows[row_of] & cols[self.row_col]
        new_row, new_col = np.cumsum(rows) - 1, np.cumsum(cols) - 1
        small = _matrix_of(new_row[row_of[inside]], new_col[self.row_col[inside]], int(rows.sum()), int(cols.sum()))
        return small, np.flatnonzero(rows).astype(np.int32), np.flatnonzero(cols).astype(np.int32)


def _matrix_of(rows: npt.NDArray[Any], cols: npt.NDArray[Any], n_rows: int, n_cols: int) -> TwinSystem:
    """Build a matrix from the positions of its ones, ordered by row."""
    by_col = np.argsort(cols, kind="stable")
    row_ptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_rows)))).astype(np.int64)
    col_ptr = np.concatenate(([0], np.cumsum(np.bincount(cols, minlength=n_cols)))).astype(np.int64)
    return TwinSystem(row_ptr, cols.astype(np.int32), col_ptr, rows[by_col].astype(np.int32))


def _marks(traces: Traces) -> tuple[Longs, Flags]:
    """Return two numbers per episode, and which episodes are in a part too large to be exact.

    The numbers are equal for people whose values differ by a known amount, 0 if the value is known, -1 if it is free.
    """
    system, column = _system(traces)
    vector, unsure = _null_vector(system)
    shared = np.bincount(column, minlength=system.n_cols) > 1
    marks = np.asarray(vector[:, column])
    # people with the same trace are interchangeable, so none of them is bound to anyone
    marks[:, shared[column]] = -1
    return marks, unsure[column] & ~shared[column]


def _system(traces: Traces) -> tuple[TwinSystem, Ints]:
    """Return the distinct rows and columns, and the column of each episode."""
    chance = open_chance(0, "twins")
    n_groups, n_people = traces.n_groups, len(traces.respondent)
    group_of = np.repeat(np.arange(n_groups), np.diff(traces.group_ptr))
    salt = chance.integers(0, 1 << 63, size=n_people, dtype=np.uint64)
    usable = (traces.counterfeits == 0) & (np.diff(traces.group_ptr) > 0)
    kept = _first_of_each(_sums(salt[traces.people], traces.group_ptr), usable)
    row_salt = np.where(kept, chance.integers(1, 1 << 63, size=n_groups, dtype=np.uint64), np.uint64(0))
    column_key = _sums(row_salt[traces.groups], traces.person_ptr)
    _, column = np.unique(column_key, return_inverse=True)
    n_cols = int(column.max()) + 1 if len(column) else 0
    row_number = np.cumsum(kept) - 1
    inside = kept[group_of]
    pairs = np.unique(row_number[group_of[inside]] * max(n_cols, 1) + column[traces.people[inside]])
    system = _matrix_of(pairs // max(n_cols, 1), pairs % max(n_cols, 1), int(kept.sum()), n_cols)
    return system, column.astype(np.int32)


def _null_vector(system: TwinSystem) -> tuple[Longs, Flags]:
    """Return two random vectors of the null space, up to equality of entries, and the columns where that is unsure.

    Exact (except for the chance 2^-31 of a bad draw) wherever peeling and dense blocks suffice. A connected part with a
    core larger than ``DENSE`` is projected by conjugate gradients, unless it is too large for that too; entries within
    ``CLOSE`` count as equal. Rows that differ in one entry are followed to the end. There the result is sound, but not
    complete.
    """
    vector = open_chance(1, "twins").integers(1, PRIME, size=(2, system.n_cols), dtype=np.int64)
    row_gone, col_gone = np.zeros(system.n_rows, dtype=np.bool_), np.zeros(system.n_cols, dtype=np.bool_)
    rows, cols = peel_lone_columns(system.matrix, row_gone, col_gone)
    large = _solve_small_blocks(system, vector, row_gone, col_gone)
    substitute_peeled(system.matrix, rows, cols, vector)
    unsure = np.zeros(system.n_cols, dtype=np.bool_)
    if len(large):
        unsure[_project_parts(system, large, vector)] = True
    return vector, unsure


def _labels(system: TwinSystem) -> tuple[Ints, Ints]:
    """Return the connected part of each row and column."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    row_of = np.repeat(np.arange(system.n_rows), np.diff(system.row_ptr))
    n = system.n_rows + system.n_cols
    edges = coo_matrix((np.ones(len(row_of), dtype=np.int8), (row_of, system.row_col + system.n_rows)), shape=(n, n))
    _, label = connected_components(edges, directed=False)
    return label[: system.n_rows].astype(np.int32), label[system.n_rows :].astype(np.int32)


def _solve_small_blocks(system: TwinSystem, vector: Longs, row_gone: Flags, col_gone: Flags) -> Ints:
    """Solve the blocks of the core that fit, in place, and return the columns of those that do not."""
    core, _, cols = system.part(~row_gone, ~col_gone)
    row_label, col_label = _labels(core)
    by_row, by_col = np.argsort(row_label, kind="stable"), np.argsort(col_label, kind="stable")
    parts = np.unique(row_label)
    row_cut, col_cut = (
        np.searchsorted(label[order], np.append(parts, len(row_label) + len(col_label) + 1))
        for label, order in ((row_label, by_row), (col_label, by_col))
    )
    ends = np.searchsorted(col_label[by_col], parts, side="right")
    large = [np.empty(0, dtype=np.int32)]
    for k in range(len(parts)):
        in_rows, in_cols = by_row[row_cut[k] : row_cut[k + 1]], np.sort(by_col[col_cut[k] : ends[k]])
        if len(in_cols) > DENSE:
            large.append(cols[in_cols])
            continue
        block = np.ascontiguousarray(vector[:, cols[in_cols]])
        solve_dense(_dense(core, in_rows, in_cols), block)
        vector[:, cols[in_cols]] = block
    return np.concatenate(large)


def _dense(system: TwinSystem, rows: npt.NDArray[Any], cols: npt.NDArray[Any]) -> Longs:
    matrix = np.zeros((len(rows), len(cols)), dtype=np.int64)
    for at, r in enumerate(rows):
        matrix[at, np.searchsorted(cols, system.row_col[system.row_ptr[r] : system.row_ptr[r + 1]])] = 1
    return matrix


def _project_parts(system: TwinSystem, large: Ints, vector: Longs) -> Ints:
    """Overwrite the entries of every connected part that has one of the columns ``large``; return those columns."""
    row_label, col_label = _labels(system)
    hit = np.zeros(system.n_rows + system.n_cols, dtype=np.bool_)
    hit[col_label[large]] = True
    part, _, cols = system.part(hit[row_label], hit[col_label])
    fresh = open_chance(3, "twins").integers(1, PRIME, size=(2, len(cols)), dtype=np.int64)
    if len(part.row_col) > PROJECTED:
        vector[:, cols] = fresh[:, _joined(_one_apart(part), len(cols))]
        return cols
    # three random vectors of the null space: columns that agree in all three are equal, but for chance
    shadow = open_chance(2, "twins").standard_normal((len(cols), 3))
    project_vectors(part.matrix, shadow, CLOSE * 1e-4, STEPS)
    cluster = _joined(np.concatenate((_near(shadow), _one_apart(part))), len(cols))
    # a column that is 0 in every null vector is determined
    fresh[:, cluster[(np.abs(shadow) < CLOSE).all(axis=1)]] = 0
    vector[:, cols] = fresh[:, cluster]
    return cols


def _near(points: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(points).query_pairs(CLOSE, output_type="ndarray"), dtype=np.int64).reshape(-1, 2)


def _one_apart(system: TwinSystem) -> npt.NDArray[np.int64]:
    """Return pairs of columns that must be equal because two rows differ in nothing else, repeated as columns merge."""
    salt = open_chance(4, "twins").integers(1, 1 << 63, size=system.n_cols, dtype=np.uint64)
    row_of = np.repeat(np.arange(system.n_rows), np.diff(system.row_ptr))
    label = np.arange(system.n_cols)
    while True:
        held = label[system.row_col]
        # the row without this entry: two rows with equal rests differ in that entry alone
        rest = _sums(salt[held], system.row_ptr)[row_of] - salt[held]
        order = np.argsort(rest, kind="stable")
        same = (rest[order][1:] == rest[order][:-1]) & (held[order][1:] != held[order][:-1])
        if not same.any():
            _, first = np.unique(label, return_index=True)
            return np.stack((np.arange(system.n_cols), first[np.searchsorted(label[first], label)]), axis=1)
        pairs = np.stack((held[order][1:][same], held[order][:-1][same]), axis=1)
        label = _joined(pairs, system.n_cols)[label]


def _joined(pairs: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """Return for each of n things a number that is equal for all things a chain of pairs connects."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    links = coo_matrix((np.ones(len(pairs), dtype=np.int8), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    label: npt.NDArray[np.int64] = connected_components(links, directed=False)[1].astype(np.int64)
    return label


def _sums(salt: npt.NDArray[np.uint64], ptr: Longs) -> npt.NDArray[np.uint64]:
    """Return the sum of each stretch of salts, modulo 2^64; the same members have the same sum."""
    running = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(salt, dtype=np.uint64)))
    return running[ptr[1:]] - running[ptr[:-1]]


def _first_of_each(keys: npt.NDArray[np.uint64], usable: Flags) -> Flags:
    at = np.flatnonzero(usable)
    _, first = np.unique(keys[at], return_index=True)
    kept = np.zeros(len(keys), dtype=np.bool_)
    kept[at[first]] = True
    return kept
