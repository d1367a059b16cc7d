"""The rule of answering services before groups, kept so that the attacks show what it gave away.

Refused was what left a record less than ``spread`` of a Gaussian prior's standard deviation. ``units`` refuses other
weights than 1 and -1 as well, which does not mend it.
"""

from __future__ import annotations

import numpy as np

from seriatim.queries import Answer, Query


class OldAnswers:
    def __init__(self, values: np.ndarray, spread: float, units: bool = False) -> None:
        self._values, self._spread, self._units = values, spread, units
        self._basis, self._known = np.zeros((0, len(values))), np.zeros(len(values))

    def ask(self, query: Query) -> Answer:
        if len(query.records) < 2 or (self._units and not np.isin(query.counted, (1.0, -1.0)).all()):
            return Answer(None, "refused")
        row = rest = query.row(len(self._values))
        for _ in range(2):
            rest = rest - (self._basis @ rest) @ self._basis
        length = float(np.linalg.norm(rest))
        if length > 1e-9 * float(np.linalg.norm(row)):
            new = rest / length
            if (1.0 - self._known - new**2 < self._spread**2 - 1e-9).any():
                return Answer(None, "refused")
            self._basis, self._known = np.vstack((self._basis, new)), self._known + new**2
        return Answer(query.answer(self._values))
