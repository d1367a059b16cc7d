"""How likely a record is to be found again: the chances of three adversaries, and what samples add.

A prosecutor knows that the target is in the table, a journalist only that the target is in the population, and a
marketer wants as many right matches as possible (Elliot; El Emam). Unique records of a sample need not be unique in the
population: Skinner and Elliot's estimate says how often a unique match is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim.model.classes import LongArray
from seriatim.model.scale import FloatArray


@dataclass(frozen=True, slots=True)
class MatchChances:
    """Chances that a match is right."""

    highest: float
    """The chance for the record most at risk."""
    mean: float
    """The mean over all records, which is also the share that a marketer matches rightly."""
    share_at_risk: float
    """Share of records whose chance is above the threshold."""
    threshold: float


def prosecutor_chances(sizes: LongArray, threshold: float = 0.2) -> MatchChances:
    """Return the exposure of a target known to be in the table: one in the size of the class."""
    return _exposure(sizes, sizes, threshold)


def journalist_chances(sizes: LongArray, population: LongArray, threshold: float = 0.2) -> MatchChances:
    """Return the exposure of a target in the population: one in the population's size of the class."""
    short = int((population < sizes).sum())
    if len(population) != len(sizes) or short:
        raise InputError(
            Fault(
                "population",
                f"{len(population)} class sizes for {len(sizes)} classes, {short} of them smaller than in the table",
                "one size per class, at least as large as in the table",
                "count the population by the same quasi-identifiers as published",
            )
        )
    return _exposure(sizes, population, threshold)


def marketer_share(sizes: LongArray, population: LongArray | None = None) -> float:
    """Return the share of records matched rightly when all are matched."""
    return _exposure(sizes, sizes if population is None else population, 1.0).mean


def _exposure(sizes: LongArray, among: LongArray, threshold: float) -> MatchChances:
    held = sizes > 0
    if not held.any():
        return MatchChances(0.0, 0.0, 0.0, threshold)
    sizes, chance = sizes[held], 1.0 / among[held]
    total = sizes.sum()
    at_risk = sizes[chance > threshold].sum() / total
    return MatchChances(float(chance.max()), float((sizes * chance).sum() / total), float(at_risk), threshold)


def count_uniques(sizes: LongArray) -> int:
    return int((sizes == 1).sum())


def chance_given_unique(sizes: LongArray, sampled: float) -> float:
    """Return Pr(a unique match is right) for a sample of share ``sampled``; nan without unique records or pairs."""
    if not 0.0 < sampled <= 1.0:
        raise InputError(Fault("sampled", f"a share of {sampled:g}", "above 0 and up to 1"))
    ones, pairs = count_uniques(sizes), int((sizes == 2).sum())
    weight = sampled * ones + 2.0 * (1.0 - sampled) * pairs
    return sampled * ones / weight if weight else float("nan")


def error_given_unique(sizes: LongArray, sampled: float) -> float:
    """Return the standard error of ``chance_given_unique``, by classes of one to three records; nan without uniques.

    The estimate puts n1 + 2 (1 - f) / f n2 for the people who share a class with a unique record. The error of that has
    mean 0 in every class, and this sum estimates the mean of its square without bias.
    """
    chance = chance_given_unique(sizes, sampled)
    ones, pairs, threes = (int((sizes == n).sum()) for n in (1, 2, 3))
    square = 2 * (1 - sampled) * ((2 - sampled) * pairs + 3 * (1 - sampled) * threes) / sampled**2
    return chance**2 / ones * square**0.5 if ones else float("nan")


def reveals_nothing(tv: FloatArray) -> bool:
    """Return whether every class equals the prior: the table reveals nothing about this column (Definition 5)."""
    return bool((np.nan_to_num(tv) < 1e-12).all())


def exposed_domain_size(codes: npt.NDArray[Any], n_values: int, star: int = -1) -> int:
    """Count the values of a column in use; ``star`` is the code of '*', which is not a value."""
    used = np.bincount(codes[codes >= 0], minlength=n_values) > 0
    return int(used.sum()) - int(0 <= star < n_values and bool(used[star]))
