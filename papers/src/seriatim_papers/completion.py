"""Completes groups: one row for each value of the signature, a counterfeit where no record holds it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seriatim.defences.series.contract import LongArray
from seriatim.model.scale import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class GroupsToComplete:
    """Records in groups, before counterfeits are counted. Signatures are runs of values."""

    group: IntArray
    """The group of each record; negative if it has none."""
    slot: IntArray
    """The position among all signatures' values of each record's value, for records with a group."""
    signature_of_group: LongArray
    starts: LongArray
    values: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class CompletedGroups:
    """Groups with at least one record each, renumbered, and the counterfeits that complete them."""

    group: IntArray
    n_groups: int
    counterfeit_group: IntArray
    counterfeit_value: IntArray


def complete_groups(assigned: GroupsToComplete) -> CompletedGroups:
    """Drop groups without a record, and add a counterfeit to the others for each value that nobody holds."""
    inside = np.flatnonzero(assigned.group >= 0)
    group = assigned.group[inside]
    alive = np.bincount(group, minlength=len(assigned.signature_of_group)) > 0
    number = np.cumsum(alive) - 1
    out = np.full(len(assigned.group), -1, dtype=np.int32)
    out[inside] = number[group]
    signature = assigned.signature_of_group[alive]
    sizes = (assigned.starts[1:] - assigned.starts[:-1])[signature]
    first = np.cumsum(sizes) - sizes
    at = np.repeat(assigned.starts[signature] - first, sizes) + np.arange(int(sizes.sum()))
    held = np.zeros(len(at), dtype=np.bool_)
    held[first[out[inside]] + assigned.slot[inside] - assigned.starts[signature[out[inside]]]] = True
    free = np.flatnonzero(~held)
    which = np.searchsorted(first, free, side="right") - 1
    return CompletedGroups(out, len(signature), which.astype(np.int32), assigned.values[at[free]].astype(np.int32))


def join_completions(first: CompletedGroups, second: CompletedGroups) -> CompletedGroups:
    """Join two groupings of different records of one view."""
    group = np.where(second.group >= 0, second.group + first.n_groups, first.group).astype(np.int32)
    return CompletedGroups(
        group,
        first.n_groups + second.n_groups,
        np.concatenate((first.counterfeit_group, second.counterfeit_group + first.n_groups)).astype(np.int32),
        np.concatenate((first.counterfeit_value, second.counterfeit_value)),
    )
