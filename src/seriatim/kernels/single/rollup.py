"""Classes of a full-domain generalisation, rolled up from the classes of a finer one.

A node of the lattice gives every quasi column a height. Columns with few values are joined into chunks, and every
chunk has, for each combination of its columns' heights, a lookup from its finest code to its generalised one. A class
is represented by the finest codes of any one of its records: the ranges are nested, so the same lookups serve every
node, and a coarser node needs one lookup per chunk and class of a finer one, never the records again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seriatim.kernels.arrays import Ints, Longs, Marks, copy_array, inner, kernel, leaf
from seriatim.kernels.single.acceptance import T_EQUAL, ClassTests, passes_tests

_ROOM = 1 << 62
_EMPTY = -1


class NodeClasses(NamedTuple):
    """The classes of one node."""

    codes: Ints
    """chunks x classes: the finest codes of one of its records."""
    sizes: Longs
    offsets: Longs
    """Where the sensitive values of each class begin; empty when no test looks at them."""
    values: Ints
    """Places in the flat counts of all sensitive columns (``ClassTests.offsets`` plus the code)."""
    counts: Longs


class HeightLookups(NamedTuple):
    """For every chunk and combination of heights: what its finest codes become."""

    local: Ints
    """The generalised code, 0 .. the number of ranges - 1."""
    surcharge: Longs
    """What suppressing one record adds to the loss of publishing it so, in the loss's unit."""


class NodeLayout(NamedTuple):
    """Where a node's lookups begin, and how many generalised codes each chunk has there."""

    at: Longs
    cards: Longs


class ClassBars(NamedTuple):
    """What a class must pass: k records, and tests.

    What holds for all larger classes too stands apart: only that may prune.
    """

    k: int
    budget: int
    """Records that may be suppressed."""
    lasting: Any
    """``ClassTests`` that a class which passes cannot lose by growing (or, without suppression, by merging)."""
    other: Any


class NodeJudgement(NamedTuple):
    """A node, counted."""

    n_classes: int
    n_kept: int
    suppressed: int
    """Records in classes that fail any test."""
    lasting_suppressed: int
    """Records in classes that fail a lasting one: every finer node suppresses them too."""
    surcharge: int
    lasting_surcharge: int
    squares: int
    """Sum of squared sizes of all classes; of kept ones below."""
    kept_squares: int


@kernel
def numbered_alike(codes: Ints, lookups: Any, node: Any, ids: Ints) -> int:
    """Return how many classes ``node`` has; number them in order of appearance into ``ids``.

    Chunks are folded into one 64-bit key; when they would not fit, what was folded so far is numbered first.
    """
    n_chunks, n_rows = codes.shape
    ids[:] = 0
    if n_rows == 0:
        return 0
    keys = np.zeros(n_rows, dtype=np.int64)
    n_ids, chunk = 1, 0
    while chunk < n_chunks:
        room = n_ids
        # as many chunks as fit into 64 bits before keys must be numbered
        while chunk < n_chunks and room <= _ROOM // node.cards[chunk]:
            card = node.cards[chunk]
            # a chunk in which everyone is alike by now tells nobody apart
            if card > 1:
                _fold(keys, codes[chunk], lookups.local[node.at[chunk] :], card)
            room *= card
            chunk += 1
        # a table with a place for each key is quicker while it is not much longer than the rows
        n_ids = _number_by_place(keys, room, ids) if room <= max(4 * n_rows, 4096) else _number_by_hash(keys, ids)
        if chunk < n_chunks:
            copy_array(keys, ids)
    return n_ids


@leaf
def _fold(keys: Longs, codes: Ints, local: Ints, card: int) -> None:
    """Add one more column to the keys, in place."""
    for row in range(len(keys)):
        keys[row] = keys[row] * card + local[codes[row]]


@inner
def _number_by_place(keys: Longs, room: int, ids: Ints) -> int:
    """Return how many different keys there are; write their numbers into ``ids``. For keys below ``room``."""
    places = np.full(room, _EMPTY, dtype=np.int32)
    n_ids = 0
    for row in range(len(keys)):
        place = places[keys[row]]
        if place == _EMPTY:
            place = n_ids
            places[keys[row]] = place
            n_ids += 1
        ids[row] = place
    return n_ids


@inner
def _number_by_hash(keys: Longs, ids: Ints) -> int:
    """Return how many different keys there are; write their numbers into ``ids``. For any keys."""
    bits = 4
    # at most half full, so that a search ends after a step or two
    while (1 << bits) < 2 * len(keys):
        bits += 1
    slots = np.empty((1 << bits, 2), dtype=np.int64)  # key and number side by side: one line of the cache
    slots[:, 1] = _EMPTY
    mask, shift = (1 << bits) - 1, np.uint64(64 - bits)
    n_ids = 0
    for row in range(len(keys)):
        key = keys[row]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64((mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) >> shift)
        while slots[slot, 1] != _EMPTY and slots[slot, 0] != key:
            slot = (slot + 1) & mask
        if slots[slot, 1] == _EMPTY:
            slots[slot, 0], slots[slot, 1] = key, n_ids
            n_ids += 1
        ids[row] = slots[slot, 1]
    return n_ids


