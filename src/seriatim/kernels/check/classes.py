"""Records with equal codes in every column form a class; classes are numbered in the order of their first record. How
often each value stands in a class is kept sparse: one run per class, values in ascending order.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, inner, kernel, leaf, sort_array_part

_ROOM = 2**62
_DIRECT = 4
"""A table of at most this many places per record is addressed directly; beyond that it is hashed."""


def class_ids(columns: Iterable[tuple[Ints, int]], n_records: int) -> tuple[Ints, int]:
    """Return the class of every record and the number of classes, from columns of codes 0 .. size - 1 with their sizes.

    One column is needed at a time, so that a caller who makes them on the way holds no copy of the table.
    """
    keys = np.zeros(n_records, dtype=np.int64)
    space = 1
    for codes, size in columns:
        # one more digit would overflow: the classes so far are numbered, and their numbers are the key from here on
        if space > _ROOM // max(size, 1):
            ids, space = _number(keys, space)
            keys = ids.astype(np.int64)
        fold_class_keys(keys, np.ascontiguousarray(codes), size)
        space *= max(size, 1)
    return _number(keys, space)


def _number(keys: Longs, space: int) -> tuple[Ints, int]:
    # a table with a place for each key is sooner searched while it stays near the size of the data
    if space <= max(_DIRECT * len(keys), 1 << 16):
        return number_directly(keys, space)
    return number_by_hash(keys)


@kernel
def fold_class_keys(keys: Longs, codes: Ints, size: int) -> None:
    """Change ``keys`` in place: one more digit, a code below ``size``."""
    for i in range(len(keys)):
        keys[i] = keys[i] * size + codes[i]


@kernel
def number_directly(keys: Longs, space: int) -> tuple[Ints, int]:
    """Return numbers for keys 0 .. ``space`` - 1, through a table with a place for each."""
    seen = np.zeros(space, dtype=np.int32)
    ids = np.empty(len(keys), dtype=np.int32)
    n_classes = 0
    for i in range(len(keys)):
        known = seen[keys[i]]
        if known == 0:
            n_classes += 1
            known = n_classes
            seen[keys[i]] = n_classes
        ids[i] = known - 1
    return ids, n_classes


@kernel
def number_by_hash(keys: Longs) -> tuple[Ints, int]:
    """Return numbers for any keys, through a table with open addressing that doubles when it is half full."""
    bits = 12
    heads = np.zeros(1 << bits, dtype=np.int32)
    key_of = np.empty(1 << (bits - 1), dtype=np.int64)
    ids = np.empty(len(keys), dtype=np.int32)
    n_classes = 0
    for i in range(len(keys)):
        key = keys[i]
        place = _place(key, bits)
        # 0 is a free place, so numbers are kept one higher
        while heads[place] != 0 and key_of[heads[place] - 1] != key:
            place = (place + 1) & (len(heads) - 1)
        if heads[place] == 0:
            if n_classes == len(key_of):  # half full: searches for a free place grow fast beyond that
                bits += 1
                key_of = np.concatenate((key_of, np.empty(n_classes, dtype=np.int64)))
                heads = _heads(key_of, n_classes, bits)
                place = _place(key, bits)
                while heads[place] != 0:
                    place = (place + 1) & (len(heads) - 1)
            key_of[n_classes] = key
            n_classes += 1
            heads[place] = n_classes
        ids[i] = heads[place] - 1
    return ids, n_classes


@inner
def _heads(key_of: Longs, n_keys: int, bits: int) -> Ints:
    """Return a table of ``1 << bits`` heads with the first ``n`` keys in it."""
    heads = np.zeros(1 << bits, dtype=np.int32)
    for j in range(n_keys):
        place = _place(key_of[j], bits)
        while heads[place] != 0:
            place = (place + 1) & (len(heads) - 1)
        heads[place] = j + 1
    return heads


@leaf
def _place(key: int, bits: int) -> np.int64:
    """Return where to look first: the key's bits mixed (the finaliser of splitmix64), the highest taken."""
    mixed = np.uint64(key)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(mixed >> np.uint64(64 - bits))


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


@kernel
def class_sizes(classes: Ints, n_classes: int) -> Longs:
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
        # -1 is a missing value: it is in the class, but not among its values
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
        # in order, as windows over near values and distances on ranks need them
        sort_array_part(sorted_values, first, out)
        for i in range(first, out):
            count[i] = scratch[sorted_values[i]]
            scratch[sorted_values[i]] = 0
        starts[each + 1] = out
    return starts, sorted_values[:out].copy(), count[:out].copy()
