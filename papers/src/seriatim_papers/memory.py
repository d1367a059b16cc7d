"""The memory of a series: what the people of a view showed in all earlier releases, and with whom.

It is built only from the rows that the ledger keeps of each release, and only for the people of one view: entry i is
about the view's record i. People who are no longer there count in the groups they were in, and have no entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from seriatim.defences.series.contract import BoolArray, LongArray
from seriatim.defences.series.memory import RememberedRows
from seriatim.kernels.arrays import rows_by_key
from seriatim.model.scale import IntArray
from seriatim_papers.kernels.memory import (
    MemoryGroups,
    MemoryMeetings,
    MemoryRows,
    distinct_in_memory,
    look_back_in_memory,
    meet_in_memory,
    number_memory_sets,
)


class _Shown(NamedTuple):
    value: IntArray
    signature: IntArray
    publications: IntArray
    signature_starts: LongArray
    signature_values: IntArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Memory:
    """Value, signature and publications of everyone in a view."""

    n_releases: int
    value: IntArray
    """-1 for a newcomer."""
    signature: IntArray
    """Number of the signature a person was last published with; -1 for a newcomer."""
    publications: IntArray
    signature_starts: LongArray
    signature_values: IntArray

    @classmethod
    def of(cls, pasts: Sequence[RememberedRows], person: LongArray) -> Self:
        """Return what these people showed in these releases, oldest first; -1 for a record without a person."""
        return cls(n_releases=len(pasts), **_shown(pasts, _own(person), len(person))._asdict())

    @property
    def known(self) -> BoolArray:
        """Return who was published before, in any release."""
        return np.asarray(self.signature >= 0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GroupMemory(Memory):
    """The memory, with the groups that the people of a view were in.

    A group that is republished unchanged keeps its number, so ``past_groups`` has the distinct groups a person was in.
    Groups with nobody in the view have no members.
    """

    past_groups: IntArray
    """Numbers of the distinct groups a person was in, latest last."""
    n_past_groups: IntArray
    last_group: IntArray
    """The number of the group each person was in last; -1 for newcomers."""
    group_in: IntArray
    """group_in[release, i]: the number of everyone's group in each release, -1 for none."""
    group_real: IntArray
    group_size: IntArray
    """The real people and all rows of each group, whether they are in the view or not."""
    member_starts: LongArray
    members: IntArray
    """The people of each group who are in the view, starting at ``member_starts``."""

    @classmethod
    def of(cls, pasts: Sequence[RememberedRows], person: LongArray) -> Self:
        own, n = _own(person), len(person)
        shown = _shown(pasts, own, n)
        past_groups = np.full((n, max(int(shown.publications.max(initial=0)), 1)), -1, dtype=np.int32)
        n_past_groups, last_group = np.zeros(n, dtype=np.int32), np.full(n, -1, dtype=np.int32)
        group_in = np.full((len(pasts), n), -1, dtype=np.int32)
        room = sum(past.n_groups for past in pasts)
        real, size = np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int32)
        key, starts = np.zeros(room, dtype=np.uint64), np.zeros(room + 1, dtype=np.int64)
        members = np.empty(int(shown.publications.sum()), dtype=np.int32)
        n_groups = 0
        groups = MemoryGroups(real, size, key, starts, members)
        for past, at in zip(pasts, group_in, strict=True):
            release = MemoryRows(*rows_by_key(past.group, past.n_groups), _int32(past.person))
            n_groups = meet_in_memory(
                release, own, MemoryMeetings(past_groups, n_past_groups, last_group, at), groups, n_groups
            )
        filled = int(starts[n_groups])
        return cls(
            n_releases=len(pasts),
            **shown._asdict(),
            past_groups=past_groups,
            n_past_groups=n_past_groups,
            last_group=last_group,
            group_in=group_in,
            group_real=real[:n_groups],
            group_size=size[:n_groups],
            member_starts=starts[: n_groups + 1],
            members=members[:filled],
        )

    @property
    def n_groups(self) -> int:
        return len(self.group_size)


def _int32(person: LongArray | IntArray) -> IntArray:
    return np.asarray(person, dtype=np.int32)


def _own(person: LongArray) -> IntArray:
    """Return for every number up to the largest its record in the view, -1 for none."""
    own = np.full(int(person.max(initial=-1)) + 1, -1, dtype=np.int32)
    named = np.flatnonzero(person >= 0)
    own[person[named]] = named
    return own


def _shown(pasts: Sequence[RememberedRows], own: IntArray, n: int) -> _Shown:
    """Return what each person was last published with. Reads the newest release first: it has most people."""
    publications = np.zeros(n, dtype=np.int32)
    value, release_of, row_of = (np.full(n, -1, dtype=np.int32) for _ in range(3))
    starts, values, owners, groups, n_sets = [np.zeros(1, dtype=np.int64)], [], [], [], 0
    for release, past in reversed(list(enumerate(pasts))):
        if not look_back_in_memory(_int32(past.person), own, release, release_of, row_of, publications):
            continue
        who = np.flatnonzero(release_of == release)
        value[who] = past.value[row_of[who]]
        wanted, group = np.unique(past.group[row_of[who]], return_inverse=True)
        new_starts, new_values = distinct_in_memory(*rows_by_key(past.group, past.n_groups), past.value, wanted)
        groups.append(group + n_sets)
        n_sets += len(wanted)
        starts.append(new_starts[1:] + starts[-1][-1])
        values.append(new_values)
        owners.append(who)
    signature = np.full(n, -1, dtype=np.int32)
    if not owners:
        return _Shown(value, signature, publications, starts[0], np.empty(0, dtype=np.int32))
    all_starts, all_values = np.concatenate(starts), np.concatenate(values)
    numbers, first = number_memory_sets(all_starts, all_values)
    signature[np.concatenate(owners)] = numbers[np.concatenate(groups)]
    sizes = np.diff(all_starts)[first]
    kept = np.concatenate(([0], np.cumsum(sizes)))
    at = np.repeat(all_starts[first] - kept[:-1], sizes) + np.arange(int(kept[-1]))
    return _Shown(value, signature, publications, kept, all_values[at])