@kernel
def join_classes(finer: Any, ids: Ints, n_ids: int, n_values: int) -> Any:
    """Return the classes that ``ids`` joins: sizes added, one representative kept, sensitive counts added."""
    sizes = np.zeros(n_ids, dtype=np.int64)
    member = np.empty(n_ids, dtype=np.int32)
    for row in range(len(ids)):
        # any record will do: ranges are nested, so all of a class stay together higher up
        member[ids[row]] = row
        sizes[ids[row]] += finer.sizes[row]
    codes = np.empty((finer.codes.shape[0], n_ids), dtype=np.int32)
    for chunk in range(finer.codes.shape[0]):
        for joined in range(n_ids):
            codes[chunk, joined] = finer.codes[chunk, member[joined]]
    if len(finer.offsets) == 0:
        return NodeClasses(codes, sizes, finer.offsets, finer.values, finer.counts)
    order, begins = _by_class(ids, n_ids)
    offsets = np.zeros(n_ids + 1, dtype=np.int64)
    values = np.empty(len(finer.values), dtype=np.int32)
    counts = np.empty(len(finer.values), dtype=np.int64)
    tally = np.zeros(n_values, dtype=np.int64)
    written = 0
    for joined in range(n_ids):
        from_here = written
        for place in range(begins[joined], begins[joined + 1]):
            row = order[place]
            for entry in range(finer.offsets[row], finer.offsets[row + 1]):
                value = finer.values[entry]
                # first seen in this class; the tally is wiped below, entry by entry, since most values are in few
                # classes
                if tally[value] == 0:
                    values[written] = value
                    written += 1
                tally[value] += finer.counts[entry]
        for entry in range(from_here, written):
            counts[entry] = tally[values[entry]]
            tally[values[entry]] = 0
        offsets[joined + 1] = written
    return NodeClasses(codes, sizes, offsets, values[:written].copy(), counts[:written].copy())


@kernel
def count_values(ids: Ints, n_ids: int, places: Ints, n_values: int) -> Any:
    """Return offsets, values and counts of classes whose records have these places (sensitive columns x records)."""
    order, begins = _by_class(ids, n_ids)
    offsets = np.zeros(n_ids + 1, dtype=np.int64)
    values = np.empty(places.size, dtype=np.int32)
    counts = np.empty(places.size, dtype=np.int64)
    tally = np.zeros(n_values, dtype=np.int64)
    written = 0
    for index in range(n_ids):
        from_here = written
        for place in range(begins[index], begins[index + 1]):
            for column in range(places.shape[0]):
                value = places[column, order[place]]
                if tally[value] == 0:
                    values[written] = value
                    written += 1
                tally[value] += 1
        for entry in range(from_here, written):
            counts[entry] = tally[values[entry]]
            tally[values[entry]] = 0
        offsets[index + 1] = written
    return offsets, values[:written].copy(), counts[:written].copy()


@inner
def _by_class(ids: Ints, n_ids: int) -> tuple[Ints, Longs]:
    """Return rows class by class, and where each class begins."""
    begins = np.zeros(n_ids + 2, dtype=np.int64)
    for row in range(len(ids)):
        # two places further on, so that filling in the order below moves each beginning to where it belongs
        begins[ids[row] + 2] += 1
    for joined in range(n_ids):
        begins[joined + 2] += begins[joined + 1]
    order = np.empty(len(ids), dtype=np.int32)
    for row in range(len(ids)):
        order[begins[ids[row] + 1]] = row
        begins[ids[row] + 1] += 1
    return order, begins[:-1]


@kernel
def judge_node(classes: Any, lookups: Any, node: Any, bars: Any, kept: Marks) -> Any:
    """Return what a node suppresses and what that costs.

    ``kept`` becomes 2 for each class that may be published, 1 for one that passes the lasting tests only, else 0.
    """
    _sift(classes, bars, kept)
    n_kept = suppressed = lasting_suppressed = surcharge = lasting_surcharge = squares = kept_squares = 0
    for index in range(len(classes.sizes)):
        size = classes.sizes[index]
        # of all classes, suppressed ones too: this sum never falls on the way up, so it bounds the loss
        squares += size * size
        if kept[index] == 2:
            n_kept += 1
            kept_squares += size * size
            continue
        suppressed += size
        lasting_suppressed += size if kept[index] == 0 else 0
    if lasting_suppressed <= bars.budget:  # else nobody asks what it costs
        for index in range(len(classes.sizes)):
            if kept[index] < 2:
                cost = np.int64(0)
                for chunk in range(classes.codes.shape[0]):
                    cost += lookups.surcharge[node.at[chunk] + classes.codes[chunk, index]]
                surcharge += cost * classes.sizes[index]
                lasting_surcharge += cost * classes.sizes[index] if kept[index] == 0 else 0
    return NodeJudgement(
        len(classes.sizes), n_kept, suppressed, lasting_suppressed, surcharge, lasting_surcharge, squares, kept_squares
    )


