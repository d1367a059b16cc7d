"""In every class, the sensitive column's distribution is close to the whole release's (t-closeness, Li et al. 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.closeness import (
    closeness_ordered_distance,
    closeness_total_variation,
    closeness_tree_distance,
)
from seriatim.model import Finding, Scale
from seriatim.model.published import PublishedTable
from seriatim.promises.single.remedies import TIE, remedy_loosened, remedy_withheld_together
from seriatim.promises.single.shown_values import ShownValues, shown
from seriatim.promises.single.worst_classes import worst_classes


def closeness(column: str, t: float, t_distance: str = "equal") -> Closeness:
    """Return the promise ``t`` with the distance that the policy names."""
    return Closeness(column, t, t_distance)


@dataclass(frozen=True, slots=True)
class Closeness:
    """No class is farther than t from the published margin.

    ``equal``: total variation, half the L1 distance. ``ordered``: earth mover's distance on ranks, among the values of
    the declared order, or of the published table if none is declared. ``hierarchical``: earth mover's distance on the
    column's value tree.
    """

    column: str
    t: float
    distance: str = "equal"
    rule: str = "t"
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, published: PublishedTable) -> Finding:
        seen = shown(published, self.column)
        scale = published.sensitive[self.column].scale
        figures = self._figures(seen, scale)
        broken = figures > self.t + TIE
        worst = float(figures.max(initial=0.0))
        return Finding(
            self.rule,
            not broken.any(),
            worst,
            self.t,
            column=self.column,
            n_classes=int(broken.sum()),
            n_people=int(seen.sizes[broken].sum()),
            detail=f"{self.distance} distance of the farthest class from the published margin",
            remedy=self._remedy(seen, scale, worst) if broken.any() else "",
            classes=worst_classes(broken, figures),
        )

    def _remedy(self, seen: ShownValues, scale: Scale, worst: float) -> str:
        def breaks(gone: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
            broken = np.zeros(len(gone), dtype=bool)
            broken[~gone] = self._figures(seen.without(gone), scale) > self.t + TIE
            return broken

        ways = remedy_withheld_together(seen.sizes, breaks, len(seen.values))
        return f"t = {remedy_loosened(worst)} would pass; {ways}"

    def _figures(self, seen: ShownValues, scale: Scale) -> npt.NDArray[np.float64]:
        starts, values, margin = seen.starts, seen.values, seen.margin
        if self.distance == "ordered" and scale.form != "set":
            # not declared: a reader knows only the published values
            here = margin > 0
            rank = (np.cumsum(here) - 1).astype(np.int32)
            return np.asarray(closeness_ordered_distance(starts, rank[values], margin[here]))
        if self.distance == "ordered":
            return np.asarray(closeness_ordered_distance(starts, values, margin))
        if self.distance == "hierarchical":
            return np.asarray(closeness_tree_distance(starts, values, margin, scale.starts))
        return np.asarray(closeness_total_variation(starts, values, margin))
