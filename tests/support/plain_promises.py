"""k, l and t in plain Python from a published table: the twin that judges the judges."""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate
from typing import Any

import pyarrow as pa


def classes(table: pa.Table, quasi: list[str]) -> list[list[dict[str, Any]]]:
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        found.setdefault(tuple(row[name] for name in quasi), []).append(row)
    return list(found.values())


def distinct(values: list[Any]) -> float:
    return len(set(values))


def entropy(values: list[Any]) -> float:
    return -sum(c / len(values) * math.log(c / len(values)) for c in Counter(values).values())


def recursive_holds(values: list[Any], c: float, depth: int) -> bool:
    counts = sorted(Counter(values).values(), reverse=True)
    return counts[0] < c * sum(counts[depth - 1 :])


def shares(values: list[Any], domain: list[Any]) -> list[float]:
    return [values.count(value) / len(values) for value in domain]


def equal_distance(p: list[float], q: list[float]) -> float:
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def ordered_distance(p: list[float], q: list[float]) -> float:
    ahead = list(accumulate(a - b for a, b in zip(p, q, strict=True)))
    return sum(abs(step) for step in ahead[:-1]) / max(len(p) - 1, 1)


def transport_distance(p: list[float], q: list[float], cost: list[list[float]]) -> float:
    """Earth mover's distance by linear programme: nothing clever."""
    import numpy as np
    from scipy.optimize import linprog

    n = len(p)
    rows = np.zeros((2 * n, n * n))
    for i in range(n):
        rows[i, i * n : (i + 1) * n] = 1
        rows[n + i, i::n] = 1
    return float(linprog(np.ravel(cost), A_eq=rows, b_eq=[*p, *q], method="highs").fun)
