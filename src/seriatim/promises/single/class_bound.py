"""What all promises about one column have in common: a figure of every class, and how broken ones are reported."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import ClassVar, Literal, Protocol

import numpy as np

from seriatim.model import Finding, Scale
from seriatim.model.class_counts import BoolArray, ClassCounts, ValueCounts
from seriatim.model.scale import FloatArray
from seriatim.promises.single.remedies import (
    TIE,
    remedy_loosened,
    remedy_withheld_alone,
    remedy_withheld_together,
    worst_classes,
)

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
