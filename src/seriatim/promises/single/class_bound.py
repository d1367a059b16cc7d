"""What all promises about one column have in common: counts by class, and how broken ones are reported."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.class_figures import FIGURES, class_figures
from seriatim.model import Finding
from seriatim.model.published import PublishedTable
from seriatim.model.scale import FloatArray
from seriatim.model.tabulation import Tabulation, tabulation_of
from seriatim.promises.single.remedies import TIE, remedy_loosened, remedy_withheld_alone, remedy_withheld_together
from seriatim.promises.single.worst_classes import worst_classes


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """One sensitive column by class; every figure is measured against the published margin."""

    tabulation: Tabulation
    texts: tuple[str | None, ...]
    """The values in order of their codes."""

    def without(self, dropped: npt.NDArray[np.bool_]) -> ClassCounts:
        return ClassCounts(self.tabulation.without(dropped), self.texts)


Figure = Callable[[ClassCounts], FloatArray]


def _class_bound_counts(published: PublishedTable, column: str) -> ClassCounts:
    """Count the values of one sensitive column in every class."""
    coded = published.sensitive[column]
    tabulation = tabulation_of(published.classes, coded.codes, len(coded.scale))
    return ClassCounts(tabulation, tuple(coded.scale.texts.to_pylist()))


def class_bound_figure(name: str) -> Figure:
    """Return one figure of every class by its name; nan for an empty class."""
    row = FIGURES.index(name)

    def measure(seen: ClassCounts) -> FloatArray:
        tab = seen.tabulation
        return np.asarray(class_figures(tab.starts, tab.value, tab.count, tab.totals, tab.margin, 2)[row])

    return measure


@dataclass(frozen=True, slots=True)
class ClassBound:
    """A promise: a figure of a sensitive column that no class may exceed."""

    rule: str
    column: str
    _: KW_ONLY
    threshold: float
    measure: Figure
    detail: str
    by_margin: bool = True
    """Whether the figure is measured against the published margin, which withholding shifts."""
    loosened: str = "{rule} = {value}"
    """How to write a threshold that would pass."""
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, published: PublishedTable) -> Finding:
        seen = _class_bound_counts(published, self.column)
        figures = self.measure(seen)
        broken = figures > self.threshold + TIE
        worst = float(np.nan_to_num(figures, nan=0.0, posinf=math.inf).max(initial=0.0))
        return Finding(
            self.rule,
            not broken.any(),
            worst,
            self.threshold,
            column=self.column,
            n_classes=int(broken.sum()),
            n_people=int(seen.tabulation.classes.sizes[broken].sum()),
            detail=f"{self.detail}; prior: published margin" if self.by_margin else self.detail,
            remedy=self._remedy(seen, broken, worst) if broken.any() else "",
            classes=worst_classes(broken, figures),
        )

    def _remedy(self, seen: ClassCounts, broken: npt.NDArray[np.bool_], worst: float) -> str:
        """Return the smallest threshold that would pass, and the classes to withhold instead."""
        tab = seen.tabulation
        if self.by_margin:
            ways = remedy_withheld_together(
                tab.classes.sizes, lambda gone: self._breaks(seen.without(gone)), len(tab.value)
            )
        else:
            ways = remedy_withheld_alone(tab.classes.sizes, broken)
        if not math.isfinite(worst):
            return f"no threshold would pass; {ways}"
        return f"{self.loosened.format(rule=self.rule, value=remedy_loosened(worst))} would pass; {ways}"

    def _breaks(self, seen: ClassCounts) -> npt.NDArray[np.bool_]:
        return np.asarray(self.measure(seen) > self.threshold + TIE)
