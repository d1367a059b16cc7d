"""Generalises numbers to intervals of nested widths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from seriatim.model.hierarchies.paths import TOP, paths_digest

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
