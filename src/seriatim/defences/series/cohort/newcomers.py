"""Newcomers form cohorts of their own: few and large, no value above its cap.

Cells are dealt to all of them first, before anybody's value decides anything: everyone knows the method, and if a cut
looked at values, who stands on which side of it would reveal some of them; even a bit such as 'this half could not be
cut' does. So a tree over quasi-identifiers, drawn from the secret, proposes cells of near people. Everyone stays in
theirs with the chance ``stay``, and all others are dealt over the cells at random. That chance follows from how often
each value occurs among all of them: even if everyone who stays in a cell held the same value, its share would hardly
ever exceed its cap. In real tables only a part of them do, so a larger chance is tried first. Whether a share exceeds
its cap is looked at once all cells are there; if it does even with the smaller chance there is one cell. Who is near
whom still shows, a little in each of many cells.

Then usually everyone enters. If a value is too frequent among them, its surplus waits, and others drawn at random wait
beside it: alone it would reveal its value. If newcomers are few, all of them wait.

People who return after their slot was given up enter beside them where a new cohort may take them in. Such a person is
in two cells, and anyone who knows it multiplies what both say. If values were drawn independently with the shares p,
and the counts of a person's cells are n_1 .. n_k, the belief in value v is in proportion to p_v^(1 - k) times the
product of n_i(v), leaving out the others who returned. A person is let in only where no value's belief exceeds its cap.
This is measured, not proved: the counts still include the others who returned, and cells change after somebody has
entered.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seriatim.defences.series.caps import Caps
from seriatim.defences.series.cohort.memory import SlotHistory, SlotsInUse
from seriatim.defences.series.contract import BoolArray, LongArray, SerialView
from seriatim.defences.series.inherited import known_records
from seriatim.kernels.arrays import rows_by_key
from seriatim.model.scale import IntArray

SMALLEST = 360
"""Leavers of smaller cells are seldom fair and stay counterfeits: at odds 2 three times as many with cells of 180."""
SMALLEST_LATER = 720
"""After the first release: the last few dozen leavers of every cohort wait until all have left, so fewer cohorts are
better. Where half of the people leave every time, a fifth to a quarter fewer counterfeits than with cells of 360."""
CELLS = 64
"""So many cells tell how values go with columns; more people make larger cells, in which more of them may stay."""
MARGIN = 3.5
"""Standard deviations that a share may be off before a cell is unfair: 1 in 4,000 for a value in a cell, at worst."""
RARE = 0.02
"""Rarer values are far from their cap in any cell."""
BOLD, MOST_NEAR = 6, 0.12
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
        bold = min(BOLD * self.stay, MOST_NEAR)
        return (self,) if bold <= self.stay else (CellPlan(self.least, bold), self)


def planned_cells(counts: LongArray, caps: Caps, least: int | None, smallest: int = SMALLEST) -> CellPlan:
    """Return the plan for people with these counts of values; it depends on nothing else about values.

    ``least`` is the size that the policy asks for. Cells grow from it until enough of their people may stay.
    """
    people = int(counts.sum())
    start = least or max(smallest, -(-people // CELLS))
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
    # they exchange cells among themselves, so that every cell keeps its size
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
    for column in sorted(drawn, key=lambda one: one not in first):  # stable: the drawn order holds within both kinds
        codes = quasi[node, column]
        before = np.bincount(codes).cumsum()[:-1]
        allowed = np.flatnonzero((before >= least) & (before <= len(node) - least))
        if len(allowed):
            # the cut nearest to the middle
            last = int(allowed[np.abs(2 * before[allowed] - len(node)).argmin()])
            left = codes <= last
            return node[~left], node[left]
    return None


FloatArray = npt.NDArray[np.float64]

SURE = 1e-9


class Returns:
    """What the cells that each of these people left say about their values, as logarithms against the shares of all."""

    def __init__(self, memory: SlotHistory, person: LongArray, n_values: int) -> None:
        self._at = np.full(int(person.max(initial=-1)) + 2, -1, dtype=np.int64)
        self._at[person] = np.arange(len(person))
        everyone = np.bincount(memory.value, minlength=n_values) + SURE
        self._prior = np.log(everyone / everyone.sum())
        self._said = np.zeros((len(person), n_values))
        own = np.flatnonzero(np.isin(memory.holder, person))
        # what is left of a cohort that was last published in one release is a cell that its people left together
        cells, cell_of = np.unique(memory.cohort * (memory.n_releases + 1) + memory.last, return_inverse=True)
        wanted = np.unique(cell_of[own])
        number = np.full(len(cells), -1, dtype=np.int64)
        number[wanted] = np.arange(len(wanted))
        inside = np.flatnonzero(number[cell_of] >= 0)
        keys = number[cell_of[inside]] * n_values + memory.value[inside]
        counts = np.bincount(keys, minlength=len(wanted) * n_values).reshape(len(wanted), n_values).astype(float)
        with np.errstate(divide="ignore"):  # a cell without a value rules it out: minus infinity
            said = np.log(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)) - self._prior
        # somebody may have left several cells, and what they say adds up
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


WAIT_BESIDE = 50
"""One in this many people, drawn from newcomers who are not fair, wait beside the surplus; fewer newcomers all wait."""


def start_cohorts(making: SlotsInUse, aside: BoolArray) -> None:
    """Start cohorts for newcomers and for people who return, apart for each set of possible values.

    Those set ``aside`` wait: no cohort suits them.
    """
    memory, view = making.memory, making.view
    known = memory.look_up(memory.newest, view.person, -1) >= 0
    outside = making.active & ~making.has_slot
    back = np.flatnonzero(outside & known)
    returns = Returns(memory, view.person[back], view.n_values)
    least = making.rules.batch * (2 if len(making.slot) else 1)
    making.counters.update(founded=0, entered_again=0, waiting_unfair=0)
    entering = []
    for pool in newcomer_pools(view, outside & ~aside):
        mixed = making.draw.chance("entering").permutation(pool)
        enters = _entering(making, mixed, known, returns, least)
        if enters.any():
            entering.append((mixed, enters))
    if entering:
        everyone = np.concatenate([pool[enters] for pool, enters in entering])
        caps = Caps.of_cells(making.shown_with(_counts(making, everyone)), making.rules.m, making.rules.odds)
        for pool, enters in entering:
            _found(making, _cells(making, pool, enters, caps), known, returns)


def newcomer_pools(view: SerialView, new: BoolArray) -> list[LongArray]:
    """Return the newcomers who may be in one group, the pools with the fewest possible values first.

    People whose values earlier releases of another method have told are kept apart.
    """
    if view.inherited is None:
        return _pools_by_priors(view, new)
    known = known_records(view)
    return [pool for kind in (False, True) for pool in _pools_by_priors(view, new & (known == kind))]


def _pools_by_priors(view: SerialView, new: BoolArray) -> list[LongArray]:
    if view.priors is None:
        return [np.flatnonzero(new)]
    order = np.argsort(view.priors.possible.sum(axis=1), kind="stable")
    return [np.flatnonzero(new & (view.priors.of_record == at)) for at in order]


def _entering(making: SlotsInUse, pool: LongArray, known: BoolArray, returns: Returns, least: int) -> BoolArray:
    """Return who of a pool enters now: everyone whose return does not say too much beside the others, if they fit."""
    out = np.ones(len(pool), dtype=np.bool_)
    again = known[pool]
    if again.any():
        people = making.view.person[pool[again]]
        out[again] = returns.admitted(people, _counts(making, pool), making.caps, _slack(making))
    out[out] = _party(making, pool[out], least)
    return out


def _slack(making: SlotsInUse) -> float:
    """Return by how much the belief about someone who returns may exceed a cap: many values need some room."""
    return 0.0 if making.rules.m <= 3 else 0.5


def _counts(making: SlotsInUse, records: LongArray) -> LongArray:
    return np.bincount(making.view.sensitive[records], minlength=making.view.n_values).astype(np.int64)


def _party(making: SlotsInUse, pool: LongArray, least: int) -> BoolArray:
    """Return who enters: everyone, or as many of the first as are fair, or nobody."""
    caps, strangers, nobody = making.caps, making.rules.strangers, np.zeros(len(pool), dtype=np.bool_)
    counts = _counts(making, pool)
    if len(pool) < least:
        return nobody
    if caps.fair(counts, strangers):
        return ~nobody
    making.counters["waiting_unfair"] += 1
    beside = -(-len(making.view) // WAIT_BESIDE) if len(making.slot) else 0
    some = pool[: max(len(pool) - beside, 0)]
    kept = caps.kept(_counts(making, some), strangers)
    return np.isin(pool, _first_of_each(some, making.view, kept)) if kept.sum() >= least else nobody


def _first_of_each(records: LongArray, view: SerialView, counts: LongArray) -> LongArray:
    """Return the first records of each value, as many as ``counts`` says."""
    value = view.sensitive[records]
    first, order = rows_by_key(value, view.n_values)
    rank = np.empty(len(records), dtype=np.int64)
    rank[order] = np.arange(len(order)) - first[value[order]]  # a record's number among those with its value
    return records[rank < counts[value]]


def _found(making: SlotsInUse, cells: list[LongArray], known: BoolArray, returns: Returns) -> None:
    """Start a cohort for each cell; leave out people who return where their own cohort says too much."""
    rules, caps, view = making.rules, making.caps, making.view
    parts = []
    for whole in cells:
        again = np.flatnonzero(known[whole])
        if len(again):
            counts = _counts(making, whole)
            ok = returns.admitted(view.person[whole[again]], counts, caps, _slack(making))
            fewer = np.delete(whole, again[~ok])
            if len(fewer) >= rules.batch and caps.fair(_counts(making, fewer), rules.strangers):
                whole = fewer
            making.counters["entered_again"] += int(known[whole].sum())
        parts.append(whole)
    making.add_cohorts(np.concatenate(parts), np.concatenate(([0], np.cumsum([len(part) for part in parts]))))
    making.counters["founded"] += len(parts)


def _cells(making: SlotsInUse, pool: LongArray, enters: BoolArray, caps: Caps) -> list[LongArray]:
    """Return who of a pool enters together: the first cells dealt to the pool that are all fair, else everyone in one.

    Whether they are fair is the only thing here that depends on who holds which value. How large cells are follows from
    the values that the table shows, not from those of the view: these are not published.
    """
    rules, view = making.rules, making.view
    party = pool[enters]
    smallest = SMALLEST_LATER if making.memory.n_releases else SMALLEST
    plan = planned_cells(_counts(making, party), caps, rules.cohort, smallest)
    if 2 * plan.least > len(party):
        return [party]
    chance = making.draw.chance("cells")
    for tried in plan.tried:
        # cells are cut in the whole pool: who of it enters depends on values, and must not move a cut
        cell = drawn_cells(view.quasi[pool], view.first, tried, chance)[enters]
        bounds, order = rows_by_key(cell.astype(np.int32), int(cell.max()) + 1)
        cells = [party[order[a:b]] for a, b in pairwise(bounds.tolist())]
        counts = np.stack([_counts(making, one) for one in cells])
        fair = caps.fair(counts, rules.strangers) & making.caps.fair(counts, rules.strangers)
        if (fair & (counts.sum(axis=1) >= rules.batch)).all():
            return cells
        making.counters["not_dealt"] = making.counters.get("not_dealt", 0) + 1
    return [party]
