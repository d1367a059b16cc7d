"""Critical values of the tests: the chi-square limits, simulated ones while few records have left, and Dixon's.

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
from seriatim_gate.engine.inputs import FloatArray, LongArray, input_level, input_probabilities

PATHS = 10_000
SEED = 20_110_101
TIE = 1e-9
"""A statistic within TIE x max(1, critical) of its critical value is a tie, and a tie is not safe."""
LARGEST_FALL = 0.09
"""On the scale of G a simulated value falls by no more than this from one record to the next."""
_NODES, _MANY_NODES = 80, 240
_FEW = 64
"""So many distances have Dixon's values computed; beyond, these lie on a curve through some of them."""
_REACH = 8.5
_EVERY = 256
_RATIO = 1.02
_LN2 = math.log(2)


def chi_square(alpha: float, freedom: int) -> float:
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
    level = input_level(alpha)
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
    # a simulated value may fall by noise; were it to fall by more than a release can, the gate would stop for ever
    for i in range(1, len(scaled)):
        scaled[i] = max(scaled[i], scaled[i - 1] - LARGEST_FALL)
    table: FloatArray = np.concatenate(([np.nan], scaled / (2 * every * _LN2)))
    table.flags.writeable = False
    return table


def _simulate(p: FloatArray, weights: FloatArray, stops: LongArray, paths: int) -> FloatArray:
    from seriatim_gate.kernels.independence import (
        IndependentPairs,
        alias_tables,
        simulate,
    )

    cut = np.outer(weights, p).ravel()
    cut *= len(cut) / cut.sum()
    other = np.arange(len(cut))
    alias_tables(cut, other)
    n = np.arange(int(stops[-1]) + 2, dtype=np.float64)
    step = np.diff(n * np.log(np.maximum(n, 1.0)))
    log_p = np.log(np.where(p > 0, p, 1.0))
    exposures = np.empty((len(stops), paths))
    simulate(IndependentPairs(cut, other, log_p, step), stops, SEED, exposures)
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


def in_nats(table: FloatArray) -> FloatArray:
    """Return a table in bits as the exposure, in nats, that must not be reached; ties taken off."""
    n = np.arange(len(table))
    return np.asarray(n * _LN2 * (table - TIE * np.maximum(1.0, table)))


def beyond_table(value: float, table: FloatArray | None) -> FloatArray:
    """Return half a chi-square value and the correction (r - 1) s that fades as 1/n beyond a table's end s."""
    if table is None:
        return np.array([value / 2, 0.0])
    last = len(table) - 1
    ratio = 2 * last * _LN2 * float(table[last]) / value
    return np.array([value / 2, (ratio - 1) * last])


def without_ties(critical: FloatArray) -> FloatArray:
    """Return critical values with ties taken off."""
    finite = np.where(np.isfinite(critical), critical, 1.0)
    return np.where(np.isfinite(critical), finite - TIE * np.maximum(1.0, np.abs(finite)), critical)


def checked_tables(tables: Any, where: str = "tables") -> dict[str, FloatArray]:
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


def dixon_critical(n: Any, alpha: Any) -> float:
    """Return q with P(Q > q) = alpha for the largest of n independent normal distances; n is 3 or more."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 3 <= int(n) <= 100_000:
        raise InputError(Fault("n", "not a usable number of distances", "a whole number from 3 to 100000"))
    return _critical(int(n), input_level(alpha))


def dixon_limits(n_targets: int, alpha: float) -> FloatArray:
    """Return critical values by number of distances, 0 to ``n_targets``; infinite below 3, where nothing is judged.

    Beyond 64 distances the values lie on a smooth curve through some of them, equal to 1e-6.
    """
    values = np.full(max(n_targets, 2) + 1, np.inf)
    few = range(3, min(n_targets, _FEW) + 1)
    values[3 : 3 + len(few)] = [_critical(n, alpha) for n in few]
    if n_targets > _FEW:
        from scipy.interpolate import CubicSpline

        knots = np.unique(np.geomspace(_FEW - 24, n_targets + 24, 4 + int(6 * np.log2(n_targets / 32))).astype(int))
        curve = CubicSpline(np.log(knots), [_critical(int(n), alpha) for n in knots])
        values[_FEW + 1 :] = curve(np.log(np.arange(_FEW + 1, n_targets + 1)))
    return values


@lru_cache(maxsize=4096)
def _critical(n: int, alpha: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(lambda q: _chance_above(q, n) - alpha, 0.0, 1.0, xtol=1e-10, rtol=1e-10))


def _chance_above(q: float, n: int) -> float:
    """Return P(Q > q): smallest u, largest v, all others between u and v - q (v - u)."""
    from scipy.special import ndtr

    u, v, weight, below = _grid(_NODES if n <= _FEW else _MANY_NODES)
    inside = np.maximum(ndtr(v - q * (v - u)) - below, 0.0)
    return float(n * (n - 1) * np.vdot(weight, inside ** (n - 2)))


@lru_cache(maxsize=2)
def _grid(n_nodes: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return u < v on a triangle, phi(u) phi(v) du dv there, and Phi(u)."""
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    v, v_weight = _REACH * nodes, _REACH * weights
    share, share_weight = (nodes + 1) / 2, weights / 2
    u = -_REACH + (v[:, None] + _REACH) * share[None, :]
    du = (v[:, None] + _REACH) * share_weight[None, :]
    density = np.exp(-(u**2 + v[:, None] ** 2) / 2) / (2 * np.pi)
    weight = density * du * v_weight[:, None]
    told = weight > 1e-17 * weight.max()
    return u[told], np.broadcast_to(v[:, None], u.shape)[told], weight[told], ndtr(u[told])