@inner
def _sift(classes: Any, bars: Any, kept: Marks) -> None:
    """Mark in ``kept`` which classes pass.

    First against the margin of all records; then, since withholding a class moves the margin that a reader sees,
    against the margin of what is kept, until no class falls any more.
    """
    for index in range(len(classes.sizes)):
        # too small a class stays small in every finer node
        kept[index] = 2 if classes.sizes[index] >= bars.k else 0
    if len(bars.lasting.kinds) == 0 and len(bars.other.kinds) == 0:
        return
    n_values = max(bars.lasting.offsets[-1], bars.other.offsets[-1])
    tally = np.zeros(n_values, dtype=np.int64)
    scratch = np.empty(2 * n_values + 2, dtype=np.float64)
    fallen = _drop(classes, bars.lasting, 0, kept, tally, scratch)
    fallen += _drop(classes, bars.other, 1, kept, tally, scratch)
    # without a budget these are among the lasting ones
    lasting_of_margin, other_of_margin = (bars.lasting.kinds >= T_EQUAL).any(), (bars.other.kinds >= T_EQUAL).any()
    # once at least: the margin of all records was that of the withheld too
    everyone = True
    while (lasting_of_margin or other_of_margin) and (fallen > 0 or everyone):
        everyone = False
        margin = np.zeros(n_values, dtype=np.int64)
        for index in range(len(classes.sizes)):
            if kept[index] == 2:
                for entry in range(classes.offsets[index], classes.offsets[index + 1]):
                    margin[classes.values[entry]] += classes.counts[entry]
        fallen = _drop(classes, _against(bars.lasting, margin), 0, kept, tally, scratch) if lasting_of_margin else 0
        fallen += _drop(classes, _against(bars.other, margin), 1, kept, tally, scratch)


@inner
def _against(tests: Any, margin: Longs) -> Any:
    """Return the tests with another margin."""
    return ClassTests(
        tests.kinds, tests.columns, tests.limits, tests.seconds, tests.offsets, margin,
        tests.starts, tests.start_offsets, tests.tops, tests.reach,
    )  # fmt: skip


@inner
def _drop(classes: Any, tests: Any, mark: int, kept: Marks, tally: Any, scratch: Any) -> int:
    """Mark the kept classes that fail these tests; returns how many. The tally comes and goes all zero."""
    if len(tests.kinds) == 0:
        return 0
    fallen = 0
    for index in range(len(classes.sizes)):
        if kept[index] < 2:
            continue
        begin, end = classes.offsets[index], classes.offsets[index + 1]
        for entry in range(begin, end):
            tally[classes.values[entry]] = classes.counts[entry]
        if not passes_tests(tests, tally, classes.sizes[index], scratch):
            kept[index] = mark
            fallen += 1
        for entry in range(begin, end):
            tally[classes.values[entry]] = 0
    return fallen


@kernel
def coarser_classes(finer: Any, lookups: Any, node: Any, bars: Any) -> Any:
    """Return a node's classes from a finer node's."""
    ids = np.empty(len(finer.sizes), dtype=np.int32)
    n_ids = numbered_alike(finer.codes, lookups, node, ids)
    return join_classes(finer, ids, n_ids, max(bars.lasting.offsets[-1], bars.other.offsets[-1]))


@kernel
def assess_node(finer: Any, lookups: Any, node: Any, bars: Any) -> Any:
    """Return a node's judgement from a finer node's classes."""
    classes = coarser_classes(finer, lookups, node, bars)
    kept = np.empty(len(classes.sizes), dtype=np.int8)
    return judge_node(classes, lookups, node, bars, kept)


@kernel
def raise_levels(low: Any, high: Any, strides: Any, floor: int, levels: Any) -> None:
    """Raise ``levels`` to at least ``floor`` on every node of the box from ``low`` to ``high``."""
    n_columns = len(low)
    at = low.copy()
    place = np.int64(0)
    for column in range(n_columns):
        place += at[column] * strides[column]
    while True:
        levels[place] = max(levels[place], floor)
        column = n_columns - 1
        while column >= 0 and at[column] == high[column]:
            # count on like the digits of a number, each between its ends
            place -= (at[column] - low[column]) * strides[column]
            at[column] = low[column]
            column -= 1
        if column < 0:
            return
        at[column] += 1
        place += strides[column]
