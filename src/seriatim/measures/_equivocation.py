"""What an attacker still does not know about a number if coming near is as good as being right.

Alfalayleh and Brankovic, "Quantifying Privacy: A Novel Entropy-Based Measure of Disclosure Risk". H(eps) is the least
entropy, in bits, over all partitions of the candidate values into windows of width eps (closed, so two values exactly
eps apart share one). Corrections: the paper's formal statement says 'maximised', its text and examples minimise; H is a
step function, so its area is a sum of rectangles, never a trapezoid; the pseudo-code's start from the row before is
undefined in the first row and meaningless for numbers that are not whole.

An eps is the width of a window: 'within 5' is a window of 10. Beside H belongs the hit chance, the largest mass in one
window: 6 bits can go with a hit chance of one half. The area is mostly the range of the values: one outlier makes any
area, so it is a figure to show, not one to decide by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.kernels.check.sweep import ValuePairs, least_entropies
from seriatim.kernels.equivocation import window_entropies
from seriatim.measures._leakage import entropy
from seriatim.measures.probable_values import ProbableValues, candidates
from seriatim.model.nearness import LongArray
from seriatim.model.scale import FloatArray

EXACT_UP_TO = 2_500
"""Distinct values up to which H is exact at every eps; beyond, the area is bounded, and H at a wide eps."""
COARSE = (1_200, 2_500)
MOST_BLOCKS = 50_000_000
"""Windows of one width that are tried for its own H, exactly, where the whole curve is bounded only."""
CLOSE_ENOUGH = 0.01


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Equivocation:
    """H(eps) of one distribution. Widths and areas are in units of the values, entropies in bits."""

    given: ProbableValues
    widths: LongArray
    """Differences between two values, rising from 0, in steps of the grid."""
    entropies: FloatArray
    """H from each width up to the next."""
    apart: int = 0
    """How many steps the values were moved at most before H was computed: 0 if it is exact."""

    def __repr__(self) -> str:
        low, high = self.area_bounds
        area = f"{low:.6g}" if self.exact else f"{low:.6g} to {high:.6g}"
        unit = f"{self.unit} x bits" if self.unit else "value units x bits"
        h0 = "1 bit" if self.initial == 1 else f"{self.initial:.4g} bits"
        return f"Equivocation(H0 {h0}, area {area} {unit}, range {self.range:.6g})"

    @property
    def exact(self) -> bool:
        """Return whether area and H are exact; if not, they are lower bounds, with upper bounds beside them."""
        return self.apart == 0

    @property
    def unit(self) -> str:
        """Return the unit of widths: "days" or "seconds" for dates and times, else empty."""
        return self.given.unit

    @property
    def initial(self) -> float:
        """Return H(0), Shannon's entropy; exact always."""
        return _clean(entropy(self.given.shares))

    @property
    def reciprocal(self) -> float:
        """Return 1 / H(0), the disclosure risk of Oganian and Domingo-Ferrer; infinite if nothing is left to learn."""
        return 1.0 / self.initial if self.initial > 0.0 else math.inf

    @property
    def range(self) -> float:
        """Return the least eps at which H is 0: the distance of the outermost values with positive probability."""
        return float(self.given.steps[-1] - self.given.steps[0]) * self.given.grid.step

    @property
    def area(self) -> float:
        """Return the area below H, in units x bits; a lower bound if there are too many values."""
        return self.area_bounds[0]

    @property
    def area_bounds(self) -> tuple[float, float]:
        """Return bounds of the area; equal if it is exact.

        Values were moved by at most d before H' was computed, so H'(eps + d) <= H(eps) <= H'(eps - d): a partition that
        splits moved values can give each of them to one side without more entropy, which is concave in the mass moved.
        """
        ends = np.append(self.widths[1:], self.widths[-1])
        whole = float((self.entropies * (ends - self.widths)).sum())
        # within the distance that values were moved, nothing is certain about H
        near = np.minimum(ends, self.apart) - np.minimum(self.widths, self.apart)
        low = whole - float((self.entropies * near).sum())
        return max(low, 0.0) * self.given.grid.step, (whole + self.apart * self.initial) * self.given.grid.step

    def at(self, eps: float) -> float:
        """Return H(eps); its lower bound if too many values fit into windows of eps for more than bounds."""
        return self.bounds_at(eps)[0]

    def bounds_at(self, eps: float) -> tuple[float, float]:
        """Return bounds of H(eps); equal if it is exact."""
        steps = self.given.grid.within(checked_width(eps))
        if not self.exact:
            reach = np.searchsorted(self.given.steps, self.given.steps + steps, side="right") - 1
            # one width alone is exact where it has few enough blocks
            if int(reach.sum()) - len(reach) * (len(reach) - 1) // 2 <= MOST_BLOCKS:
                whole = float(window_entropies(self.given.shares[None, :], reach)[0])
                return whole, whole
        low = self._at(steps + self.apart)
        return low, max(self._at(steps - self.apart) if steps >= self.apart else self.initial, low)

    def _at(self, steps: int) -> float:
        return float(self.entropies[np.searchsorted(self.widths, steps, side="right") - 1])

    def hit_chance(self, eps: float) -> float:
        """Return the largest mass in one window of width eps: how often the attacker's best guess hits; exact."""
        steps, shares = self.given.steps, self.given.shares
        reached = np.concatenate(([0.0], np.cumsum(shares)))
        ends = np.searchsorted(steps, steps + self.given.grid.within(checked_width(eps)), side="right")
        return float(min((reached[ends] - reached[:-1]).max(), 1.0))

    def curve(self) -> tuple[FloatArray, FloatArray]:
        """Return all widths at which a further pair of values shares a window, from 0, and H from there on."""
        return np.asarray(self.widths * self.given.grid.step, dtype=np.float64), self.entropies.copy()


