"""Hierarchies: how the values of a column become coarser, step by step up to one value for all."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

from seriatim.model.scale import TOP, set_label


class Hierarchy(Protocol):
    """Level 0 is the value itself; the last level is ``*`` for all.

    Levels are nested: two values that share a label at one level share it at every level above.
    """

    @property
    def source(self) -> str:
        """Return where it came from, for messages: a file name or the builder's name."""

    @property
    def digest(self) -> str:
        """Return a digest; equal hierarchies have equal digests."""

    def paths(self, texts: Sequence[str]) -> list[tuple[str, ...] | None]:
        """Return the labels of each value from level 1 up to ``*``; ``None`` for a value it does not know.

        Every path has the same length, at least 1.
        """

    def known(self) -> tuple[str, ...] | None:
        """Return all values it knows, in its own order; ``None`` for a builder without a list."""


@dataclass(frozen=True, slots=True)
class PathHierarchy:
    """The rows of an ARX file: value;level1;...;*."""

    source: str
    digest: str
    rows: dict[str, tuple[str, ...]]

    def paths(self, texts: Sequence[str]) -> list[tuple[str, ...] | None]:
        return [self.rows.get(text) for text in texts]

    def known(self) -> tuple[str, ...] | None:
        return tuple(self.rows)


def path_hierarchy(source: str, rows: Mapping[str, tuple[str, ...]]) -> PathHierarchy:
    """Make a hierarchy of its rows. Their order counts: it is the order of the values on the scale."""
    levels = [_coded(labels) for labels in zip(*rows.values(), strict=True)]
    return PathHierarchy(source, paths_digest("rows", [list(rows), levels]), dict(rows))


def _coded(labels: tuple[str, ...]) -> list[list[Any]]:
    """Return each label once and the label of each row: a long set label must not be written per row."""
    places: dict[str, int] = {}
    rows = [places.setdefault(label, len(places)) for label in labels]
    return [list(places), rows]


