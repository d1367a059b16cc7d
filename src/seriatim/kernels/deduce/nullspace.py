"""A random vector of the null space of a 0/1 matrix, exactly, in the field of 2^31 - 1 elements.

Rows are groups, columns are people. Peeling comes first: a column that stands in one row only is settled by
that row once all others are. What cannot be peeled, the core, is eliminated densely, block by block; where
it is too large for that, random vectors are projected on the null space in floating point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seriatim.kernels.arrays import Flags, Floats, Ints, Longs, fast_inner, kernel, leaf

PRIME = 2147483647


class SparseMatrix(NamedTuple):
    """A 0/1 matrix by rows and by columns: row r has ones in ``row_col[row_ptr[r]:row_ptr[r + 1]]``, columns alike."""

    row_ptr: Longs
    row_col: Ints
    col_ptr: Longs
    col_row: Ints


@kernel
def peel_lone_columns(matrix: SparseMatrix, row_gone: Flags, col_gone: Flags) -> tuple[Ints, Ints]:
    """Return the rows and columns taken away, in order: columns that stand in one row, each with its row.

    ``row_gone`` and ``col_gone`` are updated; columns that end up in no row at all are free and stay.
    """
    row_ptr, row_col, col_ptr, col_row = matrix.row_ptr, matrix.row_col, matrix.col_ptr, matrix.col_row
    n_rows, n_cols = len(row_ptr) - 1, len(col_ptr) - 1
    degree = np.zeros(n_cols, dtype=np.int32)
    for row in range(n_rows):
        if not row_gone[row]:
            for i in range(row_ptr[row], row_ptr[row + 1]):
                degree[row_col[i]] += 1
    stack = np.empty(n_cols, dtype=np.int32)
    depth = 0
    for column in range(n_cols):
        if degree[column] == 1 and not col_gone[column]:
            stack[depth] = column
            depth += 1
    rows, cols = np.empty(n_rows, dtype=np.int32), np.empty(n_rows, dtype=np.int32)
    n_peeled = 0
    while depth > 0:
        depth -= 1
        column = stack[depth]
        # its only row may have gone with another column since it was put on the stack
        if degree[column] != 1:
            continue
        row = -1
        for i in range(col_ptr[column], col_ptr[column + 1]):
            if not row_gone[col_row[i]]:
                row = col_row[i]
        rows[n_peeled], cols[n_peeled] = row, column
        n_peeled += 1
        row_gone[row], col_gone[column] = True, True
        for i in range(row_ptr[row], row_ptr[row + 1]):
            other = row_col[i]
            degree[other] -= 1
            if degree[other] == 1 and not col_gone[other]:
                stack[depth] = other
                depth += 1
    return rows[:n_peeled].copy(), cols[:n_peeled].copy()


@kernel
def substitute_peeled(matrix: SparseMatrix, rows: Ints, cols: Ints, vector: Longs) -> None:
    """Overwrite the peeled columns of ``vector``, last peeled first, so that every peeled row adds up to 0."""
    row_ptr, row_col = matrix.row_ptr, matrix.row_col
    # a row that was peeled late holds no column that was peeled before it, so going back every other entry is known
    for k in range(len(rows) - 1, -1, -1):
        row, column = rows[k], cols[k]
        for which in range(vector.shape[0]):
            total = 0
            for i in range(row_ptr[row], row_ptr[row + 1]):
                if row_col[i] != column:
                    total += vector[which, row_col[i]]
            vector[which, column] = (-total) % PRIME


@leaf
def _inverse(number: int) -> int:
    """Return the inverse modulo PRIME."""
    # Fermat: number^(PRIME - 1) is 1
    result, base, power = 1, number, PRIME - 2
    while power > 0:
        if power & 1:
            result = result * base % PRIME
        base = base * base % PRIME
        power >>= 1
    return result


@kernel
def solve_dense(matrix: Longs, vector: Longs) -> None:
    """Overwrite the pivot columns of ``vector``, which holds random numbers, so that ``matrix`` @ vector = 0.

    ``matrix`` is destroyed: it is brought to reduced echelon form.
    """
    n_rows, n_cols = matrix.shape
    pivot_of = np.full(n_cols, -1, dtype=np.int64)
    rank = 0
    for column in range(n_cols):
        row = rank
        # any row with an entry will do: in whole numbers modulo a prime nothing is lost to rounding
        while row < n_rows and matrix[row, column] == 0:
            row += 1
        if row == n_rows:
            continue
        if row != rank:
            for k in range(n_cols):
                matrix[row, k], matrix[rank, k] = matrix[rank, k], matrix[row, k]
        scale = _inverse(matrix[rank, column])
        for k in range(column, n_cols):
            matrix[rank, k] = matrix[rank, k] * scale % PRIME
        for row in range(n_rows):
            factor = matrix[row, column]
            if row != rank and factor != 0:
                for k in range(column, n_cols):
                    # these matrices stay mostly empty
                    if matrix[rank, k] != 0:
                        matrix[row, k] = (matrix[row, k] - factor * matrix[rank, k]) % PRIME
        pivot_of[column] = rank
        rank += 1
    for which in range(vector.shape[0]):
        for column in range(n_cols):
            if pivot_of[column] >= 0:
                total = 0
                for k in range(n_cols):
                    # columns without a pivot keep their random numbers: they are the free ones
                    if pivot_of[k] < 0:
                        total = (total + matrix[pivot_of[column], k] * vector[which, k]) % PRIME
                vector[which, column] = (-total) % PRIME


@fast_inner
def _add_up(ptr: Longs, index: Ints, vectors: Floats, out: Floats) -> Floats:
    """Return the squared lengths; write into ``out[r]`` the sum of the three vectors' entries that row r names."""
    length = np.zeros(3)
    for row in range(len(ptr) - 1):
        first, second, third = 0.0, 0.0, 0.0
        for i in range(ptr[row], ptr[row + 1]):
            first += vectors[index[i], 0]
            second += vectors[index[i], 1]
            third += vectors[index[i], 2]
        out[row, 0], out[row, 1], out[row, 2] = first, second, third
        length[0] += first * first
        length[1] += second * second
        length[2] += third * third
    return length


