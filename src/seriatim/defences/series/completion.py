"""Completing: a group has one row for each value of its signature; where no real record stands, a counterfeit does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.defences.series.contract import LongArray
from seriatim.model.scale import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Seating:
    """Records in groups, before the counterfeits are counted. Signatures are runs of values."""

    group: IntArray
    """Group of each record; negative when it has none."""
    slot: IntArray
    """For each record with a group the position of its value among all signatures' values."""
    signature_of_group: LongArray
    starts: LongArray
    values: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Completed:
    """Groups with a real record each, numbered anew, and the counterfeits that complete them."""

    group: IntArray
    n_groups: int
    counterfeit_group: IntArray
    counterfeit_value: IntArray


def complete(seating: Seating) -> Completed:
    """Groups without a real record vanish; the others get a counterfeit for each value nobody holds."""
    inside = np.flatnonzero(seating.group >= 0)
    group = seating.group[inside]
    alive = np.bincount(group, minlength=len(seating.signature_of_group)) > 0
    number = np.cumsum(alive) - 1
    out = np.full(len(seating.group), -1, dtype=np.int32)
    out[inside] = number[group]
    signature = seating.signature_of_group[alive]
    sizes = (seating.starts[1:] - seating.starts[:-1])[signature]
    first = np.cumsum(sizes) - sizes
    at = np.repeat(seating.starts[signature] - first, sizes) + np.arange(int(sizes.sum()))
    held = np.zeros(len(at), dtype=np.bool_)
    held[first[out[inside]] + seating.slot[inside] - seating.starts[signature[out[inside]]]] = True
    free = np.flatnonzero(~held)
    which = np.searchsorted(first, free, side="right") - 1
    return Completed(out, len(signature), which.astype(np.int32), seating.values[at[free]].astype(np.int32))


def side_by_side(first: Completed, second: Completed) -> Completed:
    """Two groupings of different records of one view as one."""
    group = np.where(second.group >= 0, second.group + first.n_groups, first.group).astype(np.int32)
    return Completed(
        group,
        first.n_groups + second.n_groups,
        np.concatenate((first.counterfeit_group, second.counterfeit_group + first.n_groups)).astype(np.int32),
        np.concatenate((first.counterfeit_value, second.counterfeit_value)),
    )
