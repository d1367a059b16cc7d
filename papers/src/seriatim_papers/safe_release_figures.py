"""The figures of Bezzi et al. beside the replays: distributions, safe tables, Dixon's values, curves and the fit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.model.chance import open_chance
from seriatim_gate.engine.intake import decided
from seriatim_gate.engine.limits import chi_square, dixon_critical
from seriatim_gate.engine.results import results
from seriatim_papers.safe_release import PAPER_TESTS, WEIGHTS, safe_release_requests, safe_release_rules
from seriatim_papers.safe_release_counts import BASELINE, FIGURE_2, LOCATIONS

FloatArray = npt.NDArray[np.float64]
LongArray = npt.NDArray[np.int64]

PATHS = 10_000
FIGURE_5_SIZE = 5_000
FIGURE_7_SIZES = (1014, 649, 826, 1003, 1506)
FIGURE_10 = {
    0.2: (0.781, 0.560, 0.451, 0.386, 0.344, 0.314, 0.290, 0.273),
    0.1: (0.886, 0.679, 0.557, 0.482, 0.434, 0.399, 0.370, 0.349),
    0.05: (0.941, 0.765, 0.642, 0.560, 0.507, 0.468, 0.437, 0.412),
    0.01: (0.988, 0.889, 0.780, 0.698, 0.637, 0.590, 0.555, 0.527),
}
"""Dixon's critical values for 3 to 10 distances, as printed."""
_BINS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeReleaseApproximation:
    """A rescaled statistic over samples under independence, beside the chi-square density it should follow."""

    name: str
    freedom: int
    middles: tuple[float, ...]
    found: tuple[float, ...]
    expected: tuple[float, ...]
    above: float
    """Share of samples above the chi-square value at 20 %."""


@dataclass(frozen=True, slots=True)
class SafeReleaseEvolution:
    """Statistic and critical value over the releases of one sequence, of one location or of all (None)."""

    test: str
    location: str | None
    releases: tuple[float, ...]
    statistic: tuple[float, ...]
    critical: tuple[float, ...]


def safe_release_figure_2() -> tuple[FloatArray, FloatArray]:
    """Return P(Age | L_i) with P(Age) as its last column, and P(L_i), from the counts."""
    return shares_of(FIGURE_2)


def shares_of(counts: LongArray) -> tuple[FloatArray, FloatArray]:
    """Return the shares by age at each location, with those of all as the last column, and of each location."""
    conditional = counts / counts.sum(axis=0)
    return np.column_stack([conditional, counts.sum(axis=1) / counts.sum()]), counts.sum(axis=0) / counts.sum()


def safe_release_figures_5_and_7(seed: int = 4) -> tuple[SafeReleaseApproximation, ...]:
    """Simulate both statistics under independence, as the paper does; Figure 5 first."""
    rng = open_chance(seed, "approximations")
    both = rng.multinomial(FIGURE_5_SIZE, np.outer(BASELINE, WEIGHTS).ravel(), PATHS).reshape(PATHS, 10, 5)
    made = [_approximation("all locations", _g(both).sum(axis=1), 45)]
    for name, size in zip(LOCATIONS, FIGURE_7_SIZES, strict=True):
        made.append(_approximation(name, _g(rng.multinomial(size, BASELINE, PATHS)[:, :, None])[:, 0], 9))
    return tuple(made)


def safe_release_figure_10() -> dict[float, tuple[float, ...]]:
    """Return Dixon's critical values for 3 to 10 distances by level."""
    return {alpha: tuple(dixon_critical(n, alpha) for n in range(3, 11)) for alpha in FIGURE_10}


def safe_release_figures_over_time(
    seed: int = 3, number: int = 0, n_points: int = 60
) -> tuple[SafeReleaseEvolution, ...]:
    """Return Figures 12 to 15 for one sequence at 20 %: one curve for all locations, or one for each."""
    made = []
    xs, ys = safe_release_requests(seed, number)
    for test in PAPER_TESTS:
        asked = safe_release_rules((test,), 0.2)
        order = decided([asked], [(xs, ys)])[0].released
        points = np.unique(np.geomspace(1, len(order), n_points).astype(int))
        found = [
            results(np.bincount(xs[order[:n]] * 5 + ys[order[:n]], minlength=50).reshape(10, 5), asked)[0]
            for n in points
        ]
        places: list[str | None] = [None] if test in ("mis", "dqt") else [*LOCATIONS]
        for at, place in enumerate(places):
            shown = [
                (float(n), float(one.statistic[at]), float(one.critical[at]))
                for n, one in zip(points, found, strict=True)
                if math.isfinite(one.statistic[at]) and math.isfinite(one.critical[at])
            ]
            made.append(SafeReleaseEvolution(test, place, *(tuple(column) for column in zip(*shown, strict=True))))
    return tuple(made)


def safe_release_figure_17() -> tuple[FloatArray, FloatArray]:
    """Return the records of L2 by age, and those of them that fit the baseline exactly."""
    column = FIGURE_2[:, 1].astype(np.float64)
    return column, float((column / BASELINE).min()) * BASELINE


def _g(counts: LongArray) -> FloatArray:
    """Return 2 N(y) ln 2 x divergence of every sample (first axis) and target (last axis)."""
    n = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts * np.log(counts / (n * BASELINE[:, None])), 0.0)
    return np.asarray(2 * terms.sum(axis=1))


def _approximation(name: str, values: FloatArray, freedom: int) -> SafeReleaseApproximation:
    edges = np.linspace(0.0, freedom + 6 * math.sqrt(2 * freedom), _BINS + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    density = np.histogram(values, edges)[0] / len(values) / np.diff(edges)
    half = freedom / 2
    expected = np.exp((half - 1) * np.log(middles) - middles / 2 - half * math.log(2) - math.lgamma(half))
    above = float((values > chi_square(0.2, freedom)).mean())
    middle, found, wanted = (tuple(map(float, each)) for each in (middles, density, expected))
    return SafeReleaseApproximation(
        name=name, freedom=freedom, middles=middle, found=found, expected=wanted, above=above
    )
