"""Cuts balanced buckets into groups of people who are near each other, with one tuple of each value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.defences.series.contract import LongArray, PlaceArray, SerialView
from seriatim.kernels.arrays import rows_by_key
from seriatim.model.scale import IntArray
from seriatim.ports import Workers
from seriatim_papers.buckets import Buckets
from seriatim_papers.kernels.halves import halve_buckets


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HalvesCut:
    """Tuples are records first, then counterfeits. Each bucket is a block of its slots, one after the other.

    The i-th tuples of a bucket's slots are its i-th group, and groups near each other are neighbours.
    """

    ids: IntArray
    bases: LongArray
    """Where each bucket's block starts."""
    first_group: LongArray
    """Number of each bucket's first group; one more entry for the number of groups."""
    place: PlaceArray
    """The position of each tuple; a counterfeit has that of a random member of its bucket."""
    counterfeit_value: IntArray
    group_of_id: IntArray
    """-1 for a record without a bucket."""

    @property
    def n_groups(self) -> int:
        return int(self.first_group[-1])


def cut_into_halves(view: SerialView, buckets: Buckets, chance: np.random.Generator, workers: Workers) -> HalvesCut:
    """Halve every bucket recursively, large buckets in parallel."""
    sizes = buckets.sizes
    bases = np.concatenate(([0], np.cumsum(sizes * buckets.steps))).astype(np.int64)
    ids, value = _lay_out(view, buckets, bases)
    place = _with_counterfeits(view, buckets, ids, bases, chance)
    parts = shares_of_halves(sizes * buckets.steps, workers.count)

    def halve(share: LongArray) -> None:
        halve_buckets(ids, bases[share], sizes[share], buckets.steps[share], place)

    workers.map(halve, parts)
    first_group = np.concatenate(([0], np.cumsum(buckets.steps))).astype(np.int64)
    return HalvesCut(
        ids=ids,
        bases=bases[:-1],
        first_group=first_group,
        place=place,
        counterfeit_value=value,
        group_of_id=_groups(buckets, ids, first_group, len(place)),
    )


def _lay_out(view: SerialView, buckets: Buckets, bases: LongArray) -> tuple[IntArray, IntArray]:
    """Return every bucket's tuples, slot after slot, and the values of the counterfeits among them."""
    n_slots = len(buckets.values)
    bucket = np.repeat(np.arange(len(buckets.steps)), buckets.sizes)
    slot_at = bases[bucket] + (np.arange(n_slots) - buckets.starts[bucket]) * buckets.steps[bucket]
    starts, rows = rows_by_key(buckets.slot, n_slots)
    real = np.diff(starts)
    ids = np.empty(int(bases[-1]), dtype=np.int32)
    ids[np.repeat(slot_at - starts[:-1], real) + np.arange(len(rows))] = rows
    counterfeits = buckets.counterfeits
    n_counterfeits = int(counterfeits.sum())
    first_counterfeit = np.cumsum(counterfeits) - counterfeits
    at = np.repeat(slot_at + real - first_counterfeit, counterfeits) + np.arange(n_counterfeits)
    ids[at] = len(view) + np.arange(n_counterfeits)
    return ids, np.repeat(buckets.values, counterfeits).astype(np.int32)


def _with_counterfeits(
    view: SerialView, buckets: Buckets, ids: IntArray, bases: LongArray, chance: np.random.Generator
) -> PlaceArray:
    place = view.place()
    n_counterfeits = int(buckets.counterfeits.sum())
    if not n_counterfeits:
        return place
    bucket_of_slot = np.repeat(np.arange(len(buckets.steps)), buckets.sizes)
    bucket = np.repeat(bucket_of_slot, buckets.counterfeits)
    span = (bases[1:] - bases[:-1])[bucket]
    model = ids[bases[bucket] + (chance.random(n_counterfeits) * span).astype(np.int64)]
    # a counterfeit that drew itself lies in the middle; boxes never cover counterfeits
    middle = np.full((n_counterfeits, place.shape[1]), 0.5, dtype=np.float32)
    return np.concatenate((place, np.concatenate((place, middle))[model]))


def shares_of_halves(work: LongArray, workers: int) -> list[LongArray]:
    """Distribute buckets over workers, largest first, so that each has about the same work."""
    loads = np.zeros(max(workers, 1))
    parts: list[list[int]] = [[] for _ in loads]
    for bucket in np.argsort(-work, kind="stable"):
        least = int(loads.argmin())
        loads[least] += work[bucket]
        parts[least].append(int(bucket))
    return [np.array(share, dtype=np.int64) for share in parts if share]


def _groups(buckets: Buckets, ids: IntArray, first_group: LongArray, n_ids: int) -> IntArray:
    group = np.full(n_ids, -1, dtype=np.int32)
    steps, sizes = buckets.steps, buckets.sizes
    slot_step = np.repeat(steps, sizes)
    slot_first = np.repeat(first_group[:-1], sizes)
    begin = np.cumsum(slot_step) - slot_step
    group[ids] = np.repeat(slot_first - begin, slot_step) + np.arange(len(ids))
    return group
