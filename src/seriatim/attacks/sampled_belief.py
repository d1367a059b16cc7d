"""Belief: how sure an attacker who assumes that people are exchangeable is of anyone's value.

Where a person's value never changes, the releases tell how often values occur in groups. People who were in the same
groups form a cell. If the published counts fix how often each value occurs in a cell, someone without reason to prefer
one of its people believes in v about each of them as much as its share there: that is exact
(``docs/guarantees/cohort.md``). Elsewhere, as where people returned to another cohort, many tables of counts fit. They
are sampled by Markov chains: two values change places along a combination of cells that no group notices. The weights
are exact; that the moves reach every table is not proved. So chains start at several tables far from each other, which
a solver finds from what is published, never from the truth; a cell about which they do not come to the same belief is
not judged.

A counterfeit that nobody is told about may be any row of its group: it counts as one more person there, who is in no
other group.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from seriatim.attacks.traces_by_person import Traces, trace
from seriatim.attacks.twin_sets import nullspace_marks
from seriatim.errors import Fault, TableError
from seriatim.kernels.arrays import Flags, Floats, Ints, Longs
from seriatim.kernels.belief.cell_tables import DrawnMoves, Moves, Weights, random_walk
from seriatim.model.chance import open_chance
from seriatim.model.history import History

STEPS = 1_000_000
"""Total Markov-chain steps, split among the parts by their cells x values."""
ENOUGH = 10_000
"""Steps of a chain at most, for each cell and value; sixty left beliefs in small parts a seventh off."""
TABLES = 20_000
"""Tables of a chain that are counted, at most."""
LARGEST = 12
"""How often a combination of cells is taken at most, if it has fractions of people."""
CHUNK = 1 << 16
"""Steps for which chance is drawn at once."""
MOST = 15_000
"""Cells times values that are sampled, over all parts; nobody in the parts beyond is judged: it would take too long."""
CHAINS = 4
"""Chains of a part, each from a table of its own."""
LONGER = 3
"""How many times as many steps chains take that disagree at first."""
AGREE = 0.1
"""Chains disagree about a cell if their beliefs about it differ by more."""
NODES = 50
"""Nodes of the solver's search for a table at most; hardly any part needs one."""
ELIMINATED = 2e9
"""A part is not judged either if finding its moves takes more multiplications than this."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
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
    """People in parts that are too large to sample, or in cells about which chains disagree."""
    n_disputed: int
    """Those of them about whom chains disagree, or for whom no table was found to start at."""

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
    (:func:`seriatim.attacks.reveal_leavers`); any other may be each row of its group.
    """
    traces = trace(history)
    if len(np.unique(traces.respondent)) < len(traces.respondent):
        found = "values that change"
        raise TableError(Fault("history", found, "one value per person", "use attacks.sequence for values that change"))
    known = np.zeros(len(traces.respondent), dtype=np.bool_)
    known[traces.episodes_of(list(compromised))] = True
    everyone = trace(_with_counterfeits(history)) if traces.counterfeits.any() else traces
    column, zero = nullspace_marks(everyone)
    rows = np.concatenate((np.flatnonzero(~known), np.arange(len(known), len(column))))
    _, cell = np.unique(column[rows], return_inverse=True)
    n = int(cell.max()) + 1 if len(cell) else 0
    counts = np.zeros((n, max(traces.n_values, 1)), dtype=np.int64)
    np.add.at(counts, (cell, everyone.value[rows]), 1)
    exact = np.zeros(n, dtype=np.bool_)
    exact[cell] = zero[rows]
    beliefs = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
    people = rows[rows < len(known)]
    fitting = CellCounts(*_incidence(everyone, rows, cell), counts, exact, published_shares(everyone))
    skipped, disputed = _sampled(fitting, beliefs, seed)
    cell = cell[: len(people)]
    judged = ~(skipped | disputed)[cell]
    return Beliefs(
        traces=traces,
        people=people[judged].astype(np.int32),
        cell=cell[judged].astype(np.int32),
        by_cell=beliefs,
        exact=exact,
        n_unjudged=int((~judged).sum()),
        n_disputed=int(disputed[cell].sum()),
    )


