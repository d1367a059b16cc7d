"""Median cuts: strict or relaxed multidimensional recoding under any conjunction of promises."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.defences.labels import LabelPieces
from seriatim.defences.single.draft import draft_of
from seriatim.defences.single.trim import trimmed_view, with_enough_people
from seriatim.kernels.single.acceptance import ClassTests
from seriatim.kernels.single.median import LANES, ColumnScales, CutRules, RowWords, cut_rows
from seriatim.model import CodedColumn, Draft, Policy, Scale, SeriesState, View
from seriatim.model.chance import secret_chance
from seriatim.ports import Workers

# pieces per worker before the last round: enough to share evenly, few enough that distributing them costs little
_PIECES_PER_WORKER = 16
# rows laid out at once: the rows of a chunk stay in the cache while its columns are written
_CHUNK = 1 << 15


def median(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
    """Cut the widest column at its median while both parts pass: Mondrian (LeFevre, DeWitt, Ramakrishnan 2006).

    ``relaxed`` cuts exactly in half, with records that equal the median on either side. ``strict`` keeps equal values
    together, so the published boxes do not overlap.
    """
    assert state.secret is not None
    assert policy.defence is not None
    number = state.n_releases + 1
    keep, tests = trimmed_view(view, policy, secret_chance(state.secret, number, "trim"))
    rows = np.flatnonzero(keep).astype(np.int32)
    relaxed = policy.defence.mode == "relaxed"
    if relaxed:
        rows = secret_chance(state.secret, number, "ties").permutation(rows)
    pieces = cut_pieces(
        view.quasi, view.sensitive, rows, CutRules(policy.terms.least_people, relaxed, 0), tests, workers
    )
    pieces = with_enough_people(pieces, view, policy.terms.least_people)
    return draft_of(view, pieces, secret_chance(state.secret, number, "shuffle"), workers)


def cut_pieces(
    quasi: Sequence[CodedColumn],
    sensitive: Sequence[CodedColumn],
    rows: npt.NDArray[np.int32],
    rules: CutRules,
    tests: ClassTests,
    workers: Workers,
) -> LabelPieces:
    """Return the groups as pieces of an order of ``rows``."""
    n = len(rows)
    if not n:
        return LabelPieces(rows, np.zeros(1, dtype=np.int64))
    # columns with many values last: they do not fit the narrow lanes
    quasi = sorted(quasi, key=_is_wide)
    judged = sensitive if len(tests.kinds) else ()
    moved = _rows(quasi, judged, rows, workers)
    trees = _trees_of([column.scale for column in quasi])
    tests = tests if len(tests.kinds) else tests._replace(offsets=tests.offsets[:1])
    starts = np.zeros(1, dtype=np.int64)
    for stop in _stops(n, workers.count):
        cut = partial(_cut, moved, trees, rules._replace(stop=stop), tests)
        starts = np.concatenate(workers.map(cut, pairwise([*starts.tolist(), n])))
    order = moved.ints[0, :, moved.first_int + moved.n_wide + len(judged)].copy()
    return LabelPieces(order, np.append(starts, n))


def _stops(n: int, workers: int) -> list[int]:
    """Return how far each round cuts: halves until every worker has one, then pieces to share, then to the end."""
    if workers == 1:
        return [0]
    halves = [n >> level for level in range(1, (workers - 1).bit_length() + 1)]
    return [*halves, n // (_PIECES_PER_WORKER * workers), 0]


def _cut(
    moved: RowWords, trees: ColumnScales, rules: CutRules, tests: ClassTests, bounds: tuple[int, int]
) -> npt.NDArray[np.int64]:
    starts: npt.NDArray[np.int64] = cut_rows(moved, bounds, trees, rules, tests)
    return starts


def _is_wide(column: CodedColumn) -> bool:
    return len(column.scale) > np.iinfo(np.uint8).max + 1


def _rows(
    quasi: Sequence[CodedColumn], sensitive: Sequence[CodedColumn], rows: npt.NDArray[np.int32], workers: Workers
) -> RowWords:
    """Lay out the codes of the rows for the kernel; ``quasi`` has its wide columns last."""
    n_narrow = sum(not _is_wide(column) for column in quasi)
    n_lanes = -(-n_narrow // LANES) * LANES
    first_int = n_lanes // 4
    n_ints = len(quasi) - n_narrow + len(sensitive) + 1
    words = np.zeros((2, len(rows), (n_lanes + 4 * n_ints + 7) // 8), dtype=np.uint64)
    lanes, ints = words.view(np.uint8), words.view(np.int32)
    targets: list[npt.NDArray[Any]] = [
        *(lanes[0, :, index] for index in range(n_narrow)),
        *(ints[0, :, first_int + index] for index in range(n_ints - 1)),
    ]
    ints[0, :, first_int + n_ints - 1] = rows
    # nothing withheld and nothing shuffled: the codes are already in order
    whole = len(quasi) > 0 and len(rows) == len(quasi[0].codes) and bool((rows[1:] > rows[:-1]).all())

    def lay(first: int) -> None:
        chunk = slice(first, first + _CHUNK)
        for target, column in zip(targets, [*quasi, *sensitive], strict=True):
            target[chunk] = column.codes[chunk] if whole else column.codes[rows[chunk]]

    workers.map(lay, range(0, len(rows), _CHUNK))
    return RowWords(lanes, ints, words, first_int, len(quasi) - n_narrow)


def _trees_of(scales: Sequence[Scale]) -> ColumnScales:
    """Lay out the scales of the quasi columns flat, for a kernel."""
    sizes = np.array([len(scale) for scale in scales], dtype=np.int64)
    lengths = np.array([scale.starts.size for scale in scales], dtype=np.int64)
    return ColumnScales(
        np.concatenate([scale.starts.ravel() for scale in scales] or [np.zeros(0, dtype=np.int32)]),
        np.concatenate([scale.ends.ravel() for scale in scales] or [np.zeros(0, dtype=np.int32)]),
        np.stack([np.cumsum(lengths) - lengths, sizes, np.cumsum(sizes) - sizes], axis=1),
        np.concatenate([scale.positions for scale in scales] or [np.zeros(0)]),
        np.array([scale.width for scale in scales], dtype=np.float64),
    )
