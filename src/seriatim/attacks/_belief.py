"""Belief: how sure an attacker is of anyone's value who holds people for exchangeable.

Where a person's value never changes, the releases tell how often values occur in groups. People who were in the same
groups form a cell. If the published counts fix how often each value occurs in a cell, whoever has no reason to prefer
one of its people believes in v about each of them as much as its share there: that is exact
(``docs/guarantees/cohort.md``). Elsewhere, as in lineages whose slots are passed on, many tables of counts fit. They
are sampled by a Markov chain: two values change places along a combination of cells that no group notices. Its weights
are exact; that its moves reach every table is not proved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seriatim.attacks._twins import twins_nullspace_marks
from seriatim.attacks.trace import Traces, trace
from seriatim.errors import Fault, TableError
from seriatim.kernels.arrays import Flags, Floats, Ints, Longs
from seriatim.model.chance import open_chance
from seriatim.model.history import History

STEPS = 60
"""Steps of a chain, for each cell and value of its part."""
MOST = 3_000
"""Cells times values that are sampled, over all parts; nobody in the parts beyond is judged: it would take too long."""


@dataclass(frozen=True, repr=False, eq=False)
class Beliefs:
    """What is believed about everyone whose value is not known beforehand."""

    traces: Traces
    people: Ints
    """Positions in ``traces.respondent`` of the people judged."""
    cell: Ints
    """The cell of each."""
    by_cell: Floats
    """Cell by value."""
    exact: Flags
    """For each cell, whether its belief is exact; the others are sampled."""
    n_unjudged: int
    """People in parts that are too large to sample."""

    @cached_property
    def largest(self) -> Floats:
        """Return the largest belief about each person."""
        return np.asarray(self.by_cell.max(axis=1, initial=0.0)[self.cell])

    @cached_property
    def in_truth(self) -> Floats:
        """Return the belief in each person's true value."""
        return np.asarray(self.by_cell[self.cell, self.traces.value[self.people]])

    @property
    def expected(self) -> float:
        """Return the mean of sum p^2: equal to the mean belief in the truth if beliefs are calibrated."""
        return float((self.by_cell**2).sum(axis=1)[self.cell].mean()) if len(self.cell) else 0.0

    def sure(self, above: float = 0.9) -> int:
        """Count the people about whom a belief above this is right."""
        return int((self.in_truth > above).sum())

    def of(self, respondent: Any) -> dict[Any, float]:
        """Return what is believed about one person, by value."""
        at = np.flatnonzero(np.isin(self.people, self.traces.episodes_of([respondent])))
        values = self.traces.history.values.to_pylist()
        if not len(at):
            return {}
        return {value: float(p) for value, p in zip(values, self.by_cell[self.cell[at[0]]], strict=True) if p > 0}


def belief(history: History, compromised: Iterable[Any] = (), seed: int = 1) -> Beliefs:
    """Return the posterior of everyone in a series whose values do not change, for an exchangeable attacker.

    ``compromised`` are people whose value is known. A counterfeit that stands for a leaver should be told first
    (:func:`seriatim.attacks.reveal_leavers`): groups with other counterfeits say nothing here.
    """
    traces = trace(history)
    if len(np.unique(traces.respondent)) < len(traces.respondent):
        found = "values that change"
        raise TableError(Fault("history", found, "one value per person", "use attacks.sequence for values that change"))
    known = np.zeros(len(traces.respondent), dtype=np.bool_)
    known[traces.episodes_of(list(compromised))] = True
    column, zero = twins_nullspace_marks(traces)
    people = np.flatnonzero(~known)
    _, cell = np.unique(column[people], return_inverse=True)
    n = int(cell.max()) + 1 if len(cell) else 0
    counts = np.zeros((n, max(traces.n_values, 1)), dtype=np.int64)
    np.add.at(counts, (cell, traces.value[people]), 1)
    exact = np.zeros(n, dtype=np.bool_)
    exact[cell] = zero[people]
    beliefs = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
    skipped = _sampled(traces, people, cell, counts, exact, beliefs, seed)
    judged = ~skipped[cell]
    return Beliefs(
        traces, people[judged].astype(np.int32), cell[judged].astype(np.int32), beliefs, exact, int((~judged).sum())
    )


def _sampled(
    traces: Traces, people: Longs, cell: Longs, counts: Longs, exact: Flags, beliefs: Floats, seed: int
) -> Flags:
    """Overwrite the beliefs of cells that are not exact, and return the cells that were not judged."""
    skipped = np.zeros(len(counts), dtype=np.bool_)
    margin = counts.sum(axis=0) / max(counts.sum(), 1)
    rows, cols = _incidence(traces, people, cell)
    spent = 0
    for part in _parts(rows, cols, exact):
        spent += len(part) * int((counts[part].sum(axis=0) > 0).sum())
        if spent > MOST:
            skipped[part] = True
            continue
        moves = _moves(rows, cols, part)
        beliefs[part] = _chain(counts[part], moves, margin, open_chance(seed, "belief"))
    return skipped


