"""What noise leaves to find out, and what averaging over fresh noise would give.

The second is why the same person has the same noise in every release of a series.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from seriatim.measures.noise_hits import noise_hits
from seriatim.model import CodedColumn, Measure, Policy
from seriatim.model.chance import open_chance
from seriatim.model.nearness import Nearness, usual_window, window_of
from seriatim.model.noise_bell import SPREAD, amounts_of, quantiles_at
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