def published_shares(traces: Traces) -> Floats:
    """Return how often each value is published, of all values published: what is believed of people not yet seen."""
    counts = np.bincount(traces.sig_val, weights=traces.sig_cnt, minlength=max(traces.n_values, 1))
    return np.asarray(counts / max(counts.sum(), 1))


def _with_counterfeits(history: History) -> History:
    """Return the history with every counterfeit as a person, without a name and of one release, after the others."""
    releases, n = [], len(history.respondents)
    for past in history.releases:
        person, made_up = past.person.copy(), np.flatnonzero(past.person < 0)
        person[made_up] = n + np.arange(len(made_up), dtype=np.int32)
        n += len(made_up)
        releases.append(replace(past, person=person))
    nobody = pa.nulls(n - len(history.respondents), history.respondents.type)
    return replace(history, respondents=pa.concat_arrays([history.respondents, nobody]), releases=tuple(releases))


class CellCounts(NamedTuple):
    """The counts of all cells, and which groups they have to fit."""

    rows: Longs
    """Groups, each beside one of the cells in it."""
    cols: Longs
    counts: Longs
    """Cell by value, in truth. Of cells that are not exact only sums over groups are read: these are published."""
    exact: Flags
    margin: Floats
    """The share of every value among what is published."""


def _sampled(fitting: CellCounts, beliefs: Floats, seed: int) -> tuple[Flags, Flags]:
    """Overwrite the beliefs of cells that are not exact; return cells in parts too large, and cells disputed."""
    skipped, disputed = np.zeros((2, len(fitting.counts)), dtype=np.bool_)
    parts = _parts(fitting.rows, fitting.cols, fitting.exact)
    sizes = np.array([len(part) * np.count_nonzero(fitting.counts[part].sum(axis=0)) for part in parts], dtype=np.int64)
    groups = np.array([_groups(fitting, part) for part in parts], dtype=np.float64)
    judged = (np.cumsum(sizes) <= MOST) & (groups**2 * np.array([len(part) for part in parts]) <= ELIMINATED)
    share = STEPS / max(int(sizes[judged].sum()), 1)
    for part, size, fits in zip(parts, sizes.tolist(), judged.tolist(), strict=True):
        skipped[part] = not fits
        if fits:
            beliefs[part], disputed[part] = _agreed(fitting, part, int(size * min(share, ENOUGH)), seed)
    return skipped, disputed


def _agreed(fitting: CellCounts, part: Longs, n_steps: int, seed: int) -> tuple[Floats, Flags]:
    """Return the beliefs about a part's cells that chains from several tables come to, and where they disagree."""
    chance = open_chance(seed, "belief")
    starts = _tables(fitting, part, chance)
    if len(starts) < CHAINS:
        return np.zeros((len(part), fitting.counts.shape[1])), np.ones(len(part), dtype=np.bool_)
    moves = _moves(fitting.rows, fitting.cols, part)
    for steps in (n_steps, n_steps * LONGER):
        found = np.stack([_walked(start, moves, fitting.margin, steps, chance) for start in starts])
        disputed = (found.max(axis=0) - found.min(axis=0)).max(axis=1) > AGREE
        if not disputed.any():
            break
    return np.where(disputed[:, None], 0.0, found.mean(axis=0)), disputed


