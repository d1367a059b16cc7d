"""How a released table fares under each test: statistics beside critical values, in bits where the paper uses bits.

Baselines change: how far a new version is from the old one, and what was released under it, is found here too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim_gate.engine.baseline import Baseline
from seriatim_gate.engine.inputs import FloatArray, LongArray, input_counts
from seriatim_gate.engine.limits import TIE, beyond_table, dixon_limits
from seriatim_gate.engine.rules import Rules
from seriatim_gate.engine.statistics import distinct, divergences, dixon, mutual_information, pearson


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """One test: a figure per target, or one figure for all. A figure that is nan cannot be judged and is safe."""

    test: str
    statistic: FloatArray
    critical: FloatArray

    @property
    def safe(self) -> bool:
        return bool((~self.broken).all())

    @property
    def broken(self) -> Any:
        """Return which figures reach their critical value, ties counted."""
        with np.errstate(invalid="ignore"):
            margin = TIE * np.maximum(1.0, self.critical)
            held = (self.statistic < self.critical - margin) | np.isnan(self.statistic) | np.isinf(self.critical)
        return ~held


def results(counts: Any, asked: Rules) -> tuple[Result, ...]:
    """Judge |X| x |Y| counts by every test that was asked for."""
    table = input_counts(counts, asked.p)
    return tuple(_STANDINGS[test](table, asked) for test in asked.tests)


def _critical_bits(asked: Rules, test: str, n: int) -> float:
    """Return the critical value of ``mis`` or ``kld`` in bits for n records; infinite for none."""
    if n == 0:
        return math.inf
    table = asked.tables.get(test)
    if table is not None and n < len(table):
        return float(table[n])
    freedom = (len(asked.p) - 1) * (asked.n_targets if test == "mis" else 1)
    half, fading = beyond_table(asked.chi_square(freedom), table)
    return float(half * (1 + fading / n) / (n * math.log(2)))


def _mis(table: LongArray, asked: Rules) -> Result:
    critical = _critical_bits(asked, "mis", int(table.sum()))
    return Result("mis", np.array([mutual_information(table, asked.p)]), np.array([critical]))


def _kld(table: LongArray, asked: Rules) -> Result:
    critical = np.array([_critical_bits(asked, "kld", int(n)) for n in table.sum(axis=0)])
    return Result("kld", divergences(table, asked.p), critical)


def _cst(table: LongArray, asked: Rules) -> Result:
    statistics, cells = pearson(table, asked.p, asked.merge)
    critical = np.array([asked.chi_square(int(n) - 1) if n > 1 else np.inf for n in cells])
    return Result("cst", statistics, critical)


def _dqt(table: LongArray, asked: Rules) -> Result:
    if asked.distance == "pearson":
        distances = np.where(table.sum(axis=0) > 0, pearson(table, asked.p, "none")[0], np.nan)
    else:
        distances = divergences(table, asked.p)
    n = len(distinct(distances[~np.isnan(distances)]))
    critical = dixon_limits(asked.n_targets, asked.alpha)[n]
    return Result("dqt", np.array([dixon(distances)]), np.array([critical]))


def _wdt(table: LongArray, asked: Rules) -> Result:
    statistics = np.where(table.sum(axis=0) > 0, pearson(table, asked.p, "none")[0], np.nan)
    return Result("wdt", statistics, np.full(len(statistics), asked.chi_square(1)))


_STANDINGS = {"mis": _mis, "kld": _kld, "cst": _cst, "dqt": _dqt, "wdt": _wdt}


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """``bits`` from the old baseline to the new, the chance of as much by sampling, and what no longer holds."""

    bits: float
    p_value: float
    largest_change: float
    """Of a single probability."""
    broken: tuple[str, ...]
    """Tests that what was released fails under the new version; nothing can be called back."""

    @property
    def advice(self) -> str:
        if self.broken:
            return "freeze: what was released is no longer safe by " + ", ".join(self.broken)
        return "re-judge under the new version" if self.p_value < 0.05 else "no drift beyond chance"


def drift(
    old: Baseline,
    new: Baseline,
    counts: LongArray,
    tests: tuple[str, ...],
    alpha: float,
    rules: Rules | None = None,
) -> Drift:
    """Compare two versions over the same values of X, and judge |X| x |Y| released counts under the new one.

    ``rules`` are the new version's, where they are stored; else they are made from tests and level.
    """
    from scipy.special import chdtrc

    if old.attributes != new.attributes or old.targets != new.targets:
        raise InputError(Fault("baseline", "other values, ranges or targets than before", "the same, recounted"))
    p, q = old.probabilities, new.probabilities
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = float(np.where(q > 0, q * np.log2(q / p), 0.0).sum())
    g = 2 * np.log(2) * bits / (1 / old.n_records + 1 / new.n_records)
    p_value = float(chdtrc(len(p) - 1, g)) if np.isfinite(g) else 0.0
    gone = (counts.sum(axis=1) > 0) & (q == 0)
    if bool(gone.any()):
        return Drift(bits, p_value, float(np.abs(p - q).max()), tuple(tests))
    asked = rules or Rules.of(new, None, tests, alpha, "smallest", "simulated", None, None)
    found: tuple[Result, ...] = results(counts, asked)
    return Drift(bits, p_value, float(np.abs(p - q).max()), tuple(each.test for each in found if not each.safe))