def paths_digest(name: str, content: Any) -> str:
    """Return the digest of a hierarchy: its kind and its content as canonical JSON."""
    text = json.dumps([name, content], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


MOST_LEVELS = 100
"""Of a rule of prefixes: every value has a label at each."""


@dataclass(frozen=True, slots=True)
class PrefixHierarchy:
    """Keep this many characters and mask each of the rest: 12345 becomes ``1234*``, ``123**``, ``*``."""

    keep: tuple[int, ...]
    """Strictly falling; 0 is the top and may be omitted."""

    def __post_init__(self) -> None:
        if not self.keep or min(self.keep) < 0:
            raise ValueError("keep needs at least one number of characters, none negative")
        if len(self.keep) > MOST_LEVELS:
            raise ValueError(f"at most {MOST_LEVELS} levels")
        if any(fewer >= more for more, fewer in pairwise(self.keep)):
            raise ValueError("each level must keep fewer characters than the one before")

    @property
    def source(self) -> str:
        return "prefix"

    @property
    def digest(self) -> str:
        return paths_digest("prefix", [kept for kept in self.keep if kept])

    def known(self) -> tuple[str, ...] | None:
        return None

    def paths(self, texts: Sequence[str]) -> list[tuple[str, ...] | None]:
        kept = [number for number in self.keep if number]
        return [(*(text[:n] + "*" * (len(text) - n) for n in kept), TOP) for text in texts]


def text_runs(order: Sequence[str], sizes: Sequence[int]) -> PathHierarchy:
    """Return runs of ``sizes[h]`` neighbours in the declared order, written as sets; the last run may be shorter."""
    if not order or len(set(order)) != len(order):
        raise ValueError("an order has each value once, and at least one")
    if not sizes or sizes[0] < 1 or any(b <= a or b % a for a, b in pairwise(sizes)):
        raise ValueError("each size must be a greater multiple of the one before")
    runs = [
        (size, [set_label(list(order[start : start + size])) for start in range(0, len(order), size)]) for size in sizes
    ]
    rows = {value: (*(labels[place // size] for size, labels in runs), TOP) for place, value in enumerate(order)}
    return path_hierarchy("group", rows)


def text_sets(groups: Sequence[Sequence[str]]) -> PathHierarchy:
    """Return one level of named sets under the top."""
    rows = {value: (set_label(list(group)), TOP) for group in groups for value in group}
    if not rows or len(rows) != sum(len(group) for group in groups):
        raise ValueError("each value belongs to one group, and no group is empty")
    return path_hierarchy("groups", rows)


_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class IntervalHierarchy:
    """``[20,24]`` for whole numbers, ``[20,25)`` if a width, the origin or a value is not whole.

    Arithmetic is exact: a bound never falls on the wrong side because of a rounded float. Each width is a multiple of
    the one before, so a coarser interval follows from the finer one and nesting cannot fail.
    """

    widths: tuple[Fraction, ...]
    origin: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not self.widths or self.widths[0] <= 0:
            raise ValueError("widths must be positive, and at least one")
        for finer, coarser in pairwise(self.widths):
            if coarser <= finer or coarser % finer:
                raise ValueError("each width must be a greater multiple of the one before")

    @property
    def source(self) -> str:
        return "interval"

    @property
    def digest(self) -> str:
        return paths_digest("interval", [[str(width) for width in self.widths], str(self.origin)])

    def known(self) -> tuple[str, ...] | None:
        return None

    def paths(self, texts: Sequence[str]) -> list[tuple[str, ...] | None]:
        numbers = [number_of(text) for text in texts]
        whole = all(part.denominator == 1 for part in (*self.widths, self.origin)) and all(
            number is None or isinstance(number, int) for number in numbers
        )
        made: dict[int, tuple[str, ...]] = {}
        found: list[tuple[str, ...] | None] = []
        for number in numbers:
            if number is None:
                found.append(None)
                continue
            index = self._index(number)
            path = made.get(index)
            if path is None:
                path = made[index] = self._path(index, whole)
            found.append(path)
        return found

    def _index(self, number: int | Fraction) -> int:
        """Return the number of the finest interval that holds a number."""
        width, origin = self.widths[0], self.origin
        if isinstance(number, int) and width.denominator == 1 and origin.denominator == 1:
            return (number - origin.numerator) // width.numerator
        return int((number - origin) // width)

    def _path(self, finest: int, whole: bool) -> tuple[str, ...]:
        labels = []
        for width in self.widths:
            index = finest // _times(width, self.widths[0])
            if whole:
                low = self.origin.numerator + index * width.numerator
                labels.append(f"[{low},{low + width.numerator - 1}]")
            else:
                bound = self.origin + index * width
                labels.append(f"[{_text(bound)},{_text(bound + width)})")
        return (*labels, TOP)


def _times(coarser: Fraction, finer: Fraction) -> int:
    """Return how many of the finer widths fit: a whole number, found without dividing fractions."""
    return (coarser.numerator * finer.denominator) // (coarser.denominator * finer.numerator)


def number_of(text: str) -> int | Fraction | None:
    """Return the exact number in a text: an ``int`` if it is whole, ``None`` if it is no finite number."""
    text = text.strip()
    if _INTEGER.fullmatch(text):
        return int(text)
    if not _DECIMAL.fullmatch(text):
        return None
    number = Fraction(Decimal(text))
    return int(number) if number.denominator == 1 else number


def _text(number: Fraction) -> str:
    """Write a finite decimal plainly: every bound is a sum of decimals, so it is one."""
    if number.denominator == 1:
        return str(number.numerator)
    digits, rest = 0, number
    while rest.denominator != 1 and digits < 1000:
        digits, rest = digits + 1, rest * 10
    sign, text = ("-" if rest < 0 else ""), str(abs(int(rest))).zfill(digits + 1)
    return f"{sign}{text[:-digits]}.{text[-digits:]}"


_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?", re.ASCII)

_LABELS: dict[str, Callable[[date], str]] = {
    "day": lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}",
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10:03}0s",
}
DATE_PARTS = tuple(_LABELS)
"""The parts of a date, from fine to coarse."""


@dataclass(frozen=True, slots=True)
class DateHierarchy:
    """``2020-03``, ``2020-Q1``, ``2020``, ``2020s``: any choice of parts, from fine to coarse.

    Reads ISO dates and datetimes; a time zone is kept as written, so the day is the one in the text.
    """

    parts: tuple[str, ...]

    def __post_init__(self) -> None:
        places = [DATE_PARTS.index(part) for part in self.parts]
        if not places or any(coarser <= finer for finer, coarser in pairwise(places)):
            raise ValueError("list parts from fine to coarse, each once")

    @property
    def source(self) -> str:
        return "date"

    @property
    def digest(self) -> str:
        return paths_digest("date", list(self.parts))

    def known(self) -> tuple[str, ...] | None:
        return None

    def paths(self, texts: Sequence[str]) -> list[tuple[str, ...] | None]:
        labels = [_LABELS[part] for part in self.parts]
        days = (date_day(text) for text in texts)
        return [None if day is None else (*(label(day) for label in labels), TOP) for day in days]


def date_day(text: str) -> date | None:
    """Return the day of an ISO date or datetime, or ``None``."""
    text = text.strip()
    if not _ISO.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text).date()
    except ValueError:
        return None