def _incidence(traces: Traces, people: Longs, cell: Longs) -> tuple[Longs, Longs]:
    """Return which group holds which cell, as pairs; groups with counterfeits say nothing."""
    of_person = np.full(len(traces.respondent), -1, dtype=np.int64)
    of_person[people] = cell
    group = np.repeat(np.arange(traces.n_groups), np.diff(traces.group_ptr))
    held = of_person[traces.people]
    used = (held >= 0) & (traces.counterfeits[group] == 0)
    pairs = np.unique(np.column_stack((group[used], held[used])), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _parts(rows: Longs, cols: Longs, exact: Flags) -> list[Longs]:
    """Return the connected sets of cells that are not exact."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n, free = len(exact), ~exact[cols]
    size = n + (int(rows.max()) + 1 if len(rows) else 0)
    edges = coo_matrix((np.ones(int(free.sum())), (cols[free], rows[free] + n)), shape=(size, size))
    label = connected_components(edges, directed=False)[1][:n]
    open_cells = np.flatnonzero(~exact)
    return [open_cells[label[open_cells] == one] for one in np.unique(label[open_cells])]


def _moves(rows: Longs, cols: Longs, part: Longs) -> list[tuple[Longs, Longs]]:
    """Return combinations of cells that no group notices, as cells and steps: a basis, by elimination."""
    place = np.full(int(max(cols.max(initial=0), part.max())) + 1, -1, dtype=np.int64)
    place[part] = np.arange(len(part))
    inside = place[cols] >= 0
    names, row = np.unique(rows[inside], return_inverse=True)
    matrix = np.zeros((len(names), len(part)))
    matrix[row, place[cols[inside]]] = 1.0
    matrix = np.unique(matrix, axis=0)
    pivots: list[int] = []
    for column in range(len(part)):
        r = len(pivots)
        if r == len(matrix):
            break
        best = r + int(np.abs(matrix[r:, column]).argmax())
        if abs(matrix[best, column]) < 1e-9:
            continue
        matrix[[r, best]] = matrix[[best, r]]
        matrix[r] /= matrix[r, column]
        others = np.flatnonzero(np.abs(matrix[:, column]) > 1e-12)
        others = others[others != r]
        matrix[others] -= np.outer(matrix[others, column], matrix[r])
        pivots.append(column)
    found = []
    for column in np.setdiff1d(np.arange(len(part)), pivots).tolist():
        vector = np.zeros(len(part))
        vector[column] = 1.0
        vector[pivots] = -matrix[: len(pivots), column]
        whole = np.round(vector)
        if np.abs(whole - vector).max() < 1e-6:
            at = np.flatnonzero(whole)
            found.append((at, whole[at].astype(np.int64)))
    return found


def _chain(
    start: Longs, moves: list[tuple[Longs, Longs]], margin: npt.NDArray[np.float64], chance: np.random.Generator
) -> Floats:
    """Return the mean share of every value in every cell over a Markov chain that starts at the truth."""
    counts, values = start.copy(), np.flatnonzero(start.sum(axis=0))
    size = np.maximum(start.sum(axis=1), 1)[:, None]
    if not moves or len(values) < 2:
        return np.asarray(start / size)
    n_steps = STEPS * len(start) * len(values)
    logs = np.log(np.maximum(margin, 1e-300))
    picks = chance.integers(0, len(moves), n_steps)
    first = chance.integers(0, len(values), n_steps)
    second = (first + chance.integers(1, len(values), n_steps)) % len(values)
    pairs = values[np.column_stack((first, second))]
    thresholds = np.log(chance.random(n_steps))
    total, kept = np.zeros(start.shape), 0
    every = max(n_steps // 2_000, 1)
    for step in range(n_steps):
        at, change = moves[picks[step]]
        one, other = int(pairs[step, 0]), int(pairs[step, 1])
        now_one, now_other = counts[at, one], counts[at, other]
        new_one, new_other = now_one + change, now_other - change
        if new_one.min() >= 0 and new_other.min() >= 0:
            weight = _log_factorials(now_one, now_other) - _log_factorials(new_one, new_other)
            weight += float(change.sum()) * float(logs[one] - logs[other])
            if thresholds[step] < weight:
                counts[at, one], counts[at, other] = new_one, new_other
        if step >= n_steps // 5 and step % every == 0:
            total += counts
            kept += 1
    return np.asarray(total / max(kept, 1) / size)


def _log_factorials(one: Longs, other: Longs) -> float:
    from scipy.special import gammaln

    return float(gammaln(np.concatenate((one, other)) + 1.0).sum())
