"""What noise leaves to find out, and what averaging over fresh noise would give.

An attacker who knows the population and how noise is drawn makes their best guess. Averaging is why the same person
has the same noise in every release of a series.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from seriatim.kernels.equivocation import window_hit_chances
from seriatim.model import CodedColumn, Measure, Policy
from seriatim.model.chance import open_chance
from seriatim.model.nearness import Nearness, usual_window, window_of, window_reach
from seriatim.model.noise_bell import (
    SPREAD,
    amounts_of,
    chances_of_cells,
    decimal_step,
    quantiles_at,
    rounded_to_step,
)
from seriatim.model.scale import FloatArray

SEED = 20_263
RELEASES = 8
"""Releases that are averaged in the figure of a verdict."""


def nearness_of_columns(columns: Iterable[CodedColumn], policy: Policy) -> tuple[Measure, ...]:
    """Return for each noisy sensitive column of numbers how near noise lets anyone come to its values.

    If there is none, for each noisy quasi-identifier. Empty if the method adds none.
    """
    defence = policy.defence
    if defence is None or not defence.noise:
        return ()
    amounts = defence.noise
    numeric = [one for one in columns if one.name in amounts and one.scale.form == "interval" and len(_values(one))]
    sensitive = {rule.name for rule in policy.sensitive}
    chosen = [one for one in numeric if one.name in sensitive] or numeric
    return tuple(measure for one in chosen for measure in _measures(one, amounts[one.name], policy))


def _values(column: CodedColumn) -> FloatArray:
    """Return the number of every record that has one."""
    known = len(column.scale) - int(column.scale.texts.null_count)
    return column.scale.positions[column.codes[(column.codes >= 0) & (column.codes < known)]]


def _measures(column: CodedColumn, amount: str, policy: Policy) -> tuple[Measure, ...]:
    """Return the spread of the noise, how near it leaves values, what an attacker makes of it, and of fresh noise."""
    about = {"column": column.name, "near": usual_window(column.scale)}
    near, values = window_of(about["near"]), _values(column)
    hit, alone = noise_hits(column, amount, near)
    unit = policy.columns[column.name].unit or ("days" if column.scale.dated else "units")
    in_per_cent = amount.endswith("%")
    spread = SPREAD * float(amount.rstrip("%")) / (100.0 if in_per_cent else 1.0)
    return (
        Measure("noise_spread", spread, "share" if in_per_cent else unit, {"column": column.name, "at_most": amount}),
        Measure("noise_near", share_of_hits(values, amount, 1, near), "share", about),
        Measure("noise_hit_chance", hit, "share", {**about, "without_release": alone}),
        Measure(
            "fresh_noise_near",
            share_of_hits(values, amount, RELEASES, near),
            "share",
            {**about, "releases": RELEASES},
        ),
    )


def share_of_hits(values: FloatArray, amount: str, releases: int, near: Nearness, seed: int = SEED) -> float:
    """Return the share of values that the mean of several noisy ones comes near to, if each release had fresh noise."""
    chance = open_chance(seed, "averaged noise")
    bell = np.mean([quantiles_at(chance.random(len(values))) for _ in range(releases)], axis=0)
    mean = values + amounts_of(values, amount) * bell
    allowed = np.maximum(near.width / 2.0, near.ratio * np.abs(values))
    return float((np.abs(mean - values) <= allowed + 1e-9).mean())


_SEED_OF_HITS = 20_267
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
    chance = open_chance(_SEED_OF_HITS, "noise hits")
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
