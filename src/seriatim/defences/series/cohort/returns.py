"""People who return after their slot was given up: whether a new cohort may take them in.

Such a person is in two cells, and anyone who knows it multiplies what both say. If values were drawn independently
with the shares p, and the counts of a person's cells are n_1 .. n_k, the belief in value v is in proportion to
p_v^(1 - k) times the product of n_i(v), leaving out the others who returned. A person is let in only where no value's
belief exceeds its cap. This is measured, not proved: the counts still include the others who returned, and cells change
after somebody has entered.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seriatim.defences.series.caps import Caps
from seriatim.defences.series.cohort.memory import CohortMemory
from seriatim.defences.series.contract import BoolArray, LongArray

FloatArray = npt.NDArray[np.float64]

SURE = 1e-9


class Returns:
    """What the cells that each of these people left say about their values, as logarithms against the shares of all."""

    def __init__(self, memory: CohortMemory, person: LongArray, n_values: int) -> None:
        self._at = np.full(int(person.max(initial=-1)) + 2, -1, dtype=np.int64)
        self._at[person] = np.arange(len(person))
        everyone = np.bincount(memory.value, minlength=n_values) + SURE
        self._prior = np.log(everyone / everyone.sum())
        self._said = np.zeros((len(person), n_values))
        own = np.flatnonzero(np.isin(memory.holder, person))
        cells, cell_of = np.unique(memory.cohort * (memory.n_releases + 1) + memory.last, return_inverse=True)
        wanted = np.unique(cell_of[own])
        number = np.full(len(cells), -1, dtype=np.int64)
        number[wanted] = np.arange(len(wanted))
        inside = np.flatnonzero(number[cell_of] >= 0)
        keys = number[cell_of[inside]] * n_values + memory.value[inside]
        counts = np.bincount(keys, minlength=len(wanted) * n_values).reshape(len(wanted), n_values).astype(float)
        with np.errstate(divide="ignore"):
            said = np.log(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)) - self._prior
        np.add.at(self._said, self._at[memory.holder[own]], said[number[cell_of[own]]])

    def admitted(self, person: LongArray, counts: LongArray, caps: Caps, slack: float) -> BoolArray:
        """Return who may enter a cohort with these counts: no value's belief exceeds its cap by more than ``slack``."""
        belief = self.beliefs(person, counts)
        return np.asarray((belief <= (1.0 + slack) * (caps.num / caps.den) + SURE).all(axis=1))

    def beliefs(self, person: LongArray, counts: LongArray) -> FloatArray:
        """Return the belief in each value about each of these people, beside a cohort with these counts."""
        with np.errstate(divide="ignore"):
            log = self._said[self._at[person]] + np.log(counts / max(int(counts.sum()), 1))
        log -= log.max(axis=1, keepdims=True, initial=-np.inf, where=np.isfinite(log))
        weight = np.exp(log)
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))
