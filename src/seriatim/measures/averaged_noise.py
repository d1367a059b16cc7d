"""What averaging over fresh noise would give: why the same person has the same noise in every release of a series."""

from __future__ import annotations

import numpy as np

from seriatim.model.chance import open_chance
from seriatim.model.nearness import Nearness
from seriatim.model.scale import FloatArray

SEED = 20_263
TRIALS = 64


def averaged_noise_hits(values: FloatArray, amount: str, releases: int, near: Nearness, seed: int = SEED) -> float:
    """Return the share of values that the mean of so many noisy ones comes near to, if each release had fresh noise."""
    chance = open_chance(seed, "averaged noise")
    share = float(amount.rstrip("%"))
    size = share / 100.0 * np.abs(values) if amount.endswith("%") else np.full(len(values), share)
    bell = chance.binomial(TRIALS, 0.5, (releases, len(values))) / (TRIALS / 2) - 1.0
    mean = values + size * bell.mean(axis=0)
    allowed = np.maximum(near.width / 2.0, near.ratio * np.abs(values))
    return float((np.abs(mean - values) <= allowed + 1e-9).mean())
