"""What generalising costs: entropy of the values that share a label, and steps climbed in the hierarchies."""

from __future__ import annotations

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.model import Coded, Draft, Generalised, Measure, View
from seriatim.model.scale import FloatArray, IntArray
from seriatim.model.tabulation import classify

LEVELS = "levels of the hierarchy"
WIDTHS = "widths of labels, as the column has no hierarchy"


def non_uniform_entropy(original: IntArray, published: IntArray) -> float:
    """Bits lost per record of one column: -log2 of the share its value has among the records with its label.

    After Gionis and Tassa; 0 when every label stands for one value. A withheld record is a label of its own kind:
    give all of them the same code.
    """
    n = len(original)
    if len(published) != n or not n:
        raise InputError(Fault("published", f"{len(published)} records beside {n}", "the same records in order"))
    label = classify([published], [int(published.max()) + 1], n)
    both = classify([published, original], [int(published.max()) + 1, int(original.max()) + 1], n)
    share = both.sizes[both.of_record] / label.sizes[label.of_record]
    return float(-np.log2(share).mean()) + 0.0


def precision(heights: FloatArray, tops: FloatArray) -> float:
    """Sweeney's Prec: 1 when nothing was generalised, 0 when every cell is '*'.

    ``heights[record, column]`` is the level a cell was raised to, ``tops[column]`` the level of '*'.
    """
    if heights.shape[-1] != len(tops) or (tops <= 0).any():
        raise InputError(
            Fault("tops", f"{len(tops)} heights for {heights.shape[-1]} columns", "one above 0 per column")
        )
    return 1.0 - float((heights / tops).mean()) if heights.size else 1.0


def information_measures(view: View, draft: Draft) -> tuple[Measure, ...]:
    """Non-uniform entropy and precision of every quasi-identifier, for a draft of a view.

    A suppressed record counts as '*' throughout. A column without a hierarchy has no levels to climb: there the
    width of a label over the width of the column takes their place, and the measure says so.
    """
    if not len(view):
        return ()
    columns = {column.name: column for column in view.quasi}
    found = []
    for shown in draft.generalised:
        column = columns[shown.name]
        bits = non_uniform_entropy(column.codes, _labels_of_records(draft, shown))
        found.append(Measure("non_uniform_entropy", bits, "bits per record", {"column": shown.name}))
        found.append(_precision(draft, shown, column))
    return tuple(found)


def _precision(draft: Draft, shown: Generalised, column: Coded) -> Measure:
    if column.scale.form == "node":
        heights = _heights_of_groups(shown, column)[draft.grouping.group]
        kept = precision(heights[:, None], np.array([float(column.scale.top)]))
        return Measure("precision", kept, "share", {"column": shown.name, "by": LEVELS})
    widths = np.append(shown.loss_of_group, 1.0)[draft.grouping.group]
    return Measure("precision", 1.0 - float(widths.mean()), "share", {"column": shown.name, "by": WIDTHS})


def _labels_of_records(draft: Draft, shown: Generalised) -> IntArray:
    labels = np.append(shown.label_of_group, len(shown.labels)).astype(np.int32)
    return np.asarray(labels[draft.grouping.group], dtype=np.int32)


def _heights_of_groups(shown: Generalised, column: Coded) -> FloatArray:
    """The lowest level at which each group's label stands; the last entry is for suppressed records."""
    height_of: dict[str | None, int] = {}
    for height, labels in enumerate((tuple(column.scale.texts.to_pylist()), *column.scale.node_labels)):
        for label in labels:
            height_of.setdefault(label, height)
    heights = [height_of.get(label, column.scale.top) for label in shown.labels]
    of_label = np.asarray([*heights, column.scale.top], dtype=np.float64)
    return np.asarray(of_label[np.append(shown.label_of_group, len(shown.labels))])
