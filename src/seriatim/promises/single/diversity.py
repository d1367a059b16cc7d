"""In every class, a sensitive column stays diverse enough (l-diversity, Machanavajjhala et al. 2006)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from seriatim.kernels.check.diversity import diversity_of_classes, recursive_diversity_slack
from seriatim.model import Finding
from seriatim.model.published import PublishedTable
from seriatim.promises.single.remedies import TIE, remedy_loosened, remedy_tightened, remedy_withheld_alone
from seriatim.promises.single.shown_values import ShownValues, shown
from seriatim.promises.single.worst_classes import worst_classes


def diversity(
    column: str,
    l: float,  # noqa: E741
    l_kind: str = "distinct",
    l_c: float | None = None,
) -> DistinctValues | EntropyOfValues | RecursiveValues:
    """Return the promise ``l`` of the kind in the policy."""
    if l_kind == "recursive":
        assert l_c is not None, "policies demand l_c beside l_kind = recursive"
        return RecursiveValues(column, l, l_c)
    return (EntropyOfValues if l_kind == "entropy" else DistinctValues)(column, l)


@dataclass(frozen=True, slots=True)
class DistinctValues:
    """At least l different values in every class."""

    column: str
    l: float  # noqa: E741 - the field's own name
    rule: str = "l"
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, published: PublishedTable) -> Finding:
        seen = shown(published, self.column)
        distinct, _ = diversity_of_classes(seen.starts, seen.values, len(seen.margin))
        return _finding(self, seen, distinct, distinct < self.l, "distinct values in the least varied class")


@dataclass(frozen=True, slots=True)
class EntropyOfValues:
    """The entropy of every class is at least log l; shown as the number of equally likely values, 2^H."""

    column: str
    l: float  # noqa: E741
    rule: str = "l"
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, published: PublishedTable) -> Finding:
        seen = shown(published, self.column)
        _, entropy = diversity_of_classes(seen.starts, seen.values, len(seen.margin))
        return _finding(
            self,
            seen,
            np.exp(entropy),
            entropy < math.log(self.l) - TIE,
            "exp of the entropy of the worst class",
        )


@dataclass(frozen=True, slots=True)
class RecursiveValues:
    """Recursive (c, l): r1 < c (r_l + ... + r_m), where r1 is the count of the MOST frequent value in the class.

    The figure found is the smallest c (r_l + ... + r_m) - r1; it must be above 0.
    """

    column: str
    l: float  # noqa: E741
    c: float
    rule: str = "l"
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, published: PublishedTable) -> Finding:
        seen = shown(published, self.column)
        depth = math.ceil(self.l)
        slack = recursive_diversity_slack(seen.starts, seen.values, len(seen.margin), depth, self.c)
        detail = f"recursive (c = {self.c:g}, l = {depth}): slack of the worst class, must be above 0"
        looser = self._looser(seen, depth) if (slack <= 0).any() else ""
        return replace(_finding(self, seen, slack, slack <= 0, detail, looser), threshold=0.0)

    def _looser(self, seen: ShownValues, depth: int) -> str:
        """Return the smallest c that would pass at this l, and the largest l at this c."""
        starts, values, n_values = seen.starts, seen.values, len(seen.margin)
        first = -recursive_diversity_slack(starts, values, n_values, depth, 0.0)
        tail = recursive_diversity_slack(starts, values, n_values, depth, 1.0) + first
        shallower = (
            d
            for d in range(depth - 1, 0, -1)
            if (recursive_diversity_slack(starts, values, n_values, d, self.c) > 0).all()
        )
        lower = next(shallower, None)
        ways = [f"l_c above {remedy_loosened(float((first / tail).max()))} would pass"] if (tail > 0).all() else []
        ways += [f"l = {lower} would pass"] if lower is not None else []
        return "; ".join(ways) or "no smaller l would pass at this l_c, and no l_c at this l"


def _finding(
    promise: DistinctValues | EntropyOfValues | RecursiveValues,
    seen: ShownValues,
    figures: npt.NDArray[np.float64],
    broken: npt.NDArray[np.bool_],
    detail: str,
    looser: str = "",
) -> Finding:
    worst = float(figures.min(initial=np.inf))
    # without published values there is no figure to loosen to
    passing = looser or (f"l = {remedy_tightened(worst)} would pass" if broken.any() else "")
    return Finding(
        promise.rule,
        not broken.any(),
        worst,
        float(promise.l),
        column=promise.column,
        n_classes=int(broken.sum()),
        n_people=int(seen.sizes[broken].sum()),
        detail=detail,
        remedy=f"{passing}; {remedy_withheld_alone(seen.sizes, broken)}" if broken.any() else "",
        classes=worst_classes(broken, -figures),
    )
