"""How near an attacker comes to a number behind noise who knows the population and how the noise is drawn."""

from __future__ import annotations

import numpy as np

from seriatim.kernels.equivocation import window_hit_chances
from seriatim.model import CodedColumn
from seriatim.model.chance import open_chance
from seriatim.model.nearness import Nearness, window_reach
from seriatim.model.noise_bell import (
    amounts_of,
    chances_of_cells,
    decimal_step,
    quantiles_at,
    rounded_to_step,
)
from seriatim.model.scale import FloatArray

SEED = 20_267
TRIED = 400
"""Records whose noise is drawn at most."""
MOST_CELLS = 4_000_000
_TOGETHER = 50


def noise_hits(column: CodedColumn, amount: str, near: Nearness) -> tuple[float, float]:
    """Return how often the best guess at a value behind noise comes near, and how often it does without any release.

    Codes of missing values are left out. The attacker knows the margin; noise of some records is drawn with a seed.
    """
    known = len(column.scale) - int(column.scale.texts.null_count)
    codes = column.codes[(column.codes >= 0) & (column.codes < known)]
    held, counts = np.unique(codes, return_counts=True)
    reach = np.searchsorted(held, window_reach(column.scale, near)[held], side="right") - 1
    prior = np.ascontiguousarray(counts / counts.sum())
    values, step = column.scale.positions[held], decimal_step(column.scale)
    chance = open_chance(SEED, "noise hits")
    tried = min(TRIED, max(MOST_CELLS // len(held), 10))
    true = values[np.searchsorted(held, chance.permutation(codes)[:tried])]
    moved = true + amounts_of(true, amount) * quantiles_at(chance.random(len(true)))
    shown = rounded_to_step(moved, column.scale, amount)
    chances = [
        window_hit_chances(beliefs_after_seeing(shown[at : at + _TOGETHER], values, prior, amount, step), reach)
        for at in range(0, len(shown), _TOGETHER)
    ]
    return float(np.concatenate(chances).mean()), float(window_hit_chances(prior[None, :], reach)[0])


def beliefs_after_seeing(
    shown: FloatArray, values: FloatArray, prior: FloatArray, amount: str, step: float
) -> FloatArray:
    """Return what is believed after each noisy number; the prior where none of the values can have become it."""
    weighed = chances_of_cells(shown, values, amount, step) * prior
    total = weighed.sum(axis=1, keepdims=True)
    return np.ascontiguousarray(np.where(total > 0, weighed / np.where(total > 0, total, 1.0), prior))
