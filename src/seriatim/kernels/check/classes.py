"""Which rows are alike, and what each class of alike rows holds. For promises and measures only."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, kernel


@kernel
def class_of_rows(codes: Ints) -> tuple[Ints, int]:
    """Return number rows (rows x columns) by equality of all their codes, in order of first appearance."""
    n, width = codes.shape
    size = 16
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, dtype=np.int32)
    first_row = np.empty(n, dtype=np.int32)
    classes = np.empty(n, dtype=np.int32)
    n_classes = 0
    for row in range(n):
        mixed = np.uint64(0x9E3779B97F4A7C15)
        for column in range(width):
            mixed = (mixed ^ np.uint64(codes[row, column])) * np.uint64(0xFF51AFD7ED558CCD)
            mixed ^= mixed >> np.uint64(32)
        place = np.int64(mixed & np.uint64(size - 1))
        while table[place] >= 0:
            other = first_row[table[place]]
            same = True
            for column in range(width):
                if codes[other, column] != codes[row, column]:
                    same = False
                    break
            if same:
                break
            place = (place + 1) & (size - 1)
        if table[place] < 0:
            table[place] = n_classes
            first_row[n_classes] = row
            n_classes += 1
        classes[row] = table[place]
    return classes, n_classes


@kernel
def rows_by_class(classes: Ints, n_classes: int) -> tuple[Longs, Ints]:
    """Return where each class begins among the rows sorted by class, and those rows."""
    starts = np.zeros(n_classes + 1, dtype=np.int64)
    for each in classes:
        starts[each + 1] += 1
    for each in range(n_classes):
        starts[each + 1] += starts[each]
    place = starts[:-1].copy()
    rows = np.empty(len(classes), dtype=np.int32)
    for row in range(len(classes)):
        rows[place[classes[row]]] = row
        place[classes[row]] += 1
    return starts, rows
