"""The memory of a series: what every person ever published has shown so far.

It is made from the rows that the ledger keeps of each release and from nothing else, so it can always be made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seriatim.defences.serial import BoolArray, LongArray
from seriatim.kernels.search.remembering import by_key, distinct_values, number_sets, remember_groups
from seriatim.model.scale import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """The rows of one release as the ledger keeps them; person is -1 for a counterfeit."""

    person: LongArray
    group: IntArray
    value: IntArray
    lineage: LongArray | None = None
    slot: LongArray | None = None
    """Lineages only: lasting numbers of the lineage and of the place in it."""

    @property
    def n_groups(self) -> int:
        return int(self.group.max()) + 1 if len(self.group) else 0


class Memory:
    """Signature, value, publications and distinct groups of every person; grows by :meth:`remember`.

    A group that is republished unchanged keeps its number, so a person's places are the distinct groups he was in.
    """

    def __init__(self) -> None:
        self.n_releases = 0
        self.value = np.empty(0, dtype=np.int32)
        self.signature = np.empty(0, dtype=np.int32)
        """Number of the signature a person was published with; -1 for nobody published yet."""
        self.publications = np.empty(0, dtype=np.int32)
        self.n_places = np.empty(0, dtype=np.int32)
        self.places = np.empty((0, 4), dtype=np.int32)
        """Numbers of the distinct groups a person was in, the latest last."""
        self.n_groups = 0
        self.group_real = np.empty(0, dtype=np.int32)
        self.group_size = np.empty(0, dtype=np.int32)
        self.member_starts = np.zeros(1, dtype=np.int64)
        self._members = np.empty(0, dtype=np.int32)
        self._group_in = np.full((4, 0), -1, dtype=np.int32)
        self.signature_starts = np.zeros(1, dtype=np.int64)
        self.signature_values = np.empty(0, dtype=np.int32)

    @property
    def n_people(self) -> int:
        return len(self.value)

    @property
    def members(self) -> IntArray:
        """The people of each lasting group, from ``member_starts`` on."""
        return self._members[: int(self.member_starts[-1])]

    @property
    def group_in(self) -> IntArray:
        """group_in[release, person]: the number of everyone's group in each release, -1 for none; there is room for
        more people than there are."""
        return self._group_in[: self.n_releases]

    def known(self, person: LongArray) -> BoolArray:
        """Who of these was published before, in any release."""
        return np.asarray(self.look_up(self.signature, person, -1) >= 0)

    def look_up(self, column: IntArray, person: LongArray, missing: int) -> IntArray:
        """A person's entry, or ``missing`` for people the memory has no row for."""
        out = np.full(len(person), missing, dtype=column.dtype)
        inside = person < len(column)
        out[inside] = column[person[inside]]
        return out

    def expect(self, pasts: Sequence[Published]) -> None:
        """Make room for these releases at once, so that remembering them one by one copies little."""
        people = max((int(past.person.max(initial=-1)) + 1 for past in pasts), default=0)
        self._make_room_for_people(people)
        if not self.n_releases:
            self.n_places = np.zeros(self.n_people, dtype=np.int32)
            self.places = np.full((self.n_people, len(pasts) + 1), -1, dtype=np.int32)
            self._group_in = np.full((max(len(pasts), 4), self.n_people), -1, dtype=np.int32)
        self._make_room(people, sum(past.n_groups for past in pasts))

    def remember(self, past: Published) -> None:
        """Add one release, the next in order."""
        self._make_room(int(past.person.max(initial=-1)) + 1, past.n_groups)
        starts, rows = by_key(past.group, past.n_groups)
        lasting = remember_groups(
            starts, rows, past.person, self.places, self.n_places, self.group_real, self.group_size, self.n_groups
        )
        self._remember_members(past, starts, rows, lasting)
        self.n_groups = max(self.n_groups, int(lasting.max(initial=-1)) + 1)
        self._remember_people(past, starts, rows)

    def remember_values(self, past: Published) -> None:
        """The same for a method that asks what people showed, never with whom: groups are not kept."""
        self._make_room_for_people(int(past.person.max(initial=-1)) + 1)
        self._remember_people(past, *by_key(past.group, past.n_groups))

    def _remember_people(self, past: Published, starts: LongArray, rows: IntArray) -> None:
        self._remember_signatures(past, starts, rows)
        real = past.person >= 0
        self.publications[past.person[real]] += 1
        self.value[past.person[real]] = past.value[real]
        self.n_releases += 1

    def _remember_members(self, past: Published, starts: LongArray, rows: IntArray, lasting: LongArray) -> None:
        real = past.person >= 0
        self._group_in[self.n_releases, past.person[real]] = lasting[past.group[real]]
        fresh = rows[np.repeat(lasting >= self.n_groups, np.diff(starts))]
        fresh = fresh[real[fresh]]
        sizes = np.bincount(lasting[past.group[fresh]] - self.n_groups)
        filled = int(self.member_starts[-1])
        self.member_starts = np.concatenate((self.member_starts, filled + np.cumsum(sizes)))
        if filled + len(fresh) > len(self._members):
            wider = np.empty(max(2 * len(self._members), filled + len(fresh)), dtype=np.int32)
            wider[:filled] = self._members[:filled]
            self._members = wider
        self._members[filled : filled + len(fresh)] = past.person[fresh]

    def _remember_signatures(self, past: Published, starts: LongArray, rows: IntArray) -> None:
        new_starts, new_values = distinct_values(starts, rows, past.value)
        n_old = len(self.signature_starts) - 1
        all_starts = np.concatenate((self.signature_starts, self.signature_starts[-1] + new_starts[1:]))
        all_values = np.concatenate((self.signature_values, new_values))
        numbers, first = number_sets(all_starts, all_values)
        real = past.person >= 0
        self.signature[past.person[real]] = numbers[n_old + past.group[real]]
        added = first[n_old:]
        sizes = all_starts[added + 1] - all_starts[added]
        self.signature_starts = np.concatenate((self.signature_starts, self.signature_starts[-1] + np.cumsum(sizes)))
        at = np.repeat(all_starts[added] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        self.signature_values = np.concatenate((self.signature_values, all_values[at]))

    def _make_room(self, n_people: int, n_groups: int) -> None:
        self._make_room_for_people(n_people)
        more = self.n_people - len(self.n_places)
        if more > 0:
            self.n_places = np.concatenate((self.n_places, np.zeros(more, dtype=np.int32)))
            self.places = np.concatenate((self.places, np.full((more, self.places.shape[1]), -1, dtype=np.int32)))
        self._make_room_for_groups()
        if self.n_places.max(initial=0) == self.places.shape[1]:
            self.places = np.concatenate((self.places, np.full_like(self.places, -1)), axis=1)
        room = self.n_groups + n_groups - len(self.group_real)
        if room > 0:
            self.group_real = np.concatenate((self.group_real, np.zeros(room, dtype=np.int32)))
            self.group_size = np.concatenate((self.group_size, np.zeros(room, dtype=np.int32)))

    def _make_room_for_people(self, n_people: int) -> None:
        more = n_people - self.n_people
        if more > 0:
            self.value = np.concatenate((self.value, np.full(more, -1, dtype=np.int32)))
            self.signature = np.concatenate((self.signature, np.full(more, -1, dtype=np.int32)))
            self.publications = np.concatenate((self.publications, np.zeros(more, dtype=np.int32)))

    def _make_room_for_groups(self) -> None:
        """Room for half as many people again and twice the releases, so that a long series is rarely copied."""
        releases, people = self._group_in.shape
        if self.n_people <= people and self.n_releases < releases:
            return
        releases = 2 * releases if self.n_releases == releases else releases
        people = self.n_people + self.n_people // 2 if self.n_people > people else people
        wider = np.full((releases, people), -1, dtype=np.int32)
        wider[: self.n_releases, : self._group_in.shape[1]] = self._group_in[: self.n_releases]
        self._group_in = wider
