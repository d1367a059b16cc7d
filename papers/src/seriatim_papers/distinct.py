"""Groups for values that change: m values stay possible for everyone in every release (m-Distinct, Li and Zhou 2008).

What may follow a value is its candidate update set. Someone who knows these sets draws a graph for each person: the
values of every group that the person was in, release after release, with an edge where one value may follow another;
a value on no path through all releases is ruled out. Here nobody's graph loses a value: in a new group every value
follows one of the person's last group, and each of those is followed by one. Counterfeits complete the groups.

The paper takes the sets as given. Here they are what was seen: the values that did follow in the series so far, this
view included. Any true knowledge of updates allows at least these, and more edges rule out less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seriatim.defences.series.contract import (
    BoolArray,
    LongArray,
    SerialDraw,
    SerialGrouping,
    SerialRules,
    SerialView,
    WithheldReason,
)
from seriatim.defences.series.memory import RememberedRows
from seriatim.model.scale import IntArray
from seriatim.ports import Workers
from seriatim_papers.buckets import Buckets
from seriatim_papers.halves import cut_into_halves
from seriatim_papers.invariant import invariant_grouping, invariant_lifespan
from seriatim_papers.kernels.eligibility import (
    eligibility_tree,
    fill_eligibility_needs,
    largest_eligibility_cap,
    new_eligible_buckets,
)
from seriatim_papers.memory import Memory


def distinct(
    view: SerialView, rules: SerialRules, pasts: Sequence[RememberedRows], draw: SerialDraw, workers: Workers
) -> SerialGrouping:
    """Group a view so that m values stay possible for everyone, though values change (m-Distinct)."""
    view.check(rules)
    memory = Memory.of(pasts, view.person)
    active = invariant_lifespan(view, rules, memory)
    follows = seen_updates(view, pasts)
    slots = [_bucket(view, memory, number, follows) for number in np.unique(memory.signature[active & memory.known])]
    buckets, stuck = _filled(view, memory, active, slots, rules.m, draw.chance("assignment"))
    cut = cut_into_halves(view, buckets, draw.chance("counterfeits"), workers)
    made = invariant_grouping(view, rules, active, buckets, cut)
    made.withheld[stuck] = WithheldReason.UNSAFE
    return made


def seen_updates(view: SerialView, pasts: Sequence[RememberedRows]) -> BoolArray:
    """Return follows[a, b]: whether value b followed value a, from one publication of somebody to the next."""
    follows = np.zeros((view.n_values, view.n_values), dtype=np.bool_)
    n_people = max(int(rows.max(initial=-1)) for rows in (view.person, *(past.person for past in pasts))) + 1
    last = np.full(n_people, -1, dtype=np.int64)
    for person, value in (*((past.person, past.value) for past in pasts), (view.person, view.sensitive)):
        real = person >= 0
        who, now = person[real], value[real]
        before = last[who] >= 0
        follows[last[who[before]], now[before]] = True
        last[who] = now
    return follows


@dataclass(frozen=True, slots=True, eq=False)
class _Slots:
    """The people of one last group's values: for each value the slot that takes it, -1 if none does."""

    signature: int
    stands_for: LongArray
    """One value for each slot, which follows its old value: what counterfeits and newcomers there show."""
    slot_of_value: LongArray


