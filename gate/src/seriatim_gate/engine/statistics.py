"""How far released distributions are from a fixed public baseline, after Bezzi et al.

``counts`` is |X| x |Y|: how many released records have value x of X and target y of Y. ``baseline`` is P(X).
Figures are in bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim_gate.engine.inputs import MERGES, FloatArray, LongArray, input_choice, input_counts, input_probabilities

SAME = 1e-12
"""Distances that differ by no more than this are one distance."""


def divergences(counts: Any, baseline: Any) -> FloatArray:
    """Return the Kullback-Leibler distance of every target from the baseline; nan where nothing was released."""
    p = input_probabilities(baseline)
    return _divergences(input_counts(counts, p), p)


def mutual_information(counts: Any, baseline: Any) -> float:
    """Return the mutual information of X and Y in what was released, with P(X) given by the baseline."""
    p = input_probabilities(baseline)
    table = input_counts(counts, p)
    totals = table.sum(axis=0)
    if not totals.any():
        return 0.0
    held = totals > 0
    return float((totals[held] * _divergences(table, p)[held]).sum() / totals.sum())


def pearson(counts: Any, baseline: Any, merge: str = "smallest") -> tuple[FloatArray, LongArray]:
    """Return Pearson's statistic and the number of cells after merging, both over targets.

    ``merge`` joins neighbouring cells with fewer than 5 records: ``smallest`` joins the smallest such cell to its
    smaller neighbour (ties: lowest index, left neighbour), ``forward`` fills cells from left to right, ``none`` merges
    nothing. One remaining cell has the statistic 0.
    """
    from seriatim_gate.engine.opening import rows
    from seriatim_gate.kernels.board import WORK
    from seriatim_gate.kernels.merging import merged_pearson

    rule = MERGES.index(input_choice("merge", merge, MERGES))
    p = input_probabilities(baseline)
    statistics, cells = merged_pearson(np.ascontiguousarray(input_counts(counts, p).T), p, rule, rows(WORK, len(p)))
    return statistics, cells


def dixon(distances: Any) -> float:
    """Return Dixon's r10 for an outlier at the upper end; nan when fewer than three distances differ.

    Distances that are nan (targets without a release) do not count.
    """
    try:
        values = np.asarray(distances, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise InputError(Fault("distances", "not numeric", "a list of numbers")) from None
    if bool(np.isinf(values).any()):
        raise InputError(Fault("distances", "an entry that is not finite", "numbers, or nan where nothing is known"))
    ranked = distinct(values[~np.isnan(values)])
    if len(ranked) < 3:
        return float("nan")
    return float((ranked[-1] - ranked[-2]) / (ranked[-1] - ranked[0]))


def distinct(values: FloatArray) -> FloatArray:
    """Return the different values in ascending order, each as the largest of those that are the same."""
    ranked = np.sort(values)
    return ranked[np.append(np.diff(ranked) > SAME, True)] if len(ranked) else ranked


def _divergences(table: LongArray, p: FloatArray) -> FloatArray:
    totals = table.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = table / totals
        terms = np.where(table > 0, shares * np.log2(shares / p[:, None]), 0.0)
    return np.where(totals > 0, terms.sum(axis=0), np.nan)
