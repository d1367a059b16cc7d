"""How often each value stands in each class: sparse, one run per class, values in ascending order."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, inner, kernel, sort_array_part


@kernel
def class_value_counts(classes: Ints, n_classes: int) -> Longs:
    """Return how many records each class has."""
    sizes = np.zeros(n_classes, dtype=np.int64)
    for each in classes:
        sizes[each] += 1
    return sizes


@kernel
def value_counts_by_class(classes: Ints, n_classes: int, values: Ints, n_values: int) -> tuple[Longs, Ints, Ints]:
    """Return (starts, value, count): class c holds ``value[starts[c]:starts[c + 1]]``, each so often; -1 is none."""
    ends = np.zeros(n_classes + 1, dtype=np.int64)
    for i in range(len(classes)):
        if values[i] >= 0:
            ends[classes[i] + 1] += 1
    for each in range(n_classes):
        ends[each + 1] += ends[each]
    sorted_values = np.empty(ends[n_classes], dtype=np.int32)
    at = ends[:n_classes].copy()
    for i in range(len(classes)):
        if values[i] >= 0:
            each = classes[i]
            sorted_values[at[each]] = values[i]
            at[each] += 1
    return _runs(ends, sorted_values, n_values)


@inner
def _runs(ends: Longs, sorted_values: Ints, n_values: int) -> tuple[Longs, Ints, Ints]:
    """Return (starts, value, count) of :func:`value_counts_by_class`; overwrites ``sorted_values``."""
    n_classes = len(ends) - 1
    starts = np.zeros(n_classes + 1, dtype=np.int64)
    count = np.empty(len(sorted_values), dtype=np.int32)
    scratch = np.zeros(n_values, dtype=np.int32)
    out = 0
    for each in range(n_classes):
        first = out
        for i in range(ends[each], ends[each + 1]):
            value = sorted_values[i]
            if scratch[value] == 0:
                # written where it was read before: a class has no more different values than records
                sorted_values[out] = value
                out += 1
            scratch[value] += 1
        sort_array_part(sorted_values, first, out)
        for i in range(first, out):
            count[i] = scratch[sorted_values[i]]
            scratch[sorted_values[i]] = 0
        starts[each + 1] = out
    return starts, sorted_values[:out].copy(), count[:out].copy()
