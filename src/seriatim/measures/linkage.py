"""Distance linkage: how often the nearest original record is the one a perturbed record was made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim.model.chance import open_chance
from seriatim.model.scale import FloatArray


@dataclass(frozen=True, slots=True)
class Linkage:
    """Shares of records; ties are divided, so guessing gives 1 / n."""

    linked: float
    """Expected share of records whose nearest original record is the right one."""
    second: float
    """Share of records whose right record is nearest or second nearest."""
    by_luck: float
    tried: int
    """Records that were linked: all of them, or a sample drawn with a fixed seed."""


SEED = 20_262
MOST = 5_000
FEW_DIMENSIONS = 12
"""A tree finds neighbours fast up to this many dimensions; beyond, every point is compared."""
MOST_STEPS = 4_000_000_000


def distance_linkage(original: FloatArray, perturbed: FloatArray) -> Linkage:
    """Link each perturbed record to its nearest original; rows correspond, columns are numbers or 0/1 flags.

    Columns are divided by the original's standard deviation, so that no unit outweighs another.
    """
    if original.shape != perturbed.shape or original.ndim != 2 or not len(original):
        raise InputError(
            Fault("perturbed", f"shapes {perturbed.shape} and {original.shape}", "the same records and columns")
        )
    spread = original.std(axis=0)
    spread[spread == 0] = 1.0
    return linkage_of_points(original / spread, perturbed / spread)


def linkage_of_points(before: FloatArray, after: FloatArray) -> Linkage:
    """Link points that are on comparable scales; of very many records, link a sample."""
    from scipy.spatial import cKDTree

    n = len(before)
    chosen = _sample(n, before.shape[1])
    tree, mine = cKDTree(before), after[chosen]
    own = np.linalg.norm(before[chosen] - mine, axis=1)
    slack = 1e-9 * (1.0 + own)
    nearest, _ = tree.query(mine, k=min(2, n))
    nearest = nearest.reshape(len(chosen), -1)
    first = own <= nearest[:, 0] + slack
    ties = np.ones(len(chosen))
    if first.any():
        ties[first] = tree.query_ball_point(mine[first], own[first] + slack[first], return_length=True)
    second = own <= nearest[:, -1] + slack
    return Linkage(float((first / ties).mean()), float(second.mean()), 1.0 / n, len(chosen))


def _sample(n: int, dimensions: int) -> npt.NDArray[np.int64]:
    most = MOST if dimensions <= FEW_DIMENSIONS else min(MOST, max(200, MOST_STEPS // (n * dimensions)))
    if n <= most:
        return np.arange(n)
    return np.sort(open_chance(SEED, "linkage").choice(n, most, replace=False))
