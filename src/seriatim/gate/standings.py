"""How a released table stands under each test: statistics beside critical values, in bits where the paper uses bits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from seriatim.gate.critical_values import TIE, critical_beyond
from seriatim.gate.dixon_values import dixon_table
from seriatim.gate.inputs import FloatArray, LongArray, input_counts
from seriatim.gate.rules import GateRules
from seriatim.gate.statistics import divergences, dixon, gate_statistics_distinct, mutual_information, pearson


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """One test: a figure per target, or one figure for all. A figure that is nan cannot be judged and is safe."""

    test: str
    statistic: FloatArray
    critical: FloatArray

    @property
    def safe(self) -> bool:
        return bool((~self.broken).all())

    @property
    def broken(self) -> Any:
        """Which figures reach their critical value, ties counted."""
        with np.errstate(invalid="ignore"):
            margin = TIE * np.maximum(1.0, self.critical)
            held = (self.statistic < self.critical - margin) | np.isnan(self.statistic) | np.isinf(self.critical)
        return ~held


def standing_of(counts: Any, asked: GateRules) -> tuple[Standing, ...]:
    """Judge |X| x |Y| counts by every test that was asked for."""
    table = input_counts(counts, asked.p)
    return tuple(_STANDINGS[test](table, asked) for test in asked.tests)


def _critical_bits(asked: GateRules, test: str, n: int) -> float:
    """Return the critical value of ``mis`` or ``kld`` in bits for n records; infinite for none."""
    if n == 0:
        return math.inf
    table = asked.tables.get(test)
    if table is not None and n < len(table):
        return float(table[n])
    freedom = (len(asked.p) - 1) * (asked.n_targets if test == "mis" else 1)
    half, fading = critical_beyond(asked.chi_square(freedom), table)
    return float(half * (1 + fading / n) / (n * math.log(2)))


def _mis(table: LongArray, asked: GateRules) -> Standing:
    critical = _critical_bits(asked, "mis", int(table.sum()))
    return Standing("mis", np.array([mutual_information(table, asked.p)]), np.array([critical]))


def _kld(table: LongArray, asked: GateRules) -> Standing:
    critical = np.array([_critical_bits(asked, "kld", int(n)) for n in table.sum(axis=0)])
    return Standing("kld", divergences(table, asked.p), critical)


def _cst(table: LongArray, asked: GateRules) -> Standing:
    statistics, cells = pearson(table, asked.p, asked.merge)
    critical = np.array([asked.chi_square(int(n) - 1) if n > 1 else np.inf for n in cells])
    return Standing("cst", statistics, critical)


def _dqt(table: LongArray, asked: GateRules) -> Standing:
    if asked.distance == "pearson":
        distances = np.where(table.sum(axis=0) > 0, pearson(table, asked.p, "none")[0], np.nan)
    else:
        distances = divergences(table, asked.p)
    n = len(gate_statistics_distinct(distances[~np.isnan(distances)]))
    critical = dixon_table(asked.n_targets, asked.alpha)[n]
    return Standing("dqt", np.array([dixon(distances)]), np.array([critical]))


def _wdt(table: LongArray, asked: GateRules) -> Standing:
    statistics = np.where(table.sum(axis=0) > 0, pearson(table, asked.p, "none")[0], np.nan)
    return Standing("wdt", statistics, np.full(len(statistics), asked.chi_square(1)))


_STANDINGS = {"mis": _mis, "kld": _kld, "cst": _cst, "dqt": _dqt, "wdt": _wdt}
