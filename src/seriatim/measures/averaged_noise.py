"""What averaging over fresh noise would give: why the same person has the same noise in every release of a series."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from seriatim.model import Coded, Measure, Policy
from seriatim.model.chance import open_chance
from seriatim.model.nearness import Nearness, nearness_of, usual_nearness
from seriatim.model.scale import FloatArray

SEED = 20_263
TRIALS = 64
RELEASES = 8
"""So many releases are averaged in the figure of a verdict."""


def averaged_noise_measures(columns: Iterable[Coded], policy: Policy) -> tuple[Measure, ...]:
    """Return how many values one noisy release comes near to, and the mean of eight with fresh noise; worst column.

    Empty unless the method is ``noise`` and a column of numbers has some.
    """
    defence = policy.defence
    if defence is None or defence.method != "noise" or not defence.options.noise:
        return ()
    found: list[tuple[float, float, str, str]] = []
    for column in columns:
        amount = defence.options.noise.get(column.name)
        if amount is not None and column.scale.form == "interval":
            known = len(column.scale) - int(column.scale.texts.null_count)
            values = column.scale.positions[column.codes[(column.codes >= 0) & (column.codes < known)]]
            if len(values):
                near = usual_nearness(column.scale)
                once, often = (
                    averaged_noise_hits(values, amount, releases, nearness_of(near)) for releases in (1, RELEASES)
                )
                found.append((often, once, column.name, near))
    if not found:
        return ()
    often, once, name, near = max(found)
    about = {"column": name, "near": near}
    return (
        Measure("noise_near", once, "share", about),
        Measure("fresh_noise_near", often, "share", {**about, "releases": RELEASES}),
    )


def averaged_noise_hits(values: FloatArray, amount: str, releases: int, near: Nearness, seed: int = SEED) -> float:
    """Return the share of values that the mean of so many noisy ones comes near to, if each release had fresh noise."""
    chance = open_chance(seed, "averaged noise")
    share = float(amount.rstrip("%"))
    size = share / 100.0 * np.abs(values) if amount.endswith("%") else np.full(len(values), share)
    bell = chance.binomial(TRIALS, 0.5, (releases, len(values))) / (TRIALS / 2) - 1.0
    mean = values + size * bell.mean(axis=0)
    allowed = np.maximum(near.width / 2.0, near.ratio * np.abs(values))
    return float((np.abs(mean - values) <= allowed + 1e-9).mean())
