"""Median cuts: strict or relaxed multidimensional recoding under any conjunction of promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.defences.drafting import draft_of
from seriatim.defences.labels import Pieces
from seriatim.defences.tests import class_tests
from seriatim.defences.trimming import publishable
from seriatim.kernels.search.acceptance import Tests
from seriatim.kernels.search.median import LANES, Rows, Rules, Trees, cut_by_median
from seriatim.model import Coded, Draft, Policy, Scale, SeriesState, View
from seriatim.model.chance import secret_chance
from seriatim.ports import Engine

MODES = ("strict", "relaxed")
# pieces for the other workers: enough to share evenly, few enough that the first cuts cost little
_PIECES_PER_WORKER = 4


def median(view: View, policy: Policy, state: SeriesState, engine: Engine) -> Draft:
    """Mondrian (LeFevre, DeWitt, Ramakrishnan 2006): cut the widest column at its median while both parts pass.

    ``relaxed`` cuts exactly in half, records that equal the median going to either side; ``strict`` keeps equal
    values together, so the published boxes do not overlap.
    """
    assert state.secret is not None
    assert policy.defence is not None
    number = state.n_releases + 1
    keep = publishable(view.sensitive, policy, view.suppressed, secret_chance(state.secret, number, "trim"))
    rows = np.flatnonzero(keep).astype(np.int32)
    relaxed = policy.defence.mode == "relaxed"
    if relaxed:
        rows = secret_chance(state.secret, number, "ties").permutation(rows)
    tests = class_tests(view.sensitive, policy.terms.per_column, keep)
    pieces = median_pieces(view.quasi, view.sensitive, rows, Rules(policy.terms.k or 1, relaxed, 0), tests, engine)
    return draft_of(view, pieces, secret_chance(state.secret, number, "shuffle"))


def median_pieces(
    quasi: Sequence[Coded],
    sensitive: Sequence[Coded],
    rows: npt.NDArray[np.int32],
    rules: Rules,
    tests: Tests,
    engine: Engine,
) -> Pieces:
    """The groups as pieces of an order of ``rows``."""
    n = len(rows)
    if not n:
        return Pieces(rows, np.zeros(1, dtype=np.int64))
    # columns of many values last: they do not fit the narrow lanes
    quasi = sorted(quasi, key=_is_wide)
    moved = _rows(quasi, sensitive if len(tests.kinds) else (), rows, engine)
    trees = trees_of([column.scale for column in quasi])
    tests = tests if len(tests.kinds) else tests._replace(offsets=tests.offsets[:1])
    stop = n // (_PIECES_PER_WORKER * engine.workers) if engine.workers > 1 else 0
    starts = cut_by_median(moved, (0, n), trees, rules._replace(stop=stop), tests)
    if stop:
        ends = np.append(starts[1:], n)
        parts = engine.map(
            lambda bounds: cut_by_median(moved, bounds, trees, rules, tests),
            [(int(first), int(last)) for first, last in zip(starts, ends, strict=True)],
        )
        starts = np.concatenate(parts)
    return Pieces(moved.also[0, -1].copy(), np.append(starts, n))


def _is_wide(column: Coded) -> bool:
    return len(column.scale) > np.iinfo(np.uint8).max + 1


def _rows(quasi: Sequence[Coded], sensitive: Sequence[Coded], rows: npt.NDArray[np.int32], engine: Engine) -> Rows:
    """The codes of the rows laid out for the kernel; ``quasi`` has its wide columns last."""
    n_narrow = sum(not _is_wide(column) for column in quasi)
    lanes = np.zeros((2, len(rows), -(-max(n_narrow, 1) // LANES) * LANES), dtype=np.uint8)
    wide = np.empty((2, len(quasi) - n_narrow, len(rows)), dtype=np.int32)
    also = np.empty((2, len(sensitive) + 1, len(rows)), dtype=np.int32)
    also[0, -1] = rows
    targets = [
        *(lanes[0, :, index] for index in range(n_narrow)),
        *(wide[0, index] for index in range(len(quasi) - n_narrow)),
        *(also[0, index] for index in range(len(sensitive))),
    ]
    # nothing withheld and nothing shuffled: the codes are already in order
    whole = len(quasi) > 0 and len(rows) == len(quasi[0].codes) and bool((rows[1:] > rows[:-1]).all())

    def lay(job: tuple[npt.NDArray[Any], Coded]) -> None:
        target, column = job
        target[:] = column.codes if whole else column.codes[rows]

    engine.map(lay, list(zip(targets, [*quasi, *sensitive], strict=True)))
    return Rows(lanes, wide, also)


def trees_of(scales: Sequence[Scale]) -> Trees:
    """The scales of the quasi columns laid out flat for a kernel."""
    sizes = np.array([len(scale) for scale in scales], dtype=np.int64)
    lengths = np.array([scale.starts.size for scale in scales], dtype=np.int64)
    return Trees(
        np.concatenate([scale.starts.ravel() for scale in scales] or [np.zeros(0, dtype=np.int32)]),
        np.concatenate([scale.ends.ravel() for scale in scales] or [np.zeros(0, dtype=np.int32)]),
        np.stack([np.cumsum(lengths) - lengths, sizes, np.cumsum(sizes) - sizes], axis=1),
        np.concatenate([scale.positions for scale in scales] or [np.zeros(0)]),
        np.array([_span(scale) for scale in scales], dtype=np.float64),
    )


def _span(scale: Scale) -> float:
    if scale.form == "node" or not len(scale):
        return 0.0
    known = len(scale) - int(scale.texts.null_count)
    return float(max(scale.positions[max(known - 1, 0)] - scale.positions[0], np.finfo(np.float64).tiny))
