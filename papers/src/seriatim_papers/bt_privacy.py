"""(B, t)-privacy of Li, Li and Zhang (ICDE 2009), which JS-Reduce compares with: kernel estimates, and Mondrian."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.arrays import Floats, Ints, Longs
from seriatim.knowledge._posterior import BITS, entropies_for_divergence
from seriatim_papers.js_reduce import Grouper
from seriatim_papers.worlds.patients import STAGES, VALUES, PatientWeek


def js_reduce_by_bt(k: int, bandwidth: float, t: float) -> Grouper:
    """Return Mondrian with (B, t)-privacy of Li, Li and Zhang: nobody's belief moves by more than t bits.

    Bits, since the paper's t = 0.8 is more than any two beliefs can differ by in nats (0.69). Priors are kernel
    estimates over the quasi-identifiers (Epanechnikov, bandwidth B), posteriors omega estimates, the distance is
    Jensen-Shannon after smoothing over stages of one disease.
    """

    def group(week: PatientWeek, beliefs: Floats, place: Floats) -> Longs:  # noqa: ARG001 - it looks at one view alone
        prior = kernel_priors(place, week.value, bandwidth)
        found = np.empty(len(week.value), dtype=np.int64)
        smooth, n_groups = _smoothing(), 0
        heap = [np.arange(len(week.value))]
        while heap:
            rows = heap.pop()
            halves = _halves(place, rows, k, lambda part: _moves_little(prior, week.value, part, smooth, t))
            if halves is None:
                found[rows] = n_groups
                n_groups += 1
            else:
                heap.extend(halves)
        return found

    return group


def _halves(place: Floats, rows: Longs, k: int, passes: object) -> tuple[Longs, Longs] | None:
    """Cut at the median of the widest column whose halves pass; equal values stay together."""
    assert callable(passes)
    here = place[rows]
    for column in np.argsort(-(here.max(axis=0) - here.min(axis=0))).tolist():
        middle = np.median(here[:, column])
        for low in (here[:, column] <= middle, here[:, column] < middle):
            one, two = rows[low], rows[~low]
            if len(one) >= k and len(two) >= k and passes(one) and passes(two):
                return one, two
    return None


def kernel_priors(place: Floats, value: Ints, bandwidth: float) -> Floats:
    """Return what the people nearby make likely for everyone (BK^sv): an Epanechnikov kernel over each column.

    ``place`` is everyone's place in the box of all quasi-identifiers, each from 0 to 1; ``bandwidth`` is B.
    """
    cells, which = np.unique(place, axis=0, return_inverse=True)
    counts = np.zeros((len(cells), len(VALUES)))
    np.add.at(counts, (which, value), 1.0)
    near = np.ones((len(cells), len(cells)))
    for column in range(cells.shape[1]):
        far = np.abs(cells[:, None, column] - cells[None, :, column]) / bandwidth
        near *= np.maximum(1.0 - far**2, 0.0)
    shares = near @ counts
    prior: Floats = (shares / shares.sum(axis=1, keepdims=True))[which]
    return prior


def _smoothing() -> Floats:
    """Return the kernel over values: stages of one disease are half as far apart as diseases."""
    disease = np.concatenate([np.full(n, at) for at, n in enumerate(STAGES.values())] + [np.array([90, 91])])
    weight = np.where(disease[:, None] == disease[None, :], 0.75, 0.0)
    np.fill_diagonal(weight, 1.0)
    smoothed: Floats = weight / weight.sum(axis=1, keepdims=True)
    return smoothed


def _moves_little(prior: Floats, value: Ints, rows: Longs, smooth: Floats, t: float) -> bool:
    m = np.bincount(value[rows], minlength=len(VALUES))
    p = prior[rows]
    column = p.sum(axis=0)
    after = p * np.divide(m, column, out=np.zeros(len(m)), where=column > 0)
    after /= np.maximum(after.sum(axis=1, keepdims=True), 1e-300)
    one, two = p @ smooth, after @ smooth
    moved = (
        entropies_for_divergence((one + two) / 2) - (entropies_for_divergence(one) + entropies_for_divergence(two)) / 2
    )
    return bool(moved.max() <= t * BITS)
