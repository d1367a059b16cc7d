"""No class lets an attacker come too near to anyone's number (Alfalayleh and Brankovic).

'Between 77K and 80K' is a disclosure although two values remain. The promise to decide by is the hit chance: the
largest share of a class in one window. ``min_entropy_at`` bounds the entropy that a window leaves. ``min_area`` is
judged only beside a hit chance, since one outlier makes any area: nine incomes within 3 % and one far away have a
larger area than ten that are evenly spread.

A column that is nearly all zeros has a high hit chance in any class, however large. Therefore a chance x counts beyond
the whole table's own: a class may reach population + x (1 - population). ``hit_chance_kind = "chance"`` compares the
plain chance instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

import numpy as np

from seriatim.errors import Fault, PolicyError
from seriatim.kernels.check.class_figures import entropies_of_near_values, hit_chances_of_near_values
from seriatim.model import Finding, Scale
from seriatim.model.class_counts import BoolArray, ClassCounts, ValueCounts
from seriatim.model.nearness import has_distances, window_of, window_reach
from seriatim.model.scale import FloatArray
from seriatim.promises.single.class_bound import (
    MARGIN,
    TIE,
    Judged,
    remedy_loosened,
    remedy_tightened,
    remedy_withheld_alone,
    remedy_withheld_together,
)

Figure = Callable[[ValueCounts, Scale, str], FloatArray]
"""Returns a figure of every class, for the window that a policy key names; nan for an empty class."""


def hit_chance(column: str, limits: Mapping[str, float], hit_chance_kind: str | None = None) -> NumberBound:
    """Return the promise that no window holds more than its chance of a class, beyond what it holds of the table."""
    plain = hit_chance_kind == "chance"
    detail = "largest share of a class in a window of {}" + ("" if plain else ", beyond the whole table's own share")
    figure = _hit_chances if plain else _hit_lifts
    return NumberBound(
        "max_hit_chance_at", column, limits=tuple(limits.items()), figure=figure, detail=detail, by_margin=not plain
    )


def least_entropy(column: str, limits: Mapping[str, float]) -> NumberBound:
    """Return the promise that a window leaves this many bits in every class."""
    detail = "fewest bits left by windows of {}"
    return NumberBound(
        "min_entropy_at", column, limits=tuple(limits.items()), figure=_entropies, detail=detail, least=True
    )


@dataclass(frozen=True, slots=True)
class NumberBound:
    """A promise about numbers: a figure that no class may exceed, or fall below, for each window that is named."""

    rule: str
    column: str
    _: KW_ONLY
    limits: tuple[tuple[str, float], ...]
    figure: Figure
    detail: str
    least: bool = False
    """Whether the figure has a lower bound, not an upper one."""
    by_margin: bool = False
    judges: ClassVar[Literal["table"]] = "table"

    def check(self, counts: ClassCounts) -> Finding:
        seen, scale = counts.values[self.column], counts.scales[self.column]
        self._must_have_distances(scale)
        excess = np.stack([self._excess(seen, scale, text, limit) for text, limit in self.limits])
        broken = np.asarray((excess > TIE).any(axis=0))
        which = int(excess.max(axis=1, initial=-np.inf).argmax())
        text, limit = self.limits[which]
        far = float(excess[which].max(initial=-np.inf))
        far = far if np.isfinite(far) else 0.0
        worst = limit - far if self.least else limit + far
        detail = self.detail.format(text) + (f"; {MARGIN}" if self.by_margin else "")
        badness = excess.max(axis=0)
        found = Judged(seen=seen, broken=broken, badness=badness, worst=worst, threshold=limit, detail=detail)
        return found.finding(self, lambda: self._remedy(seen, scale, broken, self._written(text, worst)))

    def _must_have_distances(self, scale: Scale) -> None:
        if not has_distances(scale):
            where, found = f"[promise] {self.rule}", f"the column {self.column!r} holds categories without an order"
            remedy = 'set kind = "number", or add an order'
            raise PolicyError(Fault(where, found, "numbers, dates, or an order", remedy))
        if scale.dated and any("%" in text for text, _ in self.limits):
            where, found = f"[promise] {self.rule}", f"per cent of the dates in {self.column!r}"
            raise PolicyError(Fault(where, found, 'days, as "30" or "±15"', "write the window in days"))

    def _excess(self, seen: ValueCounts, scale: Scale, text: str, limit: float) -> FloatArray:
        """Return by how much each class misses a limit; an empty class misses nothing."""
        found = self.figure(seen, scale, text)
        return np.nan_to_num(limit - found if self.least else found - limit, nan=-np.inf, neginf=-np.inf)

    def _written(self, text: str, worst: float) -> str:
        value = remedy_tightened(worst) if self.least else remedy_loosened(worst)
        return f'{self.rule} = {{ "{text}" = {value} }}' if text else f"{self.rule} = {value}"

    def _remedy(self, seen: ValueCounts, scale: Scale, broken: BoolArray, written: str) -> str:
        def breaks(gone: BoolArray) -> BoolArray:
            rest = seen.without(gone)
            misses = [self._excess(rest, scale, text, limit) > TIE for text, limit in self.limits]
            return np.asarray(np.any(misses, axis=0))

        ways = (
            remedy_withheld_together(seen.valued, breaks, len(seen.value))
            if self.by_margin
            else remedy_withheld_alone(seen.valued, broken)
        )
        return f"{written} would pass; {ways}"


def _hit_chances(seen: ValueCounts, scale: Scale, text: str) -> FloatArray:
    reach = window_reach(scale, window_of(text))
    return np.asarray(hit_chances_of_near_values(seen.starts, seen.value, seen.count, reach))


def _hit_lifts(seen: ValueCounts, scale: Scale, text: str) -> FloatArray:
    """Return the share of the room that the whole table leaves: (chance - its chance) / (1 - its chance), from 0."""
    held = np.flatnonzero(seen.totals).astype(np.int32)
    whole = hit_chances_of_near_values(
        np.array([0, len(held)]), held, seen.totals[held].astype(np.int32), window_reach(scale, window_of(text))
    )[0]
    gained = _hit_chances(seen, scale, text) - whole
    return np.maximum(gained / (1.0 - whole), 0.0) if whole < 1.0 else np.where(np.isnan(gained), np.nan, 0.0)


def _entropies(seen: ValueCounts, scale: Scale, text: str) -> FloatArray:
    reach = window_reach(scale, window_of(text))
    return np.asarray(entropies_of_near_values(seen.starts, seen.value, seen.count, reach))
