"""Cells: who enters which cohort, decided without a look at anybody's value.

Everyone knows the method. If a cut looked at values, who stands on which side of it would reveal some of them; even a
bit such as 'this half could not be cut' does. So a tree over quasi-identifiers, drawn from the secret, proposes cells
of near people. Everyone stays in theirs with the chance ``stay``, and all others are dealt over the cells at random.
That chance follows from how often each value occurs among all of them: even if everyone who stays in a cell held the
same value, its share would hardly ever exceed its cap. In real tables only a part of them do, so a larger chance is
tried first. Whether a share exceeds its cap is looked at once all cells are there; if it does even with the smaller
chance there is one cell (``newcomers``). Who is near whom still shows, a little in each of many cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.defences.series.caps import Caps
from seriatim.defences.series.contract import LongArray
from seriatim.model.scale import IntArray

FloatArray = npt.NDArray[np.float64]

SMALLEST = 360
"""Leavers of smaller cells are seldom fair and stay counterfeits: at odds 2 three times as many with cells of 180."""
CELLS = 64
"""So many cells tell how values go with columns; more people make larger cells, in which more of them may stay."""
MARGIN = 3.5
"""Standard deviations that a share may be off before a cell is unfair: 1 in 4,000 for a value in a cell, at worst."""
RARE = 0.02
"""Rarer values are far from their cap in any cell."""
BOLD, FEW = 6, 0.12
"""So many times as many people may stay at the first look as is safe if all in a cell who stay held the same value.

But few of all: looks that fail tell whoever knows the secret more, and at a share of .12 hardly any does.
"""
WORTH = 0.02
"""Cells are larger where this share of people may stay only then, if any size allows it."""


class CellPlan(NamedTuple):
    """How large a cell is at least, and the chance that a person stays in the cell of people near them."""

    least: int
    stay: float

    @property
    def tried(self) -> tuple[CellPlan, ...]:
        """Return the plans to deal by: the second one only if a cell of the first is not fair."""
        bold = min(BOLD * self.stay, FEW)
        return (self,) if bold <= self.stay else (CellPlan(self.least, bold), self)


def planned_cells(counts: LongArray, caps: Caps, least: int | None) -> CellPlan:
    """Return the plan for people with these counts of values; it depends on nothing else about values.

    ``least`` is the size that the policy asks for. Cells grow from it until enough of their people may stay.
    """
    people = int(counts.sum())
    start = least or max(SMALLEST, -(-people // CELLS))
    plans = [CellPlan(size, _stay(counts, caps, size)) for size in (start << i for i in range(6)) if 2 * size <= people]
    fair = [plan for plan in plans if plan.stay >= 0]
    return next((plan for plan in fair if plan.stay >= WORTH), fair[0] if fair else CellPlan(people, 0.0))


def _stay(counts: LongArray, caps: Caps, size: int) -> float:
    """Return the largest chance at which a cell hardly ever exceeds a cap; below 0 if even dealing at random does."""
    people = int(counts.sum())
    share = counts / people
    spread = np.sqrt(share * (1 - share) * (1 - size / people) / size)
    room = (caps.num / caps.den - share - MARGIN * spread) / np.maximum(1 - share, 1e-9)
    return float(room[share >= RARE].min(initial=1.0))


def drawn_cells(quasi: IntArray, first: tuple[int, ...], plan: CellPlan, chance: np.random.Generator) -> LongArray:
    """Return everyone's cell: that of the people near them, or one at random. Sizes are those of the tree's leaves."""
    cell = _leaves(quasi, first, plan.least, chance)
    moved = np.flatnonzero(chance.random(len(cell)) >= plan.stay)
    cell[moved] = cell[chance.permutation(moved)]
    return cell


def _leaves(quasi: IntArray, first: tuple[int, ...], least: int, chance: np.random.Generator) -> LongArray:
    """Return everyone's leaf of a tree that halves people between two codes of a column drawn from the secret.

    Columns in ``first`` are cut while they can be; the others in an order drawn anew for every node.
    """
    leaf = np.zeros(len(quasi), dtype=np.int64)
    nodes, n_leaves = [np.arange(len(quasi))], 0
    while nodes:
        node = nodes.pop()
        halves = _halved(node, quasi, first, least, chance) if len(node) >= 2 * least else None
        if halves is None:
            leaf[node] = n_leaves
            n_leaves += 1
        else:
            nodes.extend(halves)
    return leaf


def _halved(
    node: LongArray, quasi: IntArray, first: tuple[int, ...], least: int, chance: np.random.Generator
) -> tuple[LongArray, LongArray] | None:
    drawn = chance.permutation(quasi.shape[1]).tolist()
    for column in sorted(drawn, key=lambda one: one not in first):
        codes = quasi[node, column]
        before = np.bincount(codes).cumsum()[:-1]
        allowed = np.flatnonzero((before >= least) & (before <= len(node) - least))
        if len(allowed):
            last = int(allowed[np.abs(2 * before[allowed] - len(node)).argmin()])
            left = codes <= last
            return node[~left], node[left]
    return None
