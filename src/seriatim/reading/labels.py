"""What a published label stands for, whichever tool wrote it: the values of a scale that it covers.

Read are values as they were, ``*``, labels of the policy's hierarchy, ``{x,y}``, masked endings such as ``481**``, and
for numbers and dates the usual spellings of a range: ``[20,40]``, ``[20, 40[``, ``(20,40]``, ``20-40``, ``<20``,
``>=40``, ``40+``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from seriatim.model.scale import TOP, FloatArray, IntArray, Scale
from seriatim.reading.boxes import listed

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_BRACKETS = re.compile(rf"([\[\](])\s*({_NUMBER})\s*(?:,|;|\.\.|-|to)\s*({_NUMBER})\s*([\])\[])")
_DASH = re.compile(rf"({_NUMBER})\s*(?:-|–|\.\.|to)\s*({_NUMBER})")
_OPEN = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_MORE = re.compile(rf"({_NUMBER})\s*\+")


def covers(labels: Sequence[str | None], scale: Scale) -> list[IntArray | None]:
    """For each label the codes it covers, in order; None for a label that cannot be read on this scale."""
    texts: list[str | None] = scale.texts.to_pylist()
    place = {text: code for code, text in enumerate(texts)}
    nodes: dict[str, tuple[int, int]] = {}
    for height, of_code in enumerate(scale.node_labels, start=1):
        for code, label in enumerate(of_code):
            nodes.setdefault(label, (int(scale.starts[height, code]), int(scale.ends[height, code])))
    everything = np.arange(len(scale), dtype=np.int32)

    def read(label: str | None) -> IntArray | None:
        if label in place:
            return everything[place[label] : place[label] + 1]
        if label is None or label == TOP:
            return everything
        if label in nodes:
            return everything[slice(*nodes[label])]
        members = [place.get(text, -1) for text in listed(label)] if label.startswith("{") else []
        if members and min(members) >= 0:
            return np.sort(np.asarray(members, dtype=np.int32))
        return _range(label, scale, place) if scale.form == "interval" else _masked(label, texts)

    found = [read(label) for label in labels]
    return [None if codes is None or not len(codes) else codes for codes in found]


def levels(labels: Sequence[str | None], scale: Scale) -> FloatArray:
    """The lowest level of the hierarchy at which each label stands, '*' at the top; nan for other labels."""
    height_of: dict[str | None, int] = {TOP: scale.top, None: 0 if scale.texts.null_count else scale.top}
    for height, of_code in enumerate((tuple(scale.texts.to_pylist()), *scale.node_labels)):
        for label in of_code:
            height_of.setdefault(label, height)
    return np.array([height_of.get(label, math.nan) for label in labels])


def point(label: str | None) -> float:
    """A label that is one number; nan for all others."""
    try:
        return float(label) if label is not None else math.nan
    except ValueError:
        return math.nan


def _range(label: str, scale: Scale, place: dict[str | None, int]) -> IntArray | None:
    ends = [place[end] for end in listed(label) if end in place] if label.startswith("[") else []
    if len(ends) == 2:
        return np.arange(min(ends), max(ends) + 1, dtype=np.int32)
    known: FloatArray = np.where(np.asarray(scale.texts.is_null()), np.nan, scale.positions)
    if found := _BRACKETS.fullmatch(label):
        low, high = float(found[2]), float(found[3])
        above = known >= low if found[1] == "[" else known > low
        below = known <= high if found[4] == "]" else known < high
    elif found := _DASH.fullmatch(label):
        above, below = known >= float(found[1]), known <= float(found[2])
    elif found := _OPEN.fullmatch(label):
        limit, sign = float(found[2]), found[1]
        above = known >= limit if sign in (">=", "≥") else known > limit if sign == ">" else ~np.isnan(known)
        below = known <= limit if sign in ("<=", "≤") else known < limit if sign == "<" else ~np.isnan(known)
    elif found := _MORE.fullmatch(label):
        above, below = known >= float(found[1]), ~np.isnan(known)
    else:
        return _masked(label, scale.texts.to_pylist())
    return np.flatnonzero(above & below).astype(np.int32)


def _masked(label: str, texts: list[str | None]) -> IntArray | None:
    """``481**``: what begins so and is as long; when nothing is, what begins so."""
    stem = label.rstrip(TOP)
    if stem == label or TOP in stem:
        return None
    alike = [code for code, text in enumerate(texts) if text is not None and text.startswith(stem)]
    as_long = [code for code in alike if len(texts[code] or "") == len(label)]
    return np.asarray(as_long or alike, dtype=np.int32)
