"""A list of requests as columns: who is X, who is Y, and the baseline they are judged against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault, InputError
from seriatim.gate.attribute import Attribute, attribute_bands, attribute_numbers, attribute_values
from seriatim.gate.baseline import Baseline, baseline_from
from seriatim.gate.rules import Asked, rules_asked

LongArray = npt.NDArray[np.int64]
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """How a gate is to judge: any set of tests, all at one level."""

    tests: tuple[str, ...] = ("kld",)
    alpha: float = 0.2
    merge: str = "smallest"
    few: str = "simulated"


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """Requests in the order of the table, as places of X and Y; -1 where a value is not in the baseline."""

    xs: LongArray
    ys: LongArray
    baseline: Baseline

    def __len__(self) -> int:
        return len(self.xs)

    def asked(self, question: Question) -> Asked:
        """Return the gate's rules; P(Y) is the baseline's."""
        return rules_asked(
            self.baseline, None, question.tests, question.alpha, question.merge, question.few, None, None
        )

    def known(self) -> Requests:
        """Return the requests that a gate can answer."""
        used = (self.xs >= 0) & (self.ys >= 0)
        used[used] = self.baseline.probabilities[self.xs[used]] > 0
        return Requests(self.xs[used], self.ys[used], self.baseline)


def requests_of(
    columns: Columns, x: Sequence[str], y: str, bands: int = 10, baseline: Baseline | None = None, others: str = ""
) -> Requests:
    """Read requests from a table's columns; without a baseline the table is its own.

    ``others`` names the target that targets unknown to the table's own baseline will count as.
    """
    missing = [name for name in (*x, y) if name not in columns]
    if missing or not x or y in x or len(set(x)) != len(x):
        found = f"no column {missing[0]!r}" if missing else "X and Y are not different columns"
        raise InputError(Fault("--x, --y", found, "columns of the table: one or more for X, another one for Y"))
    if baseline is None:
        attributes = [requested_attribute(name, columns[name], bands) for name in x]
        baseline = baseline_from(columns, attributes, y, columns[y], others=others)
    elif others and others != baseline.others:
        raise InputError(Fault("--others", "the baseline says otherwise", "as in the baseline", "leave it out"))
    baseline.must_serve()
    return Requests(baseline.codes(columns), baseline.target_codes(columns[y]), baseline)


def requested_attribute(name: str, column: Sequence[Any], bands: int) -> Attribute:
    """Cut numbers with more values than bands into bands of equal shares; list the values of anything else."""
    values = {entry for entry in column if entry is not None}
    if len(values) <= bands or not _numeric(name, column):
        return attribute_values(name, column)
    return attribute_bands(name, column, bands)


def _numeric(name: str, column: Sequence[Any]) -> bool:
    try:
        return bool(np.isfinite(attribute_numbers(name, column)).any())
    except InputError:
        return False
