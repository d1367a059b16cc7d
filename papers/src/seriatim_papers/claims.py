"""Claims of a paper beside what a run found: a sentence about results is made from figures, or it is not written."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import numpy as np

from seriatim.report import Grid
from seriatim.report.words import format_percent, format_plain


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure, one number a seed, with the 95 % interval of its mean (Student's t)."""

    numbers: tuple[float, ...]

    @property
    def mean(self) -> float:
        return fmean(self.numbers)

    @property
    def half(self) -> float:
        """Return half the width of the interval; infinite for a single seed."""
        n = len(self.numbers)
        if n < 2:
            return float("inf")
        from scipy.stats import t  # takes a second

        return float(t.ppf(0.975, n - 1) * np.std(self.numbers, ddof=1) / n**0.5)

    @property
    def low(self) -> float:
        return self.mean - self.half

    @property
    def high(self) -> float:
        return self.mean + self.half

    def less(self, other: Spread) -> Spread:
        """Return the difference, seed by seed."""
        return Spread(tuple(a - b for a, b in zip(self.numbers, other.numbers, strict=True)))

    def __str__(self) -> str:
        if not np.isfinite(self.mean):
            return "not there in every seed"
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def shown_percent(spread: Spread) -> str:
    """Write a share with its interval, which does not leave 0 to 1."""
    low, high = max(spread.low, 0.0), min(spread.high, 1.0)
    told = format_percent(spread.mean)
    return told if len(spread.numbers) < 2 else f"{told} ({format_percent(low)} to {format_percent(high)})"


@dataclass(frozen=True, slots=True)
class DrawnAgain:
    """A figure of one table, and the same figure of tables drawn again from its records with replacement."""

    found: float
    again: tuple[float, ...]

    @property
    def low(self) -> float:
        return sorted(self.again)[int(0.025 * len(self.again))]

    @property
    def high(self) -> float:
        return sorted(self.again)[-1 - int(0.025 * len(self.again))]

    def covers(self, printed: float) -> bool:
        return self.low <= printed <= self.high

    def __str__(self) -> str:
        return f"{self.found:.4f} ({self.low:.4f} to {self.high:.4f})"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: what is printed, what was found, and whether it holds here."""

    words: str
    printed: str
    found: str
    """The figures that it was judged by."""
    holds: bool


def claims_record(claims: tuple[Claim, ...]) -> list[dict[str, Any]]:
    """Return the claims for a study's JSON."""
    return [format_plain(asdict(one)) for one in claims]


def claims_grid(claims: tuple[Claim, ...]) -> Grid:
    """Return the claims as a table, those that fail first."""
    rows = tuple(
        (one.words, one.printed, one.found, "holds" if one.holds else "fails")
        for one in sorted(claims, key=lambda one: one.holds)
    )
    return Grid("Claims", ("claim", "print", "found", "here"), rows)
