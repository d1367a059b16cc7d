"""What all promises about one column have in common: a figure of every class, and how broken ones are reported."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from seriatim.model import Finding, Scale
from seriatim.model.class_counts import BoolArray, ClassCounts, ValueCounts
from seriatim.model.scale import FloatArray

NAMED = 10
_named: ContextVar[int | None] = ContextVar("named", default=NAMED)


@contextmanager
def worst_classes_all_named() -> Iterator[None]:
    """Name all broken classes, not the first few: for private lists."""
    before = _named.set(None)
    try:
        yield
    finally:
        _named.reset(before)


def worst_classes(broken: npt.NDArray[np.bool_], badness: npt.NDArray[np.float64]) -> tuple[int, ...]:
    """Return the numbers of broken classes, from the largest ``badness`` down; ties in the order of first records."""
    numbers = np.flatnonzero(broken)
    order = np.argsort(-badness[numbers], kind="stable")
    return tuple(int(c) for c in numbers[order[: _named.get()]])


Breaks = Callable[[BoolArray], BoolArray]
"""Returns which classes break the promise once the given ones are withheld."""

# a class that meets the threshold exactly must not fail by the last bit of a logarithm
TIE = 1e-9
EXHAUSTIVE = 10
ROUNDS = 50
PUT_BACK = 200
MOST_CELLS = 20_000_000


def remedy_loosened(figure: float) -> str:
    """Write the smallest threshold of three decimals (of three digits, if small) that is not below a figure."""
    digits = 3 if figure >= 0.01 or figure <= 0 else 2 - math.floor(math.log10(figure))
    return f"{math.ceil((figure - TIE) * 10**digits) / 10**digits:.12g}"


def remedy_tightened(figure: float) -> str:
    """Write the largest threshold of three decimals that is not above a figure."""
    return f"{math.floor((figure + TIE) * 1000) / 1000:.12g}"


def remedy_withheld_alone(sizes: npt.NDArray[np.int64], broken: BoolArray) -> str:
    """Say what withholding costs if no class depends on another."""
    enough = int((~broken & (sizes > 0)).sum()) >= 2
    return _told(sizes, broken) if enough else "cannot be fixed by withholding: only one class would remain"


def remedy_withheld_together(sizes: npt.NDArray[np.int64], breaks: Breaks, n_cells: int) -> str:
    """Say what withholding costs if it shifts the margin; ``n_cells`` says how much one trial costs."""
    held = np.flatnonzero(sizes)
    if len(held) <= EXHAUSTIVE:
        gone = _by_all_sets(sizes, held, breaks)
        if gone is None:
            return "cannot be fixed by withholding: more than half of the records would go"
        return _told(sizes, gone, "the fewest possible, since withholding shifts the overall distribution")
    gone = _by_rounds(sizes, breaks, n_cells)
    if gone is None:
        return "withholding: no set of classes was found that keeps half of the records"
    return _told(sizes, gone, "found by trial, since withholding shifts the overall distribution")


def _told(sizes: npt.NDArray[np.int64], gone: BoolArray, how: str = "") -> str:
    classes, records = int(gone.sum()), int(sizes[gone].sum())
    share = records / max(int(sizes.sum()), 1)
    words = f"{classes} class{'' if classes == 1 else 'es'} with {records:,} record{'' if records == 1 else 's'}"
    return f"withholding {words} would pass ({'; '.join(filter(None, (f'{share:.1%} of records', how)))})"


def _by_all_sets(sizes: npt.NDArray[np.int64], held: npt.NDArray[np.intp], breaks: Breaks) -> BoolArray | None:
    sets = ((np.arange(1 << len(held))[:, None] >> np.arange(len(held))) & 1).astype(bool)
    records = sets @ sizes[held]
    fair = (2 * records <= sizes.sum()) & ((~sets).sum(axis=1) >= 2)
    for each in np.flatnonzero(fair)[np.argsort(records[fair], kind="stable")]:
        gone = np.zeros(len(sizes), dtype=bool)
        gone[held[sets[each]]] = True
        if not breaks(gone).any():
            return gone
    return None


def _by_rounds(sizes: npt.NDArray[np.int64], breaks: Breaks, n_cells: int) -> BoolArray | None:
    gone = np.zeros(len(sizes), dtype=bool)
    for _ in range(ROUNDS):
        broken = breaks(gone)
        if not broken.any():
            return _put_back(sizes, gone, breaks, min(PUT_BACK, MOST_CELLS // max(n_cells, 1)))
        gone |= broken
        if 2 * sizes[gone].sum() > sizes.sum() or (~gone & (sizes > 0)).sum() < 2:
            return None
    return None


def _put_back(sizes: npt.NDArray[np.int64], gone: BoolArray, breaks: Breaks, tries: int) -> BoolArray:
    """Put back the largest classes first: each that may stay saves its records."""
    for each in np.flatnonzero(gone)[np.argsort(-sizes[gone], kind="stable")][:tries]:
        gone[each] = False
        gone[each] = bool(breaks(gone).any())
    return gone


MARGIN = "prior: published margin"
Figure = Callable[[ValueCounts, Scale], FloatArray]
"""Returns a figure of every class; nan for a class without published values."""


@cache
def figure_named(name: str) -> Figure:
    """Return one figure of every class by its name."""
    return lambda seen, _: seen.figures[name]


class AboutColumn(Protocol):
    """What a finding repeats of its promise."""

    @property
    def rule(self) -> str: ...

    @property
    def column(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What was found of a column, class by class; nobody without a published value is counted."""

    seen: ValueCounts
    broken: BoolArray
    badness: FloatArray
    """The larger, the worse."""
    worst: float
    threshold: float
    detail: str

    def finding(self, promise: AboutColumn, remedy: Callable[[], str]) -> Finding:
        """Return the finding; the remedy is looked for only if something is broken."""
        return Finding(
            promise.rule,
            not self.broken.any(),
            self.worst,
            self.threshold,
            column=promise.column,
            n_classes=int(self.broken.sum()),
            n_people=int(self.seen.valued[self.broken].sum()),
            detail=self.detail,
            remedy=remedy() if self.broken.any() else "",
            classes=worst_classes(self.broken, self.badness),
        )


