"""Divides, balances and assigns records to buckets in which every value of the signature is equally frequent.

These are the first three phases of m-invariance (Xiao and Tao, SIGMOD 2007), shared with Cor-Split (Riboni and
Bettini). People published before go to the bucket of their signature. Newcomers balance the buckets; the others join in
equal numbers per value or start new buckets. Counterfeits fill the slots that remain. The printed algorithm can leave
people without a bucket: here every step keeps the remaining newcomers m-eligible, and newcomers beyond that are
withheld (or completed by counterfeits) and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.defences.series.contract import BoolArray, LongArray, SerialRules, SerialView, WhenNotEligible
from seriatim.kernels.arrays import rows_by_key
from seriatim.model.scale import IntArray
from seriatim_papers.kernels.eligibility import (
    eligibility_tree,
    fill_eligibility_needs,
    join_eligible_buckets,
    largest_eligibility_cap,
    new_eligible_buckets,
)
from seriatim_papers.memory import Memory


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """Balanced buckets. A slot is one value of one bucket's signature."""

    starts: LongArray
    """The first slot of each bucket."""
    values: IntArray
    """The value of each slot."""
    steps: LongArray
    """Tuples per slot of each bucket, counterfeits included."""
    counterfeits: LongArray
    """Counterfeits in each slot."""
    slot: IntArray
    """The slot of each record; -1 if it has none."""

    @property
    def sizes(self) -> LongArray:
        return np.diff(self.starts)


@dataclass(slots=True, eq=False)
class _Filling:
    """Buckets that are being filled, with their slots in order of bucket."""

    starts: LongArray
    values: IntArray
    counts: LongArray
    """Records in each slot that were published before."""
    steps: LongArray
    needs: LongArray
    """Records each slot still needs."""

    @property
    def bucket_of_slot(self) -> LongArray:
        return np.repeat(np.arange(len(self.steps)), np.diff(self.starts))


def fill_buckets(
    view: SerialView, rules: SerialRules, memory: Memory, active: BoolArray, chance: np.random.Generator
) -> Buckets:
    """Put every active record into a balanced bucket, or into none if the newcomers are not eligible."""
    old = active & memory.known
    slot = np.full(len(view), -1, dtype=np.int32)
    filling = _divide(view, memory, old, slot)
    pools = _pools(view, active & ~old)
    trees = []
    taken: list[LongArray] = []
    for possible, records in pools:
        tree, spare = _eligible_pool(view, records, rules.m)
        order = _permitted(filling, possible)
        slots = _slots_of(filling, order)
        taken.append(fill_eligibility_needs(slots, filling.values, filling.needs, tree, spare, rules.m))
        trees.append((tree, spare, order))
    founded: list[tuple[LongArray, LongArray, LongArray, LongArray]] = []
    for which, (tree, spare, order) in enumerate(trees):
        joined = join_eligible_buckets(order, filling.starts, filling.values, tree, rules.m)
        taken[which] += joined[filling.bucket_of_slot]
        filling.steps += joined
        founded.append(_found(tree, spare, pools[which][0], rules))
    return _settle(view, filling, pools, taken, founded, slot, chance)


def _divide(view: SerialView, memory: Memory, old: BoolArray, slot: IntArray) -> _Filling:
    """Return a bucket for each signature of people published before; write their slots to ``slot``."""
    rows = np.flatnonzero(old)
    present, bucket = np.unique(memory.signature[rows], return_inverse=True)
    sizes = memory.signature_starts[present + 1] - memory.signature_starts[present]
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    at = np.repeat(memory.signature_starts[present] - starts[:-1], sizes) + np.arange(int(starts[-1]))
    values = memory.signature_values[at]
    keys = np.repeat(np.arange(len(present)), sizes) * view.n_values + values
    wanted = bucket * view.n_values + view.sensitive[rows]
    found = np.searchsorted(keys, wanted)
    slot[rows] = found
    counts = np.bincount(found, minlength=len(values)).astype(np.int64)
    steps = np.maximum.reduceat(counts, starts[:-1]) if len(present) else np.empty(0, dtype=np.int64)
    return _Filling(starts, values, counts, steps, np.repeat(steps, sizes) - counts)


def _pools(view: SerialView, new: BoolArray) -> list[tuple[BoolArray | None, LongArray]]:
    """Return newcomers by their possible values, the smallest sets first: they are the hardest to place."""
    if view.priors is None:
        return [(None, np.flatnonzero(new))]
    width = view.priors.possible.sum(axis=1)
    order = np.argsort(width, kind="stable")
    return [(view.priors.possible[s], np.flatnonzero(new & (view.priors.of_record == s))) for s in order]


def _eligible_pool(view: SerialView, records: LongArray, m: int) -> tuple[LongArray, LongArray]:
    """Return the counts of newcomers as a tree, cut to what is m-eligible, and the counts beyond that."""
    counts = np.bincount(view.sensitive[records], minlength=view.n_values).astype(np.int64)
    kept = np.minimum(counts, largest_eligibility_cap(counts, m))
    return eligibility_tree(kept), counts - kept


