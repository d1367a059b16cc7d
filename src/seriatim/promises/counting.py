"""What the laws about one column in every class share: the counts, and how a breach is told."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.figures import FIGURES, class_figures
from seriatim.model import Draft, Finding
from seriatim.model.published import draft_classes
from seriatim.model.scale import FloatArray
from seriatim.model.tabulation import Membership, Tabulation, tabulate
from seriatim.promises.naming import worst_classes
from seriatim.promises.sensitive import places

# a class that meets the threshold exactly must not fail by the last bit of a logarithm
TIE = 1e-9
ROUNDS = 50


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """One sensitive column by class; the prior every figure is measured against is the published margin."""

    tabulation: Tabulation
    texts: tuple[str | None, ...]
    """The values in order of their codes."""

    def without(self, dropped: npt.NDArray[np.bool_]) -> Counted:
        return Counted(self.tabulation.without(dropped), self.texts)


Figure = Callable[[Counted], FloatArray]


def counted(draft: Draft, column: str) -> Counted:
    """From the published table alone."""
    classes, coded = draft_classes(draft), draft.sensitive[column]
    of_record = np.empty(len(classes.rows), dtype=np.int32)
    of_record[classes.rows] = np.repeat(np.arange(len(classes), dtype=np.int32), classes.sizes)
    values = places(draft.table.column(column), coded)
    tabulation = tabulate(Membership(of_record, classes.sizes), values, len(coded.scale))
    return Counted(tabulation, tuple(coded.scale.texts.to_pylist()))


def figure(name: str) -> Figure:
    """One figure of every class by its name; nan where a class is empty."""
    row = FIGURES.index(name)

    def measure(seen: Counted) -> FloatArray:
        tab = seen.tabulation
        return np.asarray(class_figures(tab.starts, tab.value, tab.count, tab.totals, tab.margin, 2)[row])

    return measure


def withholding(n_classes: int, n_records: int) -> str:
    """A remedy in words."""
    classes = "1 class" if n_classes == 1 else f"{n_classes} classes"
    records = "1 record" if n_records == 1 else f"{n_records} records"
    return f"withholding {classes} with {records} would pass"


@dataclass(frozen=True, slots=True)
class Bound:
    """A figure that no class may exceed."""

    rule: str
    column: str
    threshold: float
    detail: str
    loosened: str = "{rule} = {value}"
    """How a threshold that would pass is written."""

    def judge(self, seen: Counted, measure: Figure) -> Finding:
        figures = measure(seen)
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
            detail=f"{self.detail}; prior: published margin",
            remedy=self._remedy(seen, measure, worst) if broken.any() else "",
            classes=worst_classes(broken, figures),
        )

    def _remedy(self, seen: Counted, measure: Figure, worst: float) -> str:
        """The threshold that would pass, and the records whose withholding would, found by doing it."""
        ways = []
        if math.isfinite(worst):
            loose = self.loosened.format(rule=self.rule, value=f"{math.ceil(worst * 1000) / 1000:.12g}")
            ways.append(f"{loose} would pass")
        gone = self._withheld(seen, measure)
        if gone is not None:
            sizes = seen.tabulation.classes.sizes
            ways.append(withholding(int(gone.sum()), int(sizes[gone].sum())))
        return "; ".join(ways) or "no threshold and no withholding would pass: generalise further"

    def _withheld(self, seen: Counted, measure: Figure) -> npt.NDArray[np.bool_] | None:
        """Withholding moves the margin, so classes that passed may break: again until none does.

        No answer when more than half of the records would have to go: that is no remedy.
        """
        sizes = seen.tabulation.classes.sizes
        gone = np.zeros(len(sizes), dtype=bool)
        for _ in range(ROUNDS):
            broken = measure(seen.without(gone)) > self.threshold + TIE
            if not broken.any():
                return gone if (~gone).sum() > 1 and 2 * sizes[gone].sum() <= sizes.sum() else None
            gone |= broken
        return None
