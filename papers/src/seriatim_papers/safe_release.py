"""Bezzi et al., "Modeling and Preventing Inferences from Sensitive Value Distributions", run again from Figure 2(a)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from seriatim.model.chance import open_chance
from seriatim_gate.engine.intake import decided
from seriatim_gate.engine.limits import chi_square, critical_tables
from seriatim_gate.engine.results import results
from seriatim_gate.engine.rules import Rules
from seriatim_gate.engine.statistics import divergences, dixon, mutual_information, pearson
from seriatim_papers.claims import Spread
from seriatim_papers.safe_release_counts import BASELINE, FIGURE_2, FIGURE_6, FIGURE_8, FIGURE_9, FIGURE_11

FloatArray = npt.NDArray[np.float64]
LongArray = npt.NDArray[np.int64]

PAPER_TESTS = ("mis", "kld", "cst", "dqt")
TESTS = (*PAPER_TESTS, "wdt")
LEVELS = (0.2, 0.05)
WEIGHTS = FIGURE_2.sum(axis=0) / FIGURE_2.sum()
FIGURE_16 = {
    ("mis", 0.2): (1156.00, 705.20, 1119.00, 1256.95, 1876.65),
    ("kld", 0.2): (871.85, 697.65, 1549.75, 1874.75, 2415.65),
    ("cst", 0.2): (994.55, 255.35, 1300.00, 1361.85, 1899.25),
    ("dqt", 0.2): (1935.85, 1262.65, 1565.45, 1990.20, 3013.00),
    ("mis", 0.05): (1187.55, 720.05, 1145.90, 1283.50, 1907.85),
    ("kld", 0.05): (918.35, 713.30, 1576.20, 1951.85, 2530.20),
    ("cst", 0.05): (1021.85, 322.30, 1151.90, 1698.15, 2344.55),
    ("dqt", 0.05): (1996.90, 1275.80, 1571.80, 1996.25, 2996.75),
}
FIGURE_16_TOTALS = {
    ("mis", 0.2): 6095.78, ("kld", 0.2): 7408.67, ("cst", 0.2): 5119.88, ("dqt", 0.2): 9631.55,
    ("mis", 0.05): 6290.58, ("kld", 0.05): 7757.14, ("cst", 0.05): 6478.14, ("dqt", 0.05): 9846.14,
}  # fmt: skip
FIGURE_19 = {
    "mis": (100, 0, 0, 54),
    "kld": (1, 100, 1, 61),
    "cst": (0, 0, 100, 45),
    "dqt": (0, 0, 0, 100),
}
_RECORDS = np.repeat(np.arange(50), FIGURE_2.ravel())


@dataclass(frozen=True, slots=True)
class SafeReleaseExample:
    """One printed figure beside what its definition gives."""

    name: str
    printed: float
    found: float
    remark: str = ""


@dataclass(frozen=True, slots=True)
class SafeReleaseCounts:
    """Records released per location, one number a sequence, beside Figure 16 (empty for our own test)."""

    test: str
    alpha: float
    left: tuple[Spread, ...]
    printed: tuple[float, ...]

    @property
    def total(self) -> Spread:
        return Spread(tuple(map(sum, zip(*(one.numbers for one in self.left), strict=True))))

    @property
    def shares(self) -> tuple[float, ...]:
        """Return the mean share of each location's records that leaves."""
        return tuple(one.mean / n for one, n in zip(self.left, FIGURE_2.sum(axis=0).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class StoppedRuns:
    """How many sequences never released anything once critical values were chi-square."""

    table: str
    test: str
    plain: bool
    stopped: int
    n_sequences: int


def safe_release_rules(tests: tuple[str, ...], alpha: float, plain: bool = False) -> Rules:
    """Return the paper's gate: the baseline is the exact row totals of Figure 2(a), P(Y) its column totals.

    ``plain`` is as printed: chi-square values from where simulation ends, though they may drop there.
    """
    tables = plain_tables(BASELINE, WEIGHTS, alpha, tests) if plain else None
    return Rules.of(BASELINE, 5, tests, alpha, "smallest", "simulated", WEIGHTS, tables)


def plain_tables(
    baseline: FloatArray, weights: FloatArray, alpha: float, tests: Sequence[str]
) -> dict[str, FloatArray]:
    """Return simulated critical values with the chi-square value as their last: from there on nothing is corrected."""
    simulated = critical_tables(baseline, weights, alpha, tuple(tests))
    free = {"mis": (len(baseline) - 1) * len(weights), "kld": len(baseline) - 1}
    return {
        test: np.append(table, chi_square(alpha, free[test]) / (2 * len(table) * np.log(2)))
        for test, table in simulated.items()
    }


def safe_release_examples() -> tuple[SafeReleaseExample, ...]:
    """Recompute every printed example."""
    rows = [SafeReleaseExample("4.1 mutual information", 0.063285, mutual_information(FIGURE_2, BASELINE))]
    rows += _row("4.2 divergence", (0.047349, 0.358836, 0.013967, 0.007375, 0.010879), divergences(FIGURE_2, BASELINE))
    slip = "printed with eight significant digits"
    printed = (104.532750, 878.201780, 30.837391, 17.340740, 39.875054)
    rows += _row("4.3 Pearson", printed, pearson(FIGURE_2, BASELINE)[0], slip)
    rows += [SafeReleaseExample("5.4 mutual information", 0.025522, mutual_information(FIGURE_6, BASELINE))]
    rows += [SafeReleaseExample("5.4 critical value", 0.025527, chi_square(0.2, 45) / (2 * 1490 * np.log(2)))]
    n, of_place = int(FIGURE_2.sum()), FIGURE_2.sum(axis=0)
    rows += [SafeReleaseExample("5.4 critical value of T at 5 %", 0.004448, chi_square(0.05, 45) / (2 * n * np.log(2)))]
    rows += _row("5.8 divergence", (0.026582, 0.056478, 0.028935, 0.029818, 0.014996), divergences(FIGURE_8, BASELINE))
    limits = chi_square(0.2, 9) / (2 * np.log(2) * FIGURE_8.sum(axis=0))
    rows += _row("5.8 critical value", (0.026599, 0.057343, 0.028954, 0.029834, 0.015018), limits)
    limits = chi_square(0.05, 9) / (2 * np.log(2) * of_place)
    rows += _row("5.8 critical value of T at 5 %", (0.006015, 0.009395, 0.007388, 0.006081, 0.004051), limits)
    statistics, cells = pearson(FIGURE_9, BASELINE)
    cut = "three of these are truncated, not rounded"
    rows += _row("5.11 Pearson", (8.550683, 0.961415, 9.717669, 8.293681, 8.554984), statistics, cut)
    limits = np.array([chi_square(0.2, int(n) - 1) for n in cells])
    rows += _row("5.11 critical value", (8.558059, 1.642374, 9.803249, 11.030091, 8.558059), limits)
    limits = np.array([chi_square(0.05, int(n) - 1) for n in pearson(FIGURE_2, BASELINE)[1]])
    rows += _row("5.11 critical value of T at 5 %", (15.507313, 16.918978, 15.507313, 15.507313, 15.507313), limits)
    far = divergences(FIGURE_11, BASELINE)
    rows += _row("5.13 divergence", (0.209188, 0.361504, 0.037932, 0.018421, 0.021103), far)
    rows += [SafeReleaseExample("5.13 Dixon's Q", 0.443963, dixon(far))]
    rounded = "computed from rounded distances; its denominator 0.07375 is 0.007375"
    rows += [SafeReleaseExample("5.13 Dixon's Q of T", 0.886263, dixon(divergences(FIGURE_2, BASELINE)), rounded)]
    return tuple(rows)


def safe_release_fitting() -> FloatArray:
    """Return Figure 18: how many records fit the baseline exactly at each location."""
    return np.asarray((FIGURE_2 / BASELINE[:, None]).min(axis=0))


def safe_release_requests(seed: int, number: int, size: int = 10_000) -> tuple[LongArray, LongArray]:
    """Return one random sequence of ``size`` of the 10,000 records."""
    drawn = open_chance(seed, f"sequence {number}").permutation(_RECORDS)[:size]
    return drawn // 5, drawn % 5


def safe_release_figure_16(test: str, alpha: float, n_sequences: int, seed: int = 1) -> SafeReleaseCounts:
    """Replay random sequences of 10,000 requests under one test and level."""
    asked = safe_release_rules((test,), alpha)
    left = [decided([asked], [safe_release_requests(seed, i)])[0].counts.sum(axis=0) for i in range(n_sequences)]
    spreads = tuple(Spread(tuple(map(float, column))) for column in np.array(left).T)
    return SafeReleaseCounts(test, alpha, spreads, FIGURE_16.get((test, alpha), ()))


def stopped_runs(n_sequences: int, n_requests: int = 2_000, seed: int = 5) -> tuple[StoppedRuns, ...]:
    """Count the sequences that stop for ever where simulation ends: X and Y independent, values as printed and ours.

    The paper's ages are unequal bands; offices choose equal ones, where simulated values lie above chi-square.
    """
    found = []
    for name, baseline in (("ages of the paper", BASELINE), ("ten bands of equal share", np.full(10, 0.1))):
        for test in ("mis", "kld"):
            for plain in (True, False):
                tables = plain_tables(baseline, WEIGHTS, 0.2, (test,)) if plain else None
                asked = Rules.of(baseline, 5, (test,), 0.2, "smallest", "simulated", WEIGHTS, tables)
                stopped = 0
                for i in range(n_sequences):
                    chance = open_chance(seed, f"stopped {i}")
                    x, y = chance.choice(10, n_requests, p=baseline), chance.choice(5, n_requests, p=WEIGHTS)
                    counts = decided([asked], [(x, y)])[0].counts
                    last = int(counts.sum() if test == "mis" else counts.sum(axis=0).max())
                    stopped += last <= 2 * 10 * 5
                found.append(StoppedRuns(name, test, plain, stopped, n_sequences))
    return tuple(found)


def safe_release_figure_19(n_sequences: int, seed: int = 2) -> dict[str, tuple[float, ...]]:
    """Return for each test the percentage of its releases (of 5,000 requests, 20 %) that pass the others."""
    everything = safe_release_rules(PAPER_TESTS, 0.2)
    found = {}
    for test in PAPER_TESTS:
        asked = replace(everything, tests=(test,))
        passed = np.zeros(len(PAPER_TESTS))
        for i in range(n_sequences):
            counts = decided([asked], [safe_release_requests(seed, i, 5_000)])[0].counts
            passed += [each.safe for each in results(counts, everything)]
        found[test] = tuple((100 * passed / n_sequences).tolist())
    return found


def _row(name: str, printed: tuple[float, ...], found: FloatArray, remark: str = "") -> list[SafeReleaseExample]:
    return [
        SafeReleaseExample(f"{name}, L{i + 1}", p, float(f), remark)
        for i, (p, f) in enumerate(zip(printed, found, strict=True))
    ]
