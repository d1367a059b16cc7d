"""Reads published labels of any tool: which values of a scale a label covers.

Reads unchanged values, ``*``, labels of the policy's hierarchy, ``{x,y}``, masked endings such as ``481**``, and for
numbers and dates the usual spellings of a range: ``[20,40]``, ``[20, 40[``, ``(20,40]``, ``20-40``, ``<20``, ``>=40``,
``40+``.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from seriatim.model.scale import TOP, FloatArray, IntArray, Scale, span_of
from seriatim.reading.published_boxes import box_members


def covers(labels: Sequence[str | None], scale: Scale) -> list[IntArray | None]:
    """Return the codes each label covers, in order; None for a label that cannot be read on this scale."""
    texts: list[str | None] = scale.texts.to_pylist()
    code_of = {text: code for code, text in enumerate(texts)}
    nodes: dict[str, tuple[int, int]] = {}
    for level, of_code in enumerate(scale.node_labels, start=1):
        height = min(level, scale.top)  # a scale of one value has one height, whatever its hierarchy
        for code, label in enumerate(of_code):
            nodes.setdefault(label, (int(scale.starts[height, code]), int(scale.ends[height, code])))
    everything = np.arange(len(scale), dtype=np.int32)
    ordered = sorted(text for text in texts if text is not None)

    def read(label: str | None) -> IntArray | None:
        if label in code_of:
            return everything[code_of[label] : code_of[label] + 1]
        if label is None or label == TOP:
            return everything
        if label in nodes:
            return everything[slice(*nodes[label])]
        members = [code_of.get(text, -1) for text in box_members(label)] if label.startswith("{") else []
        if members and min(members) >= 0:
            return np.sort(np.asarray(members, dtype=np.int32))
        found = _range(label, scale, code_of, everything) if scale.form == "interval" else None
        if found is None:
            found = np.sort(np.asarray([code_of[text] for text in _masked(label, ordered)], dtype=np.int32))
        return found

    found = [read(label) for label in labels]
    return [None if codes is None or not len(codes) else codes for codes in found]


def lowest_levels(labels: Sequence[str | None], scale: Scale) -> FloatArray:
    """Return the lowest level of the hierarchy that has each label, with '*' at the top; nan for other labels."""
    height_of: dict[str | None, int] = {TOP: scale.top, None: 0 if scale.texts.null_count else scale.top}
    for height, of_code in enumerate((tuple(scale.texts.to_pylist()), *scale.node_labels)):
        for label in of_code:
            height_of.setdefault(label, min(height, scale.top))
    return np.array([height_of.get(label, math.nan) for label in labels])


def _range(label: str, scale: Scale, code_of: dict[str | None, int], everything: IntArray) -> IntArray | None:
    """Return the codes of a range; None if the label is not one.

    Bisects, since there may be as many labels as records.
    """
    ends = [code_of[end] for end in box_members(label) if end in code_of] if label.startswith("[") else []
    if len(ends) == 2:
        return everything[min(ends) : max(ends) + 1]
    span = span_of(label)
    if span is None:
        return None
    known = scale.positions[: len(scale) - int(scale.texts.null_count)]
    first = np.searchsorted(known, span.low, "right" if span.low_open else "left")
    return everything[first : np.searchsorted(known, span.high, "left" if span.high_open else "right")]


def _masked(label: str, texts: Sequence[str]) -> list[str]:
    """Return the sorted texts that fit a mask such as ``481**``: of the same length, or any length if none is."""
    stem = label.rstrip(TOP)
    if stem in ("", label) or TOP in stem:
        return []
    alike = list(texts[bisect_left(texts, stem) : bisect_left(texts, stem + chr(0x10FFFF))])
    return [text for text in alike if len(text) == len(label)] or alike
