"""Groups neighbours along a Hilbert curve: near records are near in its order, which is cut into the best segments.

What is optimal: for the given order, no other cut of a block (``_BLOCK`` records; the ends of blocks are always ends of
segments) has a smaller normalised certainty penalty, where a set is measured by the range of values it spans. If the
policy promises only k, segments of k to 2k - 1 records suffice: a longer one can be cut in two without loss. Other
promises may need longer ones. Then a segment has at most ``_STEPS`` steps, twice what it usually needs; it is longer
only if none of these fits. Ends lie on the grid of those steps (single records if few suffice), which gets coarser
until there is a cut. A block that cannot be cut at all is joined with its neighbour, so every record gets a group
whenever all records together keep the promises; records beyond that were trimmed before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.defences.labels import LabelPieces
from seriatim.defences.single.curve.order import even_slices, hilbert_rows
from seriatim.defences.single.draft import draft_of
from seriatim.defences.single.trim import trimmed_view, with_enough_people
from seriatim.kernels.single.acceptance import ClassTests
from seriatim.kernels.single.hilbert import fetch_packed_rows
from seriatim.kernels.single.segments import (
    WindowLanes,
    WindowWidths,
    cut_by_size,
    cut_by_tests,
    segment_sizes_that_pass,
    window_cost_lanes,
)
from seriatim.model import CodedColumn, Draft, Policy, Scale, SeriesState, View
from seriatim.model.chance import secret_chance
from seriatim.ports import Workers


def widths_of(scales: Sequence[Scale]) -> WindowWidths:
    """Return the shares of each scale, or its hierarchy."""
    nested = np.array([scale.form == "node" for scale in scales], dtype=np.bool_)
    tables = [_nodes(scale) if scale.form == "node" else _shares(scale) for scale in scales]
    starts = [
        scale.starts.ravel() if scale.form == "node" else np.zeros(len(scale), dtype=np.int32) for scale in scales
    ]
    at = np.concatenate(([0], np.cumsum([len(table) for table in tables]))).astype(np.int64)
    sizes = np.array([len(scale) for scale in scales], dtype=np.int64)
    nothing = np.zeros(0, dtype=np.float32)
    return WindowWidths(
        nested,
        at,
        sizes,
        np.concatenate([nothing, *tables]),
        np.concatenate([nothing, *starts], dtype=np.int32, casting="unsafe"),
    )


def _nodes(scale: Scale) -> npt.NDArray[np.float32]:
    """Return heights x codes, flat: how many other values are in the range, as a share of all others."""
    others = (scale.ends - scale.starts - 1).ravel()
    return (others / np.float32(max(len(scale) - 1, 1))).astype(np.float32)


def _shares(scale: Scale) -> npt.NDArray[np.float32]:
    """Return the share of the domain below each value; a missing one lies beyond all others, as far as they span."""
    known = len(scale) - int(scale.texts.null_count)
    places = scale.positions[:known] if scale.form == "interval" else np.arange(known, dtype=np.float64)
    span = float(places[-1] - places[0]) if known else 0.0
    shares = (places - places[0]) / span if span > 0 else np.zeros(known)
    return np.append(shares, np.full(len(scale) - known, 2.0 if known else 0.0)).astype(np.float32)


_BLOCK = 1 << 15
_STEPS = 10
_PROBES = 128

IntArray = npt.NDArray[np.int32]


def curve(view: View, policy: Policy, state: SeriesState, workers: Workers) -> Draft:
    """Group along the curve (as Ghinita et al. 2007 do for k and l), with every promise kept in every group."""
    assert state.secret is not None
    number = state.n_releases + 1
    keep, tests = trimmed_view(view, policy, secret_chance(state.secret, number, "trim"))
    rows = np.flatnonzero(keep).astype(np.int32)
    sensitive = view.sensitive if len(tests.kinds) else ()
    pieces = best_pieces(
        [CodedColumn(c.name, c.codes[rows], c.scale) for c in view.quasi],
        [CodedColumn(c.name, c.codes[rows], c.scale) for c in sensitive],
        SegmentDemand(policy.terms.least_people, tests),
        secret_chance(state.secret, number, "ties"),
        workers,
    )
    whole = with_enough_people(LabelPieces(rows[pieces.order], pieces.bounds), view, policy.terms.least_people)
    return draft_of(view, whole, secret_chance(state.secret, number, "shuffle"), workers)


@dataclass(frozen=True, slots=True, eq=False)
class SegmentDemand:
    """What every segment must fulfil."""

    k: int
    tests: ClassTests


def best_pieces(
    quasi: Sequence[CodedColumn],
    sensitive: Sequence[CodedColumn],
    crowd: SegmentDemand,
    chance: np.random.Generator,
    workers: Workers,
) -> LabelPieces:
    """Return the groups as pieces of an order of all records."""
    order, packed = hilbert_rows(quasi, chance, workers)
    values = np.empty((len(sensitive), len(order)), dtype=np.int32)
    for index, column in enumerate(sensitive):
        values[index] = column.codes[order] + np.int32(crowd.tests.offsets[index])
    widths = widths_of([column.scale for column in quasi])

    def lanes(part: slice) -> WindowLanes:
        return WindowLanes(*window_cost_lanes(fetch_packed_rows(packed.words, order[part]), packed.layout, widths))

    starts = _segment_starts(lanes, values, crowd, workers)
    return LabelPieces(order, np.append(starts, len(order)).astype(np.int64))


def _segment_starts(
    lanes: Callable[[slice], WindowLanes], values: IntArray, crowd: SegmentDemand, workers: Workers
) -> npt.NDArray[np.int64]:
    """Return where the segments of an order start; blocks are cut in parallel."""
    n = values.shape[1]
    if not n:
        return np.zeros(0, dtype=np.int64)
    blocks = even_slices(n, n // max(_BLOCK, crowd.k))
    if not len(crowd.tests.kinds):
        parts = workers.map(lambda part: part.start + cut_by_size(lanes(part), crowd.k), blocks)
        return np.concatenate(parts)
    step = _usual_step(values, crowd)

    def cut(part: slice) -> npt.NDArray[np.int64]:
        return _cut_block(lanes(part), values[:, part], crowd, step)

    return _joined(blocks, workers.map(cut, blocks), cut)


def _usual_step(values: IntArray, crowd: SegmentDemand) -> int:
    """Probe for the grid on which ``_STEPS`` steps are twice the records that a segment usually needs."""
    n = values.shape[1]
    reach = min(n, _BLOCK)
    probes = np.unique(np.linspace(reach, n, _PROBES).astype(np.int64))
    needed = np.concatenate(
        [
            segment_sizes_that_pass(values[:, end - reach : end], np.array([reach]), crowd.k, crowd.tests)
            for end in probes
        ]
    )
    usual = int(np.quantile(np.where(needed > 0, needed, reach), 0.5, method="lower"))
    return max(2 * usual // _STEPS, 1)


def _cut_block(lanes: WindowLanes, values: IntArray, crowd: SegmentDemand, step: int) -> npt.NDArray[np.int64]:
    """Cut a block on coarser and coarser grids until there is a cut; in the end it is one segment, or fails."""
    while True:
        most = max(_STEPS, -(-2 * crowd.k // step))
        starts: npt.NDArray[np.int64] = cut_by_tests(lanes, values, crowd.k, step, most, crowd.tests)
        if len(starts) or step >= values.shape[1]:
            return starts
        step *= 2


def _joined(
    blocks: list[slice], parts: list[npt.NDArray[np.int64]], cut: Callable[[slice], npt.NDArray[np.int64]]
) -> npt.NDArray[np.int64]:
    """Return all starts; a block that cannot be cut joins the one before it, or the first the next."""
    done: list[tuple[slice, npt.NDArray[np.int64]]] = []
    for block, starts in zip(blocks, parts, strict=True):
        part, found = block, starts
        while done and not (len(found) and len(done[-1][1])):
            part = slice(done.pop()[0].start, part.stop)
            found = cut(part)
        done.append((part, found))
    if not len(done[0][1]):
        return np.zeros(1, dtype=np.int64)  # nothing passes: one group of all, and the verdict says what is broken
    return np.concatenate([part.start + found for part, found in done])