def _tables(fitting: CellCounts, part: Longs, chance: np.random.Generator) -> list[Longs]:
    """Return tables of a part that fit what is published, each as far as it goes in a direction drawn at random."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import block_diag, coo_matrix, hstack, identity, vstack

    counts = fitting.counts[part]
    place = np.full(len(fitting.counts), -1, dtype=np.int64)
    place[part] = np.arange(len(part))
    inside = place[fitting.cols] >= 0
    _, row = np.unique(fitting.rows[inside], return_inverse=True)
    holds = coo_matrix((np.ones(len(row)), (row, place[fitting.cols[inside]]))).tocsr()
    shown = np.asarray(holds @ counts)
    values = np.flatnonzero(shown.sum(axis=0))
    # one value after the other: what groups show of it, then how many people each cell has over all values
    fits = vstack([block_diag([holds] * len(values)), hstack([identity(len(part))] * len(values))])
    sums = np.concatenate([*shown[:, values].T, counts.sum(axis=1)])
    most = Bounds(0, np.inf)
    found = []
    for _ in range(CHAINS):
        aim = chance.standard_normal(len(part) * len(values))
        made = milp(aim, integrality=1, bounds=most, constraints=LinearConstraint(fits, sums, sums),
                    options={"node_limit": NODES, "mip_rel_gap": 0.5})  # fmt: skip
        if made.x is None:
            break
        table = np.zeros(counts.shape, dtype=np.int64)
        table[:, values] = np.round(made.x).astype(np.int64).reshape(len(values), len(part)).T
        found.append(table)
    return found


def _groups(fitting: CellCounts, part: Longs) -> int:
    """Count the groups that hold some cell of a part."""
    return len(np.unique(fitting.rows[np.isin(fitting.cols, part)]))


def _incidence(traces: Traces, people: Longs, cell: Longs) -> tuple[Longs, Longs]:
    """Return which group holds which cell, as pairs."""
    of_person = np.full(len(traces.respondent), -1, dtype=np.int64)
    of_person[people] = cell
    group = np.repeat(np.arange(traces.n_groups), np.diff(traces.group_ptr))
    held = of_person[traces.people]
    pairs = np.unique(np.column_stack((group[held >= 0], held[held >= 0])), axis=0)
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
        times = next((n for n in range(1, LARGEST + 1) if np.abs(np.round(n * vector) - n * vector).max() < 1e-6), 0)
        at = np.flatnonzero(np.round(times * vector))
        if len(at):
            found.append((at, np.round(times * vector[at]).astype(np.int64)))
    return found


def _walked(
    start: Longs, moves: list[tuple[Longs, Longs]], margin: Floats, n_steps: int, chance: np.random.Generator
) -> Floats:
    """Return the mean share of every value in every cell over a Markov chain that starts at a table."""
    counts, values = start.copy(), np.flatnonzero(start.sum(axis=0))
    size = np.maximum(start.sum(axis=1), 1)[:, None]
    if not moves or len(values) < 2:
        return np.asarray(start / size)
    ends = np.cumsum([0, *(len(at) for at, _ in moves)])
    flat = Moves(ends, *(np.concatenate([move[part] for move in moves]) for part in (0, 1)))
    most = int(start.sum() + 3 * np.abs(flat.step).max())  # three moves may pass through more than there are
    factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, most + 1)))))
    weights = Weights(factorials, np.log(np.maximum(margin, 1e-300)))
    every = max(n_steps // TABLES, 1)
    total, kept = np.zeros(start.shape), 0
    for first in range(0, n_steps, CHUNK):
        step = np.arange(first, min(first + CHUNK, n_steps))
        counted = (step >= n_steps // 5) & (step % every == 0)
        random_walk(counts, flat, _drawn(len(step), len(moves), values, chance), weights, counted, total)
        kept += int(counted.sum())
    return np.asarray(total / max(kept, 1) / size)


def _drawn(n_steps: int, n_moves: int, values: Longs, chance: np.random.Generator) -> DrawnMoves:
    first = chance.integers(0, len(values), (n_steps, 3))
    second = (first + chance.integers(1, len(values), (n_steps, 3))) % len(values)
    pairs = values[np.stack((first, second), axis=2).reshape(n_steps, 6)]
    made = np.array([1, 1, 2, 3])[chance.integers(0, 4, n_steps)]
    return DrawnMoves(chance.integers(0, n_moves, (n_steps, 3)), pairs, made, np.log(chance.random(n_steps)))