@dataclass(frozen=True, slots=True)
class ClassBound:
    """A promise: a figure of a sensitive column that no class may exceed."""

    rule: str
    column: str
    _: KW_ONLY
    threshold: float
    figure: Figure
    detail: str
    by_margin: bool = True
    """Whether the figure is measured against the published margin, which withholding shifts."""
    loosened: str = "{rule} = {value}"
    """How to write a threshold that would pass."""
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, counts: ClassCounts) -> Finding:
        seen, scale = counts.values[self.column], counts.scales[self.column]
        figures = self.figure(seen, scale)
        broken = figures > self.threshold + TIE
        worst = float(np.nan_to_num(figures, nan=0.0, posinf=math.inf).max(initial=0.0))
        found = Judged(
            seen=seen, broken=broken, badness=figures, worst=worst, threshold=self.threshold, detail=self.detail
        )
        return found.finding(self, lambda: self._remedy(seen, scale, broken, worst))

    def _remedy(self, seen: ValueCounts, scale: Scale, broken: BoolArray, worst: float) -> str:
        """Return the smallest threshold that would pass, and the classes to withhold instead."""

        def breaks(gone: BoolArray) -> BoolArray:
            return np.asarray(self.figure(seen.without(gone), scale) > self.threshold + TIE)

        if self.by_margin:
            ways = remedy_withheld_together(seen.valued, breaks, len(seen.value))
        else:
            ways = remedy_withheld_alone(seen.valued, broken)
        if not math.isfinite(worst):
            return f"no threshold would pass; {ways}"
        return f"{self.loosened.format(rule=self.rule, value=remedy_loosened(worst))} would pass; {ways}"
