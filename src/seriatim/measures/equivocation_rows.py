"""H(eps) of many distributions over one domain at once: a row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.engines.threads import ALL_CORES
from seriatim.errors import Fault, InputError
from seriatim.kernels.check.sweep import entropy_areas
from seriatim.kernels.equivocation import areas_by_lanes, window_entropies, window_hit_chances
from seriatim.measures import _equivocation
from seriatim.measures._equivocation import Equivocation, checked_width, equivocation, pairs_by_difference
from seriatim.measures.probable_values import ProbableValues, numbers_with_unit, shares_that_add_up
from seriatim.model.class_counts import ValueCounts
from seriatim.model.nearness import LongArray, ValueGrid, value_grid
from seriatim.model.scale import FloatArray
from seriatim.ports import Workers

LOOKED_THROUGH = 300
"""Values of a class up to which looking for the next span is faster than sorting all pairs."""
SHARED_PAIRS = 64
"""Values of a domain up to which all rows share one order of its pairs."""
_TOGETHER = 2_000


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Equivocations:
    """H(eps) of each row; figures are arrays, a number per row."""

    grid: ValueGrid
    steps: LongArray
    """The domain, rising, each value once."""
    matrix: FloatArray
    area: FloatArray
    """In units x bits; of more than 2,500 values a lower bound."""
    unit: str
    workers: Workers = ALL_CORES

    def __len__(self) -> int:
        return len(self.matrix)

    def __repr__(self) -> str:
        return f"Equivocations({len(self):,} distributions over {len(self.steps):,} values)"

    def __getitem__(self, row: int) -> Equivocation:
        held = self.matrix[row] > 0.0
        return _equivocation.of_candidates(
            ProbableValues(self.grid, self.steps[held], self.matrix[row][held], self.unit)
        )

    @property
    def initial(self) -> FloatArray:
        """Return H(0) of each row."""
        return self.at(0.0)

    @property
    def reciprocal(self) -> FloatArray:
        """Return 1 / H(0) of each row; infinite at 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.initial)

    @property
    def range(self) -> FloatArray:
        """Return the distance of the outermost values with positive probability."""
        held = self.matrix > 0.0
        last = self.matrix.shape[1] - 1 - held[:, ::-1].argmax(axis=1)
        return np.asarray((self.steps[last] - self.steps[held.argmax(axis=1)]) * self.grid.step)

    def at(self, eps: float) -> FloatArray:
        """Return H(eps) of each row; exact."""
        return _by_rows(lambda rows: window_entropies(rows, self._reach(eps)), self.matrix, self.workers)

    def hit_chance(self, eps: float) -> FloatArray:
        """Return the largest mass in one window of width eps, of each row."""
        return _by_rows(lambda rows: window_hit_chances(rows, self._reach(eps)), self.matrix, self.workers)

    def _reach(self, eps: float) -> LongArray:
        return np.searchsorted(self.steps, self.steps + self.grid.within(checked_width(eps)), side="right") - 1


def equivocations(domain: Any, matrix: Any, *, ordered: bool = False, workers: Workers = ALL_CORES) -> Equivocations:
    """Return H(eps) of every row of a matrix of probabilities over one domain, computed on all cores."""
    numbers, unit = numbers_with_unit(domain, ordered=ordered)
    shares = shares_that_add_up(matrix)
    if shares.ndim != 2 or shares.shape[1] != len(numbers):
        found = f"an array of shape {shares.shape} over {len(numbers)} values"
        raise InputError(Fault("matrix", found, "a row per distribution, a column per value"))
    grid = value_grid(numbers)
    steps, which = np.unique(grid.steps, return_inverse=True)
    if len(steps) < len(numbers) or (which.reshape(-1) != np.arange(len(steps))).any():
        order = np.argsort(which.reshape(-1), kind="stable")
        firsts = np.searchsorted(which.reshape(-1)[order], np.arange(len(steps)))
        shares = np.ascontiguousarray(np.add.reduceat(shares[:, order], firsts, axis=1))
    area = _areas(grid, steps, shares, workers)
    return Equivocations(grid=grid, steps=steps, matrix=shares, area=area, unit=unit, workers=workers)


def _areas(grid: ValueGrid, steps: LongArray, matrix: FloatArray, workers: Workers) -> FloatArray:
    if len(steps) > SHARED_PAIRS:  # rows have few of so many values
        row, value = np.nonzero(matrix)
        starts = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(matrix)))))
        return _areas_of_runs(_Runs(starts, value, matrix[row, value]), steps, grid.step, workers)
    pairs = pairs_by_difference(steps, grid.slack)

    def work(rows: FloatArray) -> FloatArray:
        areas = np.empty(len(rows))
        areas_by_lanes(pairs, rows, areas)
        return areas

    return _by_rows(work, matrix, workers) * grid.step


def class_areas(counts: ValueCounts, positions: FloatArray, workers: Workers = ALL_CORES) -> FloatArray:
    """Return the area of every class, in units of the positions x bits; a value without a position is left out."""
    placed = np.isfinite(positions)
    grid = value_grid(positions[placed])
    steps = np.full(len(positions), -1, dtype=np.int64)
    steps[placed] = grid.steps - grid.steps.min(initial=0)
    return _areas_of_runs(_Runs(counts.starts, counts.value, counts.count), steps, grid.step, workers)


class _Runs(NamedTuple):
    """Runs of values with their weights: one for each class or distribution."""

    starts: LongArray
    value: npt.NDArray[Any]
    weight: npt.NDArray[Any]


def _areas_of_runs(runs: _Runs, steps: LongArray, step: float, workers: Workers) -> FloatArray:
    """Return the area of each run; one with many values is swept on its own."""
    starts, lengths = runs.starts, np.diff(runs.starts)
    areas = np.full(len(lengths), np.nan)
    value, weight = runs.value.astype(np.int32), runs.weight.astype(np.float64)

    def fill(bounds: tuple[int, int]) -> None:
        first, last = bounds
        few = lengths[first:last] <= LOOKED_THROUGH
        inside = slice(starts[first], starts[last])
        held = np.repeat(few, lengths[first:last])
        ends = np.concatenate(([0], np.cumsum(lengths[first:last][few])))
        found = np.empty(int(few.sum()))
        entropy_areas(ends, value[inside][held], weight[inside][held], steps, found)
        areas[first:last][few] = found * step

    workers.map(fill, [(at, min(at + _TOGETHER, len(lengths))) for at in range(0, len(lengths), _TOGETHER)])
    for c in np.flatnonzero(lengths > LOOKED_THROUGH):
        run = slice(starts[c], starts[c + 1])
        here = steps[value[run]] >= 0
        shares = weight[run][here] / weight[run][here].sum()
        areas[c] = equivocation(steps[value[run][here]] * step, shares).area
    return areas


def _by_rows(work: Callable[[FloatArray], FloatArray], matrix: FloatArray, workers: Workers) -> FloatArray:
    """Return a figure of each row, computed in pieces: kernels release the interpreter's lock."""
    found = np.empty(len(matrix))

    def fill(at: int) -> None:
        found[at : at + _TOGETHER] = work(matrix[at : at + _TOGETHER])

    workers.map(fill, range(0, len(matrix), _TOGETHER))
    return found
