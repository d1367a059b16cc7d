"""Distance linkage: how often the nearest original record is the one a perturbed record was made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.errors import Fault, InputError
from seriatim.model.scale import FloatArray


@dataclass(frozen=True, slots=True)
class Linkage:
    """Shares of records; ties are shared out, so guessing gives 1 / n."""

    linked: float
    """Expected share that the nearest original record is the right one."""
    second: float
    """Share whose right record is nearest or second nearest."""
    by_luck: float


def distance_linkage(original: FloatArray, perturbed: FloatArray) -> Linkage:
    """Link each perturbed record to its nearest original; rows correspond, columns are numbers or 0/1 flags.

    Columns are put on the original's standard deviation, so that no unit outweighs another.
    """
    if original.shape != perturbed.shape or original.ndim != 2 or not len(original):
        raise InputError(
            Fault("perturbed", f"shape {perturbed.shape} beside {original.shape}", "the same records and columns")
        )
    from scipy.spatial import cKDTree

    spread = original.std(axis=0)
    spread[spread == 0] = 1.0
    before, after = original / spread, perturbed / spread
    n = len(before)
    tree = cKDTree(before)
    own = np.linalg.norm(before - after, axis=1)
    slack = 1e-9 * (1.0 + own)
    nearest, _ = tree.query(after, k=min(2, n))
    nearest = nearest.reshape(n, -1)
    first = own <= nearest[:, 0] + slack
    ties = np.ones(n)
    if first.any():
        ties[first] = tree.query_ball_point(after[first], own[first] + slack[first], return_length=True)
    second = own <= nearest[:, -1] + slack
    return Linkage(float((first / ties).mean()), float(second.mean()), 1.0 / n)
