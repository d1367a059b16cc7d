"""In every class, a sensitive column stays diverse enough (l-diversity, Machanavajjhala et al. 2006)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from seriatim.model import Finding
from seriatim.model.class_counts import BoolArray, ClassCounts, ValueCounts
from seriatim.model.classes import LongArray
from seriatim.model.scale import FloatArray
from seriatim.promises.single.class_bound import TIE, Judged, remedy_loosened, remedy_tightened, remedy_withheld_alone


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

    def check(self, counts: ClassCounts) -> Finding:
        seen = counts.values[self.column]
        distinct = seen.figures["distinct_l"]
        return _finding(self, seen, distinct, distinct < self.l, "distinct values in the least varied class")


@dataclass(frozen=True, slots=True)
class EntropyOfValues:
    """The entropy of every class is at least log l; shown as the number of equally likely values, 2^H."""

    column: str
    l: float  # noqa: E741
    rule: str = "l"
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, counts: ClassCounts) -> Finding:
        seen = counts.values[self.column]
        likely = seen.figures["entropy_l"]
        short = np.log(likely) < math.log(self.l) - TIE
        return _finding(self, seen, likely, short, "exp of the entropy of the worst class")


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

    def check(self, counts: ClassCounts) -> Finding:
        seen = counts.values[self.column]
        depth = math.ceil(self.l)
        first, tail = _first_and_tail(seen, depth)
        slack = np.where(seen.valued > 0, self.c * tail - first, np.nan)
        detail = f"recursive (c = {self.c:g}, l = {depth}): slack of the worst class, must be above 0"
        looser = self._looser(seen, depth) if (slack <= 0).any() else ""
        return _finding(self, seen, slack, slack <= 0, detail, looser)

    def _looser(self, seen: ValueCounts, depth: int) -> str:
        """Return the smallest c that would pass at this l, and the largest l at this c."""
        held = seen.valued > 0
        first, tail = (part[held] for part in _first_and_tail(seen, depth))
        lower = next((d for d in range(depth - 1, 0, -1) if self._holds_at(seen, d)), None)
        ways = [f"l_c above {remedy_loosened(float((first / tail).max()))} would pass"] if (tail > 0).all() else []
        ways += [f"l = {lower} would pass"] if lower is not None else []
        return "; ".join(ways) or "no smaller l would pass at this l_c, and no l_c at this l"

    def _holds_at(self, seen: ValueCounts, depth: int) -> bool:
        first, tail = _first_and_tail(seen, depth)
        return bool((self.c * tail > first)[seen.valued > 0].all())


def _first_and_tail(seen: ValueCounts, depth: int) -> tuple[LongArray, LongArray]:
    """Return r_1 and r_l + ... + r_m of every class, in records; 0 and 0 for a class without published values."""
    figures = seen.figures if depth == 2 else seen.figures_against(seen.margin, depth)
    first = np.rint(np.nan_to_num(figures["max_p"]) * seen.valued)
    # the figure is r_1 / tail, infinite where no tail is left
    return first.astype(np.int64), np.rint(first / np.nan_to_num(figures["recursive_c"], nan=np.inf)).astype(np.int64)


def _finding(
    promise: DistinctValues | EntropyOfValues | RecursiveValues,
    seen: ValueCounts,
    figures: FloatArray,
    broken: BoolArray,
    detail: str,
    looser: str = "",
) -> Finding:
    worst = float(np.nan_to_num(figures, nan=np.inf).min(initial=np.inf))
    threshold = 0.0 if isinstance(promise, RecursiveValues) else float(promise.l)
    found = Judged(seen=seen, broken=broken, badness=-figures, worst=worst, threshold=threshold, detail=detail)

    def remedy() -> str:
        passing = looser or f"l = {remedy_tightened(worst)} would pass"
        return f"{passing}; {remedy_withheld_alone(seen.valued, broken)}"

    return found.finding(promise, remedy)