def _bucket(view: SerialView, memory: Memory, signature: int, follows: BoolArray) -> _Slots:
    """Match every old value with a new one of its own, and give each other value to a slot that it may follow."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    old = memory.signature_values[memory.signature_starts[signature] : memory.signature_starts[signature + 1]]
    allowed = follows[old]
    count = np.bincount(view.sensitive[memory.signature == signature], minlength=view.n_values)
    # values that are held come first, so that few slots stand empty
    order = np.argsort(-count, kind="stable")
    matched = maximum_bipartite_matching(csr_array(allowed[:, order]), perm_type="column")
    slot_of_value = np.full(view.n_values, -1, dtype=np.int64)
    if (matched < 0).any():
        return _Slots(signature, np.empty(0, dtype=np.int64), slot_of_value)
    stands_for = order[matched]
    slot_of_value[stands_for] = np.arange(len(old))
    load = count[stands_for].astype(np.int64)
    for value in order[count[order] > 0].tolist():
        open_to = np.flatnonzero(allowed[:, value])
        if slot_of_value[value] < 0 and len(open_to):
            slot = int(open_to[np.argmin(load[open_to])])
            slot_of_value[value], load[slot] = slot, load[slot] + count[value]
    return _Slots(signature, stands_for, slot_of_value)


def _filled(
    view: SerialView,
    memory: Memory,
    active: BoolArray,
    slots: Sequence[_Slots],
    m: int,
    chance: np.random.Generator,
) -> tuple[Buckets, BoolArray]:
    """Return balanced buckets of all who have one, and who was published before and has none."""
    slot = np.full(len(view), -1, dtype=np.int32)
    old = active & memory.known
    first, values, needs, steps = [0], [], [], []
    for one in slots:
        rows = np.flatnonzero(old & (memory.signature == one.signature))
        own = one.slot_of_value[view.sensitive[rows]]
        slot[rows[own >= 0]] = first[-1] + own[own >= 0]
        load = np.bincount(own[own >= 0], minlength=len(one.stands_for))
        values.append(one.stands_for)
        needs.append(load.max(initial=0) - load)
        steps.append(int(load.max(initial=0)))
        first.append(first[-1] + len(one.stands_for))
    stuck = old & (slot < 0)
    needed, shown = _joined(needs), _joined(values)
    fresh = np.flatnonzero(active & ~memory.known)
    counts = np.bincount(view.sensitive[fresh], minlength=view.n_values).astype(np.int64)
    kept = np.minimum(counts, largest_eligibility_cap(counts, m))
    tree, left = eligibility_tree(kept), needed.copy()
    order = np.arange(len(shown), dtype=np.int32)
    take = fill_eligibility_needs(order, shown.astype(np.int32), left, tree, counts - kept, m)
    starts, founded, joined = new_eligible_buckets(tree, m)
    take = np.concatenate((take, np.repeat(joined, np.diff(starts))))
    shown = np.concatenate((shown, founded))
    _place_newcomers(view, fresh, shown, take, slot, chance)
    kept_buckets = [at for at, size in enumerate(steps) if size]
    every = np.concatenate((np.array(first, dtype=np.int64), starts[1:] + first[-1]))
    all_steps = np.concatenate((np.array(steps, dtype=np.int64), joined))
    fakes = np.concatenate((left, np.zeros(len(founded), dtype=np.int64)))
    return _without_empty(every, shown, all_steps, fakes, slot, len(kept_buckets) < len(steps)), stuck


def _joined(parts: Sequence[LongArray]) -> LongArray:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts]).astype(np.int64)


def _place_newcomers(
    view: SerialView, fresh: LongArray, shown: LongArray, take: LongArray, slot: IntArray, chance: np.random.Generator
) -> None:
    """Give the counted places to newcomers with their value, at random."""
    for value in np.unique(shown).tolist():
        places = np.repeat(np.flatnonzero(shown == value), take[shown == value])
        rows = chance.permutation(fresh[view.sensitive[fresh] == value])[: len(places)]
        slot[rows] = places[: len(rows)]


def _without_empty(
    starts: LongArray, values: LongArray, steps: LongArray, fakes: LongArray, slot: IntArray, some: bool
) -> Buckets:
    """Return the buckets that have anybody."""
    if some:
        sizes = np.diff(starts)
        kept = np.repeat(steps > 0, sizes)
        number = np.where(kept, np.cumsum(kept) - 1, -1)
        held = slot >= 0
        slot[held] = number[slot[held]]
        starts = np.concatenate(([0], np.cumsum(sizes[steps > 0])))
        values, fakes, steps = values[kept], fakes[kept], steps[steps > 0]
    return Buckets(starts.astype(np.int64), values.astype(np.int32), steps, fakes, slot)