def equivocation(values: Any, probabilities: Any, *, ordered: bool = False) -> Equivocation:
    """Return H(eps) of candidate values with their probabilities, for all eps at once.

    Values are numbers, dates or times, in any order; equal ones are merged. Texts and categories have no differences
    and are refused, unless ``ordered`` says that the codes are ranks, or the categories have an order.
    """
    return of_candidates(candidates(values, probabilities, ordered=ordered))


def of_candidates(given: ProbableValues) -> Equivocation:
    """Return H(eps) of candidates: exact, or within certified bounds if they are too many."""
    if len(given.steps) <= EXACT_UP_TO:
        return _equivocation_sweep(given, given.steps, given.shares, 0)
    for most in COARSE:
        steps, shares, apart = _coarser(given, most)
        found = _equivocation_sweep(given, steps, shares, apart)
        low, high = found.area_bounds
        if high - low <= CLOSE_ENOUGH * low:
            break
    return found


def _equivocation_sweep(given: ProbableValues, steps: LongArray, shares: FloatArray, apart: int) -> Equivocation:
    """Return H of values on the grid, by a sweep over the differences of all pairs."""
    pairs = pairs_by_difference(steps, given.grid.slack)
    widths = np.concatenate((np.zeros(1, dtype=np.int64), pairs.widths))
    return Equivocation(given, widths, least_entropies(pairs, shares), apart)


def pairs_by_difference(steps: LongArray, slack: int = 0) -> ValuePairs:
    """Return all pairs of values, by rising difference; those that rounding alone tells apart count as equal."""
    low, high = np.triu_indices(len(steps), 1)
    gaps = steps[high] - steps[low]
    order = np.argsort(gaps, kind="stable")
    rising = gaps[order]
    # pairs of one difference are allowed together: the order among them must not count
    ends = np.append(np.flatnonzero(np.diff(rising) > slack) + 1, len(gaps))[: len(gaps)]
    return ValuePairs(low[order].astype(np.int32), high[order].astype(np.int32), ends, rising[ends - 1])


def _coarser(given: ProbableValues, most: int) -> tuple[LongArray, FloatArray, int]:
    """Merge neighbouring values into at most this many, none moved farther than needed; also return that distance."""
    steps, low, high = given.steps, 0, int(given.steps[-1] - given.steps[0])
    # the least distance at which runs are few enough, by bisection
    while low < high:
        middle = (low + high) // 2
        if len(_cover(steps, middle, most)) <= most:
            high = middle
        else:
            low = middle + 1
    starts = _cover(steps, low, most)
    return steps[starts], np.add.reduceat(given.shares, starts), low


def _cover(steps: LongArray, width: int, most: int) -> LongArray:
    """Return where each run of values within a width begins, up to one more than ``most``."""
    starts: list[int] = []
    at = 0
    while at < len(steps) and len(starts) <= most:
        starts.append(at)
        at = int(np.searchsorted(steps, steps[at] + width, side="right"))
    return np.array(starts, dtype=np.int64)


def checked_width(eps: float) -> float:
    """Return a width, if it is a number from 0."""
    if isinstance(eps, bool) or not isinstance(eps, int | float | np.number) or not float(eps) >= 0.0:
        found = "a number below 0" if isinstance(eps, int | float | np.number) and eps < 0 else "not a number"
        raise InputError(Fault("eps", found, "a width from 0, in units of the values"))
    return float(eps)


def _clean(bits: float) -> float:
    return bits if bits > 1e-12 else 0.0
