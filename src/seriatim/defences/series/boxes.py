"""Boxes of methods whose groups are larger than what they publish of places: lineages and cohorts.

Boxes say nothing about values, so they hold m to 2m - 1 real people, near each other. With a hierarchy they are cut
along it; a box that its boundaries keep whole may be larger.
"""

from __future__ import annotations

import numpy as np

from seriatim.defences.series.contract import LongArray, PlaceArray, SerialView
from seriatim.kernels.lineage.cells import cut_cells
from seriatim.kernels.series.tree_boxes import BoxTrees, cut_tree_boxes
from seriatim.model.scale import IntArray, Scale


def along_hierarchies(view: SerialView) -> bool:
    """Return whether boxes are cut along a hierarchy."""
    return any(scale.form == "node" for scale in view.scales)


def number_boxes(view: SerialView, records: IntArray, runs: LongArray, place: PlaceArray, m: int) -> IntArray:
    """Return everyone's box, -1 for records that are in no run; boxes lie inside runs of records."""
    ids, box = records.copy(), np.full(len(view), -1, dtype=np.int32)
    if along_hierarchies(view):
        numbers = cut_tree_boxes(ids, runs, view.quasi, _flat_trees(view.scales), m)
    else:
        numbers = cut_cells(ids, runs, place, m)
    box[ids] = numbers
    return box


def _flat_trees(scales: tuple[Scale, ...]) -> BoxTrees:
    sizes = np.array([len(scale) for scale in scales], dtype=np.int64)
    lengths = np.array([scale.starts.size for scale in scales], dtype=np.int64)
    return BoxTrees(
        np.concatenate([scale.starts.ravel() for scale in scales]),
        np.concatenate([scale.ends.ravel() for scale in scales]),
        np.stack([np.cumsum(lengths) - lengths, sizes, np.cumsum(sizes) - sizes], axis=1),
        np.concatenate([scale.positions for scale in scales]).astype(np.float64),
        np.array([_span(scale) for scale in scales], dtype=np.float64),
    )


def _span(scale: Scale) -> float:
    """Return the whole width of a column; 0 if it is counted in values of its hierarchy."""
    if scale.form == "node" or not len(scale):
        return 0.0
    known = len(scale) - int(scale.texts.null_count)
    return float(max(scale.positions[max(known - 1, 0)] - scale.positions[0], np.finfo(np.float64).tiny))
