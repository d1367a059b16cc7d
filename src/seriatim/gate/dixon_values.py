"""Critical values of Dixon's r10 for any number of distances and any level, under normal distances."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.gate.inputs import FloatArray, gate_input_level

_NODES, _MANY_NODES = 80, 240
_FEW = 64
_REACH = 8.5


def dixon_critical(n: Any, alpha: Any) -> float:
    """Return q with P(Q > q) = alpha for the largest of n independent normal distances; n is 3 or more."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 3 <= int(n) <= 100_000:
        raise InputError(Fault("n", "not a usable number of distances", "a whole number from 3 to 100000"))
    return _critical(int(n), gate_input_level(alpha))


def dixon_table(n_targets: int, alpha: float) -> FloatArray:
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
