"""The bell of a number's noise, from -1 to 1: a binomial of 64 trials, even within each of its 65 steps.

Steps alone would reveal the noise. Incomes are mostly round and 65 steps are not, so the last digits of a noisy
number named the step, and with it the income. Within a step every number is as likely as another.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from seriatim.model.nearness import value_grid
from seriatim.model.scale import FloatArray, Scale

TRIALS = 64
SPREAD = 2 / (TRIALS + 1) * math.sqrt(TRIALS / 4 + 1 / 12)
"""The standard deviation: about an eighth."""
_FINE = 1e-6
_EDGES: FloatArray = np.linspace(-1.0, 1.0, TRIALS + 2)
_REACHED: FloatArray = np.array(
    [sum(math.comb(TRIALS, n) for n in range(step)) / 2**TRIALS for step in range(TRIALS + 2)]
)


def quantiles_at(chance: FloatArray) -> FloatArray:
    """Return the quantiles of the bell at numbers from 0 to 1."""
    return np.asarray(np.interp(chance, _REACHED, _EDGES))


def chance_below(numbers: npt.NDArray[np.float64]) -> FloatArray:
    """Return the chance that the bell lies below each number."""
    return np.asarray(np.interp(numbers, _EDGES, _REACHED))


def amounts_of(values: FloatArray, amount: str) -> FloatArray:
    """Return how far the noise may move each number: an amount in units, or in per cent of the number."""
    share = float(amount.rstrip("%"))
    return share / 100.0 * np.abs(values) if amount.endswith("%") else np.full(len(values), share)


def decimal_step(scale: Scale) -> float:
    """Return the step to which noisy numbers are rounded: that of the column's numbers, a day for dates."""
    grid = value_grid(scale.positions)
    return 1.0 if scale.dated else grid.step * max(grid.slack, 1)


def rounded_to_step(moved: FloatArray, scale: Scale, amount: str) -> FloatArray:
    """Return noisy numbers rounded to the column's step.

    Floats are rounded to a hundredth of the noise's standard deviation. Further digits mean nothing, and where they
    end depends on nothing but the noisy number.
    """
    step = decimal_step(scale)
    if scale.dated or not value_grid(scale.positions).slack:
        return np.asarray(np.rint(moved / step) * step)
    spread = np.maximum(SPREAD * amounts_of(moved, amount) / 100, step)
    steps = 10.0 ** np.floor(np.log10(spread))
    return np.asarray(np.rint(moved / steps) * steps)


def chances_of_cells(shown: FloatArray, values: FloatArray, amount: str, step: float) -> FloatArray:
    """Return the chance of each noisy number, rounded to the step, given each value: a row per noisy number."""
    sizes = amounts_of(values, amount)
    room = np.where(sizes > 0, sizes, 1.0)
    half = np.maximum(step / 2, _FINE * sizes)  # of huge numbers half a step is lost in their rounding
    away = shown[:, None] - values
    chances = chance_below((away + half) / room) - chance_below((away - half) / room)
    return np.where(sizes > 0, chances * (step / 2 / half), np.abs(away) <= step / 2)
