"""What generalising costs: the usual measures of loss, bits that labels hide, and levels climbed in the hierarchies."""

from __future__ import annotations

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.model import TOP, CodedColumn, Draft, Generalised, Measure, View
from seriatim.model.classes import LongArray
from seriatim.model.scale import FloatArray, IntArray


def cost_of_draft(draft: Draft, class_sizes: LongArray) -> tuple[Measure, ...]:
    """Return GCP, discernibility, average class size and the suppressed share of a draft."""
    sizes = class_sizes.astype(np.float64)
    n, suppressed = draft.n_records, draft.grouping.n_suppressed
    # a suppressed record is as uncertain as the whole table (Bayardo, Agrawal 2005)
    discernibility = float((sizes**2).sum() + suppressed * n)
    per_column = penalty_by_column(draft)
    gcp = float(np.mean(list(per_column.values()))) if per_column else 0.0
    return (
        Measure("gcp", gcp, "share", {"meaning": "global certainty penalty; a suppressed record counts 1"}),
        Measure("discernibility", discernibility, "pairs", {"meaning": "pairs of records that look alike"}),
        Measure("average_class_size", float(sizes.mean()) if len(sizes) else 0.0, "records", {}),
        Measure("classes", float(len(sizes)), "classes", {}),
        Measure("suppressed_share", draft.suppressed_share, "share", {"records": suppressed}),
    )


def penalty_by_column(draft: Draft) -> dict[str, float]:
    """Return each quasi column's normalised certainty penalty, the mean over records; a suppressed one counts 1."""
    group = draft.grouping.group
    counts = np.bincount(group[group >= 0], minlength=draft.grouping.n_groups)
    n = max(draft.n_records, 1)
    return {
        g.name: float((counts * g.loss_of_group).sum() + draft.grouping.n_suppressed) / n for g in draft.generalised
    }


LEVELS = "levels of the hierarchy"
WIDTHS = "widths of labels, as the column has no hierarchy"


def bits_in_ranges(counts: LongArray, low: IntArray, high: IntArray) -> FloatArray:
    """Return the bits that a label over the codes low .. high leaves open about the value, by shares of the original.

    After Gionis and Tassa; 0 for one value. ``counts`` are the original's records with each code.
    """
    held = counts.astype(np.float64)
    logs = held * np.log2(np.maximum(held, 1.0))
    total, inner = _running(held), _running(logs)
    return _bits(total[high + 1] - total[low], inner[high + 1] - inner[low])


def _running(parts: FloatArray) -> FloatArray:
    return np.asarray(np.concatenate((np.zeros(1), np.cumsum(parts))), dtype=np.float64)


def bits_in_sets(counts: LongArray, owner: LongArray, codes: IntArray, n_sets: int) -> FloatArray:
    """Return the same for sets of codes: ``codes[i]`` is in set ``owner[i]``."""
    held = counts[codes].astype(np.float64)
    logs = held * np.log2(np.maximum(held, 1.0))
    totals, inner = (np.bincount(owner, part, n_sets).astype(np.float64) for part in (held, logs))
    return _bits(totals, inner)


def _bits(total: FloatArray, logs: FloatArray) -> FloatArray:
    safe = np.maximum(total, 1.0)
    return np.asarray(np.maximum(np.log2(safe) - logs / safe, 0.0), dtype=np.float64)


def sweeney_precision(heights: FloatArray, tops: FloatArray) -> float:
    """Return Sweeney's Prec: 1 if nothing was generalised, 0 if every cell is '*'.

    ``heights[record, column]`` is the level a cell was raised to, ``tops[column]`` the level of '*'.
    """
    if heights.shape[-1] != len(tops) or (tops <= 0).any():
        raise InputError(
            Fault("tops", f"{len(tops)} heights for {heights.shape[-1]} columns", "one above 0 per column")
        )
    return 1.0 - float((heights / tops).mean()) if heights.size else 1.0


def entropy_and_precision(view: View, draft: Draft) -> tuple[Measure, ...]:
    """Return the non-uniform entropy and precision of every quasi-identifier, for a draft of a view.

    A suppressed record counts as '*' in every column. A column without a hierarchy has no levels: the width of a label
    over the width of the column takes their place, and the measure says so.
    """
    if not len(view):
        return ()
    columns = {column.name: column for column in view.quasi}
    found = []
    for shown in draft.generalised:
        column = columns[shown.name]
        bits = float(_bits_of_groups(draft, shown, column)[draft.grouping.group].mean())
        found.append(Measure("non_uniform_entropy", bits, "bits per record", {"column": shown.name}))
        found.append(_precision(draft, shown, column))
    return tuple(found)


def _precision(draft: Draft, shown: Generalised, column: CodedColumn) -> Measure:
    if column.scale.form == "node":
        heights = _heights_of_groups(shown, column)[draft.grouping.group]
        kept = sweeney_precision(heights[:, None], np.array([float(column.scale.top)]))
        return Measure("precision", kept, "share", {"column": shown.name, "by": LEVELS})
    widths = np.append(shown.loss_of_group, 1.0)[draft.grouping.group]
    return Measure("precision", 1.0 - float(widths.mean()), "share", {"column": shown.name, "by": WIDTHS})


def _bits_of_groups(draft: Draft, shown: Generalised, column: CodedColumn) -> FloatArray:
    """Return the bits each group's label leaves open; the last entry is for suppressed records, which say nothing."""
    counts, everything = column.counts(), np.zeros(1, dtype=np.int32)
    whole = bits_in_ranges(counts, everything, everything + np.int32(len(counts) - 1))
    if shown.low is not None and shown.high is not None:
        bits = bits_in_ranges(counts, shown.low, shown.high)
    else:
        inside = draft.grouping.group >= 0
        size = np.int64(len(counts))
        pairs = draft.grouping.group[inside].astype(np.int64) * size + column.codes[inside]
        pairs.sort()  # twice as fast as np.unique, which hashes
        pairs = pairs[np.concatenate((pairs[:1] >= 0, pairs[1:] != pairs[:-1]))]
        bits = bits_in_sets(counts, pairs // size, (pairs % size).astype(np.int32), draft.grouping.n_groups)
    stars = [place for place, label in enumerate(shown.labels) if label == TOP]
    return np.append(np.where(np.isin(shown.label_of_group, stars), whole, bits), whole)


def _heights_of_groups(shown: Generalised, column: CodedColumn) -> FloatArray:
    """Return the lowest level that has each group's label; the last entry is for suppressed records."""
    height_of: dict[str | None, int] = {}
    for height, labels in enumerate((tuple(column.scale.texts.to_pylist()), *column.scale.node_labels)):
        for label in labels:
            height_of.setdefault(label, height)
    heights = [height_of.get(label, column.scale.top) for label in shown.labels]
    of_label = np.asarray([*heights, column.scale.top], dtype=np.float64)
    return np.asarray(of_label[np.append(shown.label_of_group, len(shown.labels))])
