"""A scale: the ordered domain of a coded column, and how its values generalise.

Codes are positions on the scale. Every scale is a tree of nested ranges: height 0 is a single value, the last height is
the whole domain. A plain number or category has nothing in between; a hierarchy has its levels; a missing cell is a
value directly under the top. So one kernel serves all of them.
"""

from __future__ import annotations

import math
import re
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

TOP = "*"
"""What every value becomes in the end."""
IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
Form = Literal["interval", "set", "node"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scale:
    """``starts[h, c]`` to ``ends[h, c]`` (exclusive) is the range at height ``h`` that holds code ``c``."""

    form: Form
    texts: pa.StringArray
    """The values as text, in scale order; null is the missing value."""
    _: KW_ONLY
    positions: FloatArray
    """The position of each value: the number itself, days for a date, else its rank."""
    starts: IntArray
    ends: IntArray
    node_labels: tuple[tuple[str, ...], ...] = ()
    """For the form ``node``: the label of every code at heights 1 up to the top."""
    ranked: bool = False
    """Whether the policy declares the order of a category's values."""
    dated: bool = False
    """Whether the values are dates: positions are days, and per cent of a day's number mean nothing."""

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"Scale({self.form}, {len(self)} values, {len(self.starts)} heights)"

    @property
    def top(self) -> int:
        """Return the height at which everything is one."""
        return len(self.starts) - 1

    @property
    def width(self) -> float:
        """Return the distance from the first to the last value; 0 if it is counted in values of a hierarchy."""
        if self.form == "node" or not len(self):
            return 0.0
        known = len(self) - int(self.texts.null_count)
        return float(max(self.positions[max(known - 1, 0)] - self.positions[0], np.finfo(np.float64).tiny))

    def heights(self, lo: IntArray, hi: IntArray) -> IntArray:
        """Return the smallest height whose range holds both codes."""
        found = np.full(len(lo), self.top, dtype=np.int32)
        for height in range(self.top - 1, -1, -1):
            found[self.starts[height][lo] == self.starts[height][hi]] = height
        return found


def scale_of(
    form: Form,
    texts: pa.StringArray,
    positions: FloatArray,
    levels: list[tuple[str, ...]] | None = None,
    apart: int = 0,
) -> Scale:
    """Return a scale over values in order; ``levels[h]`` has each value's label at height h + 1, ending in ``*``.

    The last ``apart`` values are in no level: each is directly under the top.

    Without levels a missing value, which must come last, is still apart from the rest at the top.
    """
    n = len(texts)
    if levels is None:
        inner = [np.where(np.asarray(texts.is_null()), 1, 0)] if texts.null_count and n > texts.null_count else []
    else:
        inner = [_runs(labels, n - apart) for labels in levels[:-1]]
    keys = [np.arange(n), *inner, np.zeros(n, dtype=np.int64)]
    if n <= 1:
        keys = keys[:1] + keys[-1:]
    starts = np.empty((len(keys), n), dtype=np.int32)
    ends = np.empty((len(keys), n), dtype=np.int32)
    for height, key in enumerate(keys):
        cut = np.flatnonzero(np.diff(key)) + 1
        edges = np.concatenate(([0], cut, [n]))
        which = np.searchsorted(edges, np.arange(n), side="right") - 1
        starts[height], ends[height] = edges[which], edges[which + 1] if n else edges[which]
    labels = tuple(levels) if levels is not None else ()
    return Scale(form, texts, positions=positions, starts=starts, ends=ends, node_labels=labels)


def _runs(labels: tuple[str, ...], known: int) -> npt.NDArray[Any]:
    """Return a number for each run of equal labels; from position ``known`` on, each value is a run of its own."""
    values = np.asarray(labels, dtype=object)
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    differ = (values[1:] != values[:-1]) | (np.arange(1, len(values)) >= known)
    return np.concatenate(([0], np.cumsum(differ)))


def interval_label(low: str, high: str) -> str:
    return f"[{low},{high}]"


def set_label(texts: list[str]) -> str:
    """Write ``{x,y}``; a value with a comma, brace or quote is in double quotes, its quotes doubled."""
    return "{" + ",".join(word_in_set(text) for text in texts) + "}"


def word_in_set(text: str) -> str:
    """Write a value as it is written inside a set."""
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',{}"') else text


_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_BRACKETS = re.compile(rf"([\[\](])\s*({_NUMBER})\s*(?:,|;|\.\.|-|to)\s*({_NUMBER})\s*([\])\[])")
_DASH = re.compile(rf"({_NUMBER})\s*(?:-|–|\.\.|to)\s*({_NUMBER})")
_OPEN = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_MORE = re.compile(rf"({_NUMBER})\s*\+")


class Span(NamedTuple):
    """From ``low`` to ``high``; an open end is excluded."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    def holds(self, number: float) -> bool:
        above = number > self.low if self.low_open else number >= self.low
        return above and (number < self.high if self.high_open else number <= self.high)


def span_point(label: str | None) -> float:
    """Return the number that a label is; nan for all others."""
    try:
        return float(label) if label is not None else math.nan
    except ValueError:
        return math.nan


def span_of(label: str) -> Span | None:
    """Return the range that a label is; None if it is not one."""
    if not math.isnan(value := span_point(label)):
        return Span(value, value)  # 39.0 for 39
    if found := _BRACKETS.fullmatch(label):
        return Span(float(found[2]), float(found[3]), found[1] != "[", found[4] != "]")
    if found := _DASH.fullmatch(label):
        return Span(float(found[1]), float(found[2]))
    if found := _MORE.fullmatch(label):
        return Span(low=float(found[1]))
    if found := _OPEN.fullmatch(label):
        end, number = found[1], float(found[2])
        below = Span(high=number, high_open=end == "<")
        return below if end in ("<", "<=", "≤") else Span(low=number, low_open=end == ">")
    return None
