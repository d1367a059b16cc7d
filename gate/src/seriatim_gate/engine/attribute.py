"""An attribute of X: listed values, or numbers cut into declared ranges."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim_gate.engine.inputs import FloatArray, LongArray

UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Attribute:
    """``values`` in their declared order, or ``edges``: range i is [edges[i], edges[i + 1]), open ends are
    infinite."""

    name: str
    values: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.values) == bool(self.edges):
            raise InputError(Fault(self.name, "values and edges both or neither", "one of the two"))
        if len(set(self.values)) != len(self.values):
            raise InputError(Fault(self.name, "a value occurs twice", "each value once"))
        if self.edges and (len(self.edges) < 3 or not _grow(self.edges)):
            raise InputError(Fault(self.name, "edges that do not grow, or fewer than two ranges", "growing edges"))

    def __len__(self) -> int:
        return len(self.values) or len(self.edges) - 1

    @property
    def labels(self) -> tuple[str, ...]:
        if self.values:
            return self.values
        return tuple(_range(low, high) for low, high in pairwise(self.edges))

    def codes(self, column: npt.NDArray[Any] | Sequence[Any]) -> LongArray:
        """Return the place of every entry; ``UNKNOWN`` for what the attribute does not list."""
        if self.edges:
            numbers = numbers_of(self.name, column)
            places = np.searchsorted(np.array(self.edges), numbers, side="right") - 1
            outside = np.isnan(numbers) | (places < 0) | (places >= len(self))
            return np.where(outside, UNKNOWN, places).astype(np.int64)
        at = {value: place for place, value in enumerate(self.values)}
        return np.array([at.get(str(entry), UNKNOWN) for entry in column], dtype=np.int64)

    def place_of(self, entry: Any) -> int:
        """Return the place of one entry; ``UNKNOWN`` for anything that is none."""
        if not self.edges:
            return _places(self.values).get(str(entry), UNKNOWN)
        if isinstance(entry, bool) or not isinstance(entry, int | float | np.number):
            return UNKNOWN
        place = bisect_right(self.edges, entry) - 1 if entry == entry else UNKNOWN
        return place if place < len(self) else UNKNOWN


def equal_bands(name: str, column: npt.NDArray[Any] | Sequence[Any], bands: int = 10) -> Attribute:
    """Cut a numeric column into up to ``bands`` ranges that hold equally many entries; the ends are open."""
    numbers = numbers_of(name, column)
    numbers = numbers[np.isfinite(numbers)]
    if isinstance(bands, bool) or not isinstance(bands, int) or bands < 2:
        raise InputError(Fault("bands", "not a number of ranges", "a whole number, 2 or more"))
    if not len(numbers):
        raise InputError(Fault(name, "no number in the column", "numbers"))
    inner = np.unique(np.quantile(numbers, np.arange(1, bands) / bands))
    inner = inner[inner > numbers.min()]
    if not len(inner):
        raise InputError(Fault(name, "the numbers do not differ enough", "at least two ranges"))
    return Attribute(name, edges=(-math.inf, *(float(edge) for edge in inner), math.inf))


def declared_ranges(told: Mapping[str, Sequence[float]] | Sequence[str]) -> dict[str, Attribute]:
    """Return attributes that are cut at declared numbers, such as ``age: 18, 40, 65``; the ends are open."""
    pairs = told.items() if isinstance(told, Mapping) else [_named_numbers(one) for one in told]
    made: dict[str, Attribute] = {}
    for name, numbers in pairs:
        try:
            cuts = tuple(float(number) for number in numbers)
        except (TypeError, ValueError, OverflowError):
            cuts = ()
        if not cuts or not all(map(math.isfinite, cuts)) or not _grow(cuts) or name in made:
            raise InputError(Fault("ranges", "not a column with growing numbers", "once a column: 'age: 18, 40, 65'"))
        made[name] = Attribute(name, edges=(-math.inf, *cuts, math.inf))
    return made


def _named_numbers(text: str) -> tuple[str, Sequence[str]]:
    name, _, numbers = text.rpartition(":")
    return name.strip(), numbers.split(",")


def listed(name: str, column: npt.NDArray[Any] | Sequence[Any]) -> Attribute:
    """List the different values of a column, in the order of their names; a missing entry is no value."""
    values = sorted({str(entry) for entry in column if entry is not None and entry == entry})
    return Attribute(name, tuple(values))


def numbers_of(name: str, column: npt.NDArray[Any] | Sequence[Any]) -> FloatArray:
    """Return a column as numbers; missing entries become nan."""
    try:
        return np.array([np.nan if entry is None or entry == "" else entry for entry in column], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(Fault(f"column {name!r}", "an entry that is no number", "numbers")) from None


@lru_cache(maxsize=64)
def _places(values: tuple[str, ...]) -> dict[str, int]:
    return {value: place for place, value in enumerate(values)}


def _grow(edges: tuple[float, ...]) -> bool:
    return all(low < high for low, high in pairwise(edges))


def _range(low: float, high: float) -> str:
    if math.isinf(low):
        return f"below {high:g}"
    return f"{low:g} or more" if math.isinf(high) else f"[{low:g}, {high:g})"