@fast_inner
def _move(base: Floats, rate: Floats, step: Floats, out: Floats) -> None:
    """Write ``base + rate * step`` into ``out``, which may be either of them."""
    for i in range(len(base)):
        for which in range(3):
            out[i, which] = base[i, which] + rate[which] * step[i, which]


@kernel
def project_vectors(matrix: SparseMatrix, vectors: Floats, close: float, most: int) -> int:
    """Return the steps taken to project three vectors (the columns) on the null space, in place.

    By conjugate gradients on the normal equations. Ends when what is left outside has shrunk to the share ``close``, or
    after ``most`` steps.
    """
    row_ptr, row_col, col_ptr, col_row = matrix.row_ptr, matrix.row_col, matrix.col_ptr, matrix.col_row
    n_rows, n_cols = len(row_ptr) - 1, len(col_ptr) - 1
    outside, across = np.empty((n_rows, 3)), np.empty((n_cols, 3))
    size = _add_up(row_ptr, row_col, vectors, outside)
    way = outside.copy()
    aim = size * close * close
    for step in range(most):
        # three vectors go together, so the slowest of them decides
        if (size <= aim).all():
            return step
        length = _add_up(col_ptr, col_row, way, across)
        # a vector that has arrived has size and length 0: it stays, while the others go on
        _move(vectors, -size / np.maximum(length, 1e-300), across, vectors)
        fresh = _add_up(row_ptr, row_col, vectors, outside)
        _move(outside, fresh / np.maximum(size, 1e-300), way, way)
        size = fresh
    return most
