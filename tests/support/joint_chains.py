"""Exact beliefs about small histories: all people's values at once, as one hidden Markov model.

The state of the model is everyone's value together. It is slow, and shares nothing with the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pyarrow as pa

from seriatim.model.history import History, PastRelease


def exact_beliefs(
    groups: np.ndarray, values: np.ndarray, T: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (releases, people, values) looking back, and forward, by sums over all assignments of each release.

    ``groups[t, r]`` and ``values[t, r]`` are the group and value of person r, who is in every release.
    """
    n_releases, n_people = values.shape
    worlds = [_worlds(groups[t], values[t]) for t in range(n_releases)]
    alpha = [np.prod(prior[worlds[0]], axis=1)]
    for t in range(1, n_releases):
        alpha.append(alpha[-1] @ _between(worlds[t - 1], worlds[t], T))
        alpha[-1] /= alpha[-1].sum()
    beta = [np.ones(len(worlds[-1]))]
    for t in range(n_releases - 2, -1, -1):
        beta.insert(0, _between(worlds[t], worlds[t + 1], T) @ beta[0])
        beta[0] /= beta[0].sum()
    both, ahead = np.zeros((n_releases, n_people, len(prior))), np.zeros((n_releases, n_people, len(prior)))
    for t in range(n_releases):
        for out, weight in ((both, alpha[t] * beta[t]), (ahead, alpha[t])):
            for r in range(n_people):
                np.add.at(out[t, r], worlds[t][:, r], weight / weight.sum())
    return both, ahead


def _worlds(groups: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return all assignments of published values to people, a row each."""
    parts = []
    for g in np.unique(groups):
        at = np.flatnonzero(groups == g)
        parts.append((at, sorted(_arrangements(tuple(sorted(values[at].tolist()))))))
    rows = []
    for choice in product(*(options for _, options in parts)):
        row = np.empty(len(values), dtype=np.int64)
        for (at, _), held in zip(parts, choice, strict=True):
            row[at] = held
        rows.append(row)
    return np.array(rows)


def _arrangements(left: tuple[int, ...]) -> set[tuple[int, ...]]:
    if not left:
        return {()}
    return {
        (v, *rest) for i, v in enumerate(left) if v not in left[:i] for rest in _arrangements(left[:i] + left[i + 1 :])
    }


def _between(before: np.ndarray, after: np.ndarray, T: np.ndarray) -> np.ndarray:
    weight = np.ones((len(before), len(after)))
    for r in range(before.shape[1]):
        weight *= T[before[:, r]][:, after[:, r]]
    return weight


def history_of_arrays(groups: np.ndarray, values: np.ndarray, names: Sequence[str]) -> History:
    """Return the history in which person r is in ``groups[t, r]`` of release t with ``values[t, r]``."""
    people = np.arange(values.shape[1], dtype=np.int32)
    pasts = tuple(
        PastRelease(t + 1, person=people, group=groups[t].astype(np.int32), value=values[t].astype(np.int32))
        for t in range(len(values))
    )
    return History(pa.array([f"p{i}" for i in people]), pa.array(list(names)), pasts)


def drawn_values(T: np.ndarray, prior: np.ndarray, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Draw values of (releases, people) from the model itself."""
    n_releases, n_people = shape
    values = np.empty(shape, dtype=np.int64)
    values[0] = rng.choice(len(prior), n_people, p=prior)
    for t in range(1, n_releases):
        values[t] = [rng.choice(len(prior), p=T[v]) for v in values[t - 1]]
    return values


def drawn_groups(kind: str, n_releases: int, rng: np.random.Generator) -> np.ndarray:
    """Return groups of eight people in two groups of four: stable, with one swap a release, or drawn anew."""
    groups = np.tile(np.repeat([0, 1], 4), (n_releases, 1))
    for t in range(1, n_releases):
        groups[t] = groups[t - 1]
        if kind == "swap":
            a, b = rng.choice(np.flatnonzero(groups[t] == 0)), rng.choice(np.flatnonzero(groups[t] == 1))
            groups[t, a], groups[t, b] = 1, 0
        elif kind == "regrouped":
            groups[t] = rng.permutation(groups[t])
    return groups
