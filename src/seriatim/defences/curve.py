"""Neighbours along a Hilbert curve: an order in which near records are near, cut into the best segments.

What is optimal: for the order at hand, no other way to cut a block of it (``_BLOCK`` records; the borders of blocks
are always borders of segments) has a smaller normalised certainty penalty, a set being measured by the range of values
it spans. When only k is asked, segments of k to 2k - 1 records suffice: a longer one can be cut in two without loss.
Other promises may need longer ones; then a segment has at most ``_STEPS`` steps, twice what it usually needs, longer
only where none of these fits, and borders lie on the grid of those steps (single records where few suffice), which is
coarsened where there is no way. A block that cannot be cut at all is joined with its neighbour, so every record is
placed whenever all records together keep the promises; what they cannot keep even so was trimmed before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from seriatim.defences.drafting import draft_of
from seriatim.defences.labels import Pieces
from seriatim.defences.tests import class_tests
from seriatim.defences.trimming import publishable
from seriatim.defences.widths import widths_of
from seriatim.kernels.search.acceptance import Tests
from seriatim.kernels.search.hilbert import Axes, Scramble, curve_keys, rows_in_order
from seriatim.kernels.search.segments import LANES, Widths, cut_by_size, cut_by_tests, sizes_that_pass
from seriatim.model import Coded, Draft, Policy, Scale, SeriesState, View
from seriatim.model.chance import secret_chance
from seriatim.ports import Engine

_BLOCK = 1 << 15
_STEPS = 10
_PROBES = 128
_KEY_BITS = 40
_MOST_BITS = 16
_ROUNDS = 3

IntArray = npt.NDArray[np.int32]
Lanes = npt.NDArray[np.integer]


def curve(view: View, policy: Policy, state: SeriesState, engine: Engine) -> Draft:
    """Groups along the curve (Ghinita et al. 2007 use it so for k and l), every promise kept in every group."""
    assert state.secret is not None
    number = state.n_releases + 1
    keep = publishable(view.sensitive, policy, view.suppressed, secret_chance(state.secret, number, "trim"))
    rows = np.flatnonzero(keep).astype(np.int32)
    tests = class_tests(view.sensitive, policy.terms.per_column, keep)
    sensitive = view.sensitive if len(tests.kinds) else ()
    pieces = curve_pieces(
        [Coded(c.name, c.codes[rows], c.scale) for c in view.quasi],
        [Coded(c.name, c.codes[rows], c.scale) for c in sensitive],
        Crowd(policy.terms.k or 1, tests),
        secret_chance(state.secret, number, "ties"),
        engine,
    )
    whole = Pieces(rows[pieces.order], pieces.bounds)
    return draft_of(view, whole, secret_chance(state.secret, number, "shuffle"))


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """What every segment must be."""

    k: int
    tests: Tests


def curve_pieces(
    quasi: Sequence[Coded], sensitive: Sequence[Coded], crowd: Crowd, chance: np.random.Generator, engine: Engine
) -> Pieces:
    """The groups as pieces of an order of all records."""
    lanes = lanes_of(quasi, engine)
    order, ordered = along_curve(lanes, [column.scale for column in quasi], chance, engine)
    values = np.empty((len(sensitive), len(order)), dtype=np.int32)
    for index, column in enumerate(sensitive):
        values[index] = column.codes[order] + np.int32(crowd.tests.offsets[index])
    starts = segment_starts(ordered, values, crowd, widths_of([column.scale for column in quasi]), engine)
    return Pieces(order, np.append(starts, len(order)).astype(np.int64))


def lanes_of(columns: Sequence[Coded], engine: Engine) -> Lanes:
    """The codes side by side, as small as they fit, padded with zeros."""
    n = len(columns[0].codes) if columns else 0
    narrow = all(len(column.scale) <= np.iinfo(np.uint16).max for column in columns)
    lanes = np.zeros((n, -(-max(len(columns), 1) // LANES) * LANES), dtype=np.uint16 if narrow else np.int32)

    def lay(rows: slice) -> None:
        for index, column in enumerate(columns):
            lanes[rows, index] = column.codes[rows]

    engine.map(lay, _slices(np.linspace(0, n, engine.workers + 1).astype(np.int64).tolist()))
    return lanes


def along_curve(
    lanes: Lanes, scales: Sequence[Scale], chance: np.random.Generator, engine: Engine
) -> tuple[IntArray, Lanes]:
    """The rows in the order of the curve, and their lanes; rows in the same cell stand in an order drawn by chance.

    Each column's values are spread evenly over one range, so that no unit of measurement weighs more than another.
    """
    n = len(lanes)
    scramble = _scramble(max(n - 1, 1).bit_length(), chance)
    axes = _axes(scales, 64 - scramble.width)
    keys = np.empty(n, dtype=np.uint64)
    bounds = np.linspace(0, n, engine.workers + 1).astype(np.int64).tolist()
    engine.map(lambda part: curve_keys(lanes, axes, scramble, part[0], keys[part[0] : part[1]]), pairwise(bounds))
    keys.sort()
    rows, ordered = np.empty(n, dtype=np.int32), np.empty_like(lanes)
    engine.map(lambda p: rows_in_order(keys[p], scramble, lanes, rows[p], ordered[p]), _slices(bounds))
    return rows, ordered


def _slices(bounds: Sequence[int]) -> list[slice]:
    return [slice(first, last) for first, last in pairwise(bounds)]


def _scramble(width: int, chance: np.random.Generator) -> Scramble:
    drawn = chance.integers(0, 1 << 63, 2 * _ROUNDS, dtype=np.uint64).tolist()
    factors = [(factor | 1) % (1 << width) for factor in drawn[:_ROUNDS]]
    inverses = [pow(factor, -1, 1 << width) for factor in factors]
    arrays = [np.array(part, dtype=np.uint64) for part in (factors, inverses, drawn[_ROUNDS:])]
    return Scramble(width, *arrays)


def _axes(scales: Sequence[Scale], room: int) -> Axes:
    """Values spread over the cells by rank, so that a far outlier does not press the others into one cell."""
    used = [column for column, scale in enumerate(scales) if len(scale) > 1][:room]
    bits = max(min(_MOST_BITS, min(_KEY_BITS, room) // max(len(used), 1)), 1)
    cells = np.zeros((len(used), max((len(scales[column]) for column in used), default=1)), dtype=np.uint32)
    for axis, column in enumerate(used):
        n = len(scales[column])
        cells[axis, :n] = np.arange(n, dtype=np.int64) * ((1 << bits) - 1) // (n - 1)
    return Axes(cells, np.array(used, dtype=np.int64), bits)


def segment_starts(
    lanes: Lanes, values: IntArray, crowd: Crowd, widths: Widths, engine: Engine
) -> npt.NDArray[np.int64]:
    """Where the segments of an order begin: block by block, side by side."""
    n = len(lanes)
    if not n:
        return np.zeros(0, dtype=np.int64)
    bounds = np.linspace(0, n, max(n // _BLOCK, 1) + 1).astype(np.int64).tolist()
    if not len(crowd.tests.kinds):
        parts = engine.map(lambda part: cut_by_size(lanes[part], crowd.k, widths), _slices(bounds))
        return np.concatenate([first + starts for first, starts in zip(bounds, parts, strict=False)])
    step = _usual_step(values, crowd)

    def cut(part: slice) -> npt.NDArray[np.int64]:
        return _cut_block(lanes[part], values[:, part], crowd, step, widths)

    return _joined(list(_slices(bounds)), engine.map(cut, _slices(bounds)), cut)


def _usual_step(values: IntArray, crowd: Crowd) -> int:
    """The grid on which ``_STEPS`` steps are twice the records that a segment usually needs, found by probing."""
    n = values.shape[1]
    reach = min(n, _BLOCK)
    probes = np.unique(np.linspace(reach, n, _PROBES).astype(np.int64))
    needed = np.concatenate(
        [sizes_that_pass(values[:, end - reach : end], np.array([reach]), crowd.k, crowd.tests) for end in probes]
    )
    usual = int(np.quantile(np.where(needed > 0, needed, reach), 0.5, method="lower"))
    return max(2 * usual // _STEPS, 1)


def _cut_block(lanes: Lanes, values: IntArray, crowd: Crowd, step: int, widths: Widths) -> npt.NDArray[np.int64]:
    """On a coarser and coarser grid until there is a way; in the end the block is one segment, or cannot be."""
    while True:
        most = max(_STEPS, -(-2 * crowd.k // step))
        starts: npt.NDArray[np.int64] = cut_by_tests(lanes, values, crowd.k, step, most, widths, crowd.tests)
        if len(starts) or step >= len(lanes):
            return starts
        step *= 2


def _joined(
    blocks: list[slice], parts: list[npt.NDArray[np.int64]], cut: Callable[[slice], npt.NDArray[np.int64]]
) -> npt.NDArray[np.int64]:
    """All starts; a block that cannot be cut is joined with the one before it, or the first with the next."""
    done: list[tuple[slice, npt.NDArray[np.int64]]] = []
    for block, starts in zip(blocks, parts, strict=True):
        part, found = block, starts
        while done and not (len(found) and len(done[-1][1])):
            part = slice(done.pop()[0].start, part.stop)
            found = cut(part)
        done.append((part, found))
    if not len(done[0][1]):
        return np.zeros(1, dtype=np.int64)  # nothing passes: one group of all, for the verdict to name what fails
    return np.concatenate([part.start + found for part, found in done])
