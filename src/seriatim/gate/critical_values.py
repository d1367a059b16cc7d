"""Critical values of the tests: the chi-square limits, and simulated ones while few records have left.

A simulated value is the order statistic ceil((1 - alpha) R) of R paths that draw records under independence. Between
two stops of the simulation the value is interpolated on the scale of G = 2 N ln 2 x bits, never held constant in bits.
Beyond the last stop s the chi-square value is multiplied by 1 + (r - 1) s / n, r = simulated / chi-square at s, so that
no value drops where simulation ends: a drop stops the gate for ever.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.gate.inputs import FloatArray, LongArray, gate_input_level, input_probabilities

PATHS = 10_000
SEED = 20_110_101
TIE = 1e-9
"""A statistic within TIE x max(1, critical) of its critical value is a tie, and a tie is not safe."""
LARGEST_FALL = 0.09
"""On the scale of G a simulated value falls by no more than this from one record to the next."""
_EVERY = 256
_RATIO = 1.02
_LN2 = math.log(2)


def critical_chi_square(alpha: float, freedom: int) -> float:
    """Return the value that a chi-square variable exceeds with probability alpha."""
    from scipy.special import chdtri

    return float(chdtri(freedom, alpha))


def _switch_at(n_values: int, n_targets: int) -> int:
    """Return how many records are judged by simulated values: 2 |X| |Y|."""
    return 2 * n_values * n_targets


def critical_tables(
    baseline: Any, weights: Any, alpha: Any, tests: tuple[str, ...] = ("mis", "kld"), paths: int = PATHS
) -> dict[str, FloatArray]:
    """Return simulated critical values in bits by number of records; index 0 is unused.

    ``weights`` are P(Y); ``mis`` is indexed by all released records, ``kld`` by those of one target. Equal arguments
    give equal tables on every machine; store them with the baseline and hand them to ``Gate(tables=...)``.
    """
    p, shares = input_probabilities(baseline), input_probabilities(weights, "target_weights", 1)
    if isinstance(paths, bool) or not isinstance(paths, int) or not 100 <= paths <= 1_000_000:
        raise InputError(Fault("paths", "not a usable number of paths", "100 to 1000000"))
    level = gate_input_level(alpha)
    one = np.ones(1).tobytes()
    return {
        test: _table(p.tobytes(), shares.tobytes() if test == "mis" else one, len(shares), level, paths).copy()
        for test in ("mis", "kld")
        if test in tests
    }


@lru_cache(maxsize=64)
def _table(p_bytes: bytes, weight_bytes: bytes, n_targets: int, alpha: float, paths: int) -> FloatArray:
    p, weights = np.frombuffer(p_bytes), np.frombuffer(weight_bytes)
    stops = _stops(_switch_at(len(p), n_targets))
    exposures = _simulate(p, weights, stops, paths)
    g = np.array([2 * _quantile(row, alpha, int(n)) for row, n in zip(exposures, stops, strict=True)])
    every = np.arange(1, stops[-1] + 1)
    scaled = np.interp(every, stops, g)
    for i in range(1, len(scaled)):
        scaled[i] = max(scaled[i], scaled[i - 1] - LARGEST_FALL)
    table: FloatArray = np.concatenate(([np.nan], scaled / (2 * every * _LN2)))
    table.flags.writeable = False
    return table


def _simulate(p: FloatArray, weights: FloatArray, stops: LongArray, paths: int) -> FloatArray:
    from seriatim.kernels.gate.independence_paths import (
        IndependentPairs,
        independence_path_alias,
        independence_path_simulation,
    )

    cut = np.outer(weights, p).ravel()
    cut *= len(cut) / cut.sum()
    other = np.arange(len(cut))
    independence_path_alias(cut, other)
    n = np.arange(int(stops[-1]) + 2, dtype=np.float64)
    step = np.diff(n * np.log(np.maximum(n, 1.0)))
    log_p = np.log(np.where(p > 0, p, 1.0))
    exposures = np.empty((len(stops), paths))
    independence_path_simulation(IndependentPairs(cut, other, log_p, step), stops, SEED, exposures)
    return exposures


def _stops(last: int) -> LongArray:
    """Return where the simulation is read: every number of records at first, then in growing steps."""
    stops = list(range(1, min(last, _EVERY) + 1))
    while stops[-1] < last:
        stops.append(min(last, math.ceil(stops[-1] * _RATIO)))
    return np.array(stops, dtype=np.int64)


def _quantile(exposures: FloatArray, alpha: float, n: int) -> float:
    """Return the order statistic; where no outcome lies below it, the outcome itself is let pass.

    With equal bands every first record has the same statistic: a strict test could never be passed at all.
    """
    rank = math.ceil((1 - alpha) * len(exposures) - 1e-9)
    value = float(np.partition(exposures, rank - 1)[rank - 1])
    margin = TIE * max(1.0, value / (n * _LN2)) * n * _LN2
    return value if float(exposures.min()) < value - margin else value + 2 * margin


def critical_limits(table: FloatArray) -> FloatArray:
    """Return a table in bits as the exposure, in nats, that must not be reached; ties taken off."""
    n = np.arange(len(table))
    return np.asarray(n * _LN2 * (table - TIE * np.maximum(1.0, table)))


def critical_beyond(value: float, table: FloatArray | None) -> FloatArray:
    """Return half a chi-square value and the correction (r - 1) s that fades as 1/n beyond a table's end s."""
    if table is None:
        return np.array([value / 2, 0.0])
    last = len(table) - 1
    ratio = 2 * last * _LN2 * float(table[last]) / value
    return np.array([value / 2, (ratio - 1) * last])


def critical_below(critical: FloatArray) -> FloatArray:
    """Return critical values with ties taken off."""
    finite = np.where(np.isfinite(critical), critical, 1.0)
    return np.where(np.isfinite(critical), finite - TIE * np.maximum(1.0, np.abs(finite)), critical)


def checked_critical_tables(tables: Any, where: str = "tables") -> dict[str, FloatArray]:
    """Return injected tables, checked: bits by number of records, index 0 unused."""
    if not isinstance(tables, Mapping) or not set(tables) <= {"mis", "kld"}:
        raise InputError(Fault(where, "not a mapping of tables", "'mis' and 'kld'"))
    checked = {}
    for name, values in tables.items():
        try:
            table = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.zeros(0)
        if table.ndim != 1 or len(table) < 2 or not bool(np.isfinite(table[1:]).all()) or bool((table[1:] <= 0).any()):
            raise InputError(Fault(f"{where}, {name}", "not a table", "positive bits by number of records from 1"))
        checked[str(name)] = table
    return checked