def _permitted(filling: _Filling, possible: BoolArray | None) -> IntArray:
    """Return the buckets that may take people with this prior set, largest first: a newcomer costs least there."""
    order = np.argsort(-filling.steps * np.diff(filling.starts), kind="stable").astype(np.int32)
    if possible is None or not len(order):
        return order
    fits = np.logical_and.reduceat(possible[filling.values], filling.starts[:-1])
    return order[fits[order]]


def _slots_of(filling: _Filling, order: IntArray) -> IntArray:
    sizes = np.diff(filling.starts)[order]
    first = np.repeat(filling.starts[order] - (np.cumsum(sizes) - sizes), sizes)
    return (first + np.arange(int(sizes.sum()))).astype(np.int32)


def _found(
    tree: LongArray, spare: LongArray, possible: BoolArray | None, rules: SerialRules
) -> tuple[LongArray, LongArray, LongArray, LongArray]:
    """Return new buckets for a pool: starts, values, newcomers per slot, counterfeits per slot."""
    starts, values, joined = new_eligible_buckets(tree, rules.m)
    joined = np.repeat(joined, np.diff(starts))
    counterfeits = np.zeros(len(values), dtype=np.int64)
    if rules.when_not_eligible is not WhenNotEligible.COUNTERFEIT or not spare.any():
        return starts, values, joined, counterfeits
    extra = _with_counterfeits(spare, possible, rules.m)
    return (
        np.concatenate((starts, starts[-1] + np.cumsum([len(e) for e, _, _ in extra]))),
        np.concatenate([values, *(e for e, _, _ in extra)]),
        np.concatenate([joined, *(real for _, real, _ in extra)]),
        np.concatenate([counterfeits, *(added for _, _, added in extra)]),
    )


def _with_counterfeits(
    spare: LongArray, possible: BoolArray | None, m: int
) -> list[tuple[LongArray, LongArray, LongArray]]:
    """Return buckets for newcomers beyond the eligible share: others complete the at most m - 1 frequent values."""
    left = spare.copy()
    allowed = np.arange(len(left)) if possible is None else np.flatnonzero(possible)
    out = []
    while (over := np.flatnonzero(left)).size:
        others = allowed[~np.isin(allowed, over)][: max(m - len(over), 0)]
        rounds = int(left[over].min())
        left[over] -= rounds
        values = np.sort(np.concatenate((over, others)))
        real = np.where(np.isin(values, over), rounds, 0)
        out.append((values, real.astype(np.int64), (rounds - real).astype(np.int64)))
    return out


def _settle(
    view: SerialView,
    filling: _Filling,
    pools: list[tuple[BoolArray | None, LongArray]],
    taken: list[LongArray],
    founded: list[tuple[LongArray, LongArray, LongArray, LongArray]],
    slot: IntArray,
    chance: np.random.Generator,
) -> Buckets:
    """Choose which newcomers get the counted slots, at random among those with the same value."""
    starts, values, steps, counterfeits = [filling.starts], [filling.values], [filling.steps], [filling.needs]
    n_slots = len(filling.values)
    for (_, records), take, (new_starts, new_values, joined, added) in zip(pools, taken, founded, strict=True):
        n_new = len(new_values)
        numbers = np.concatenate((np.arange(len(take)), n_slots + np.arange(n_new)))
        _assign(
            view,
            records,
            np.concatenate((filling.values, new_values)),
            np.concatenate((take, joined)),
            numbers,
            slot,
            chance,
        )
        starts.append(new_starts[1:] + n_slots)
        values.append(new_values.astype(np.int32))
        steps.append((joined + added)[new_starts[:-1]])
        counterfeits.append(added)
        n_slots += n_new
    return Buckets(
        np.concatenate(starts).astype(np.int64),
        np.concatenate(values).astype(np.int32),
        np.concatenate(steps).astype(np.int64),
        np.concatenate(counterfeits).astype(np.int64),
        slot,
    )


def _assign(
    view: SerialView,
    records: LongArray,
    values: LongArray,
    take: LongArray,
    numbers: LongArray,
    slot: IntArray,
    chance: np.random.Generator,
) -> None:
    shuffled = chance.permutation(records)
    first, by_value = rows_by_key(view.sensitive[shuffled], view.n_values)
    slot_order = np.argsort(values, kind="stable")
    n_taken = take[slot_order]
    taken_slots = np.repeat(slot_order, n_taken)
    value_of_taken = values[taken_slots]
    first_taken = np.searchsorted(value_of_taken, np.arange(view.n_values))
    rank = np.arange(len(taken_slots)) - first_taken[value_of_taken]
    slot[shuffled[by_value[first[value_of_taken] + rank]]] = numbers[taken_slots]
