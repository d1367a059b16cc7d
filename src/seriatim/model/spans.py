"""Reads ranges of numbers as tools write them: ``[20,40]``, ``[20, 40[``, ``(20,40]``, ``20-40``, ``<20``, ``40+``."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

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
