"""Candidates: the values that releases of another method leave possible, for everyone who was in them.

A method that takes over a series cannot call those releases back. What an attacker concludes from them is computed
once, when the series is taken over, and remembered: whoever has one value left is known and protects nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.model.scale import IntArray

BoolArray = npt.NDArray[np.bool_]

CANDIDATES = "candidates"
"""The name under which a ledger remembers them."""


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """Which values are possible for whom; ids and values are texts."""

    respondents: pa.Array
    values: pa.Array
    sets: BoolArray
    """sets[set, value]; the last one allows every value, for people who were in no such release."""
    of_person: IntArray
    """The set of each respondent."""
    until: int
    """The number of the last release of another method."""

    def __repr__(self) -> str:
        return f"Candidates({len(self.respondents)} people, {len(self.sets)} sets, releases up to {self.until})"

    @cached_property
    def sizes(self) -> IntArray:
        """Return how many values each respondent has left."""
        return np.asarray(self.sets.sum(axis=1).astype(np.int32)[self.of_person])

    @property
    def known(self) -> pa.Array:
        """Return the respondents with one value left; an erased one has no id."""
        return self.respondents.filter(pa.array(self.sizes == 1)).drop_null()

    def sets_of(self, people: pa.Array | pa.ChunkedArray) -> IntArray:
        """Return the set of each of these people; the last set for strangers."""
        texts = pc.cast(_plain(people), pa.string())
        place = pc.index_in(texts, value_set=self.respondents, skip_nulls=True).fill_null(-1).to_numpy()
        return np.asarray(np.append(self.of_person, len(self.sets) - 1)[place], dtype=np.int32)

    def flags(self, domain: pa.Array) -> BoolArray:
        """Return the sets over another domain; values that no such release showed are in the last set only."""
        place = pc.index_in(pc.cast(_plain(domain), pa.string()), value_set=self.values).fill_null(-1).to_numpy()
        out = np.column_stack((self.sets, np.zeros(len(self.sets), dtype=np.bool_)))[:, place]
        out[-1] = True
        return np.asarray(out)

    def anew(self, people: pa.Array) -> Self:
        """Return the candidates for a view in which these people hold other values than before: all are possible."""
        changed = pc.is_in(self.respondents, value_set=people).to_numpy(zero_copy_only=False)
        of_person = np.where(changed, len(self.sets) - 1, self.of_person).astype(np.int32)
        return type(self)(self.respondents, self.values, self.sets, of_person, self.until)

    def table(self) -> pa.Table:
        """Return them as a ledger remembers them."""
        names = self.values.to_pylist()
        lists = [[name for name, ok in zip(names, row.tolist(), strict=True) if ok] for row in self.sets]
        sets = pa.array(lists, pa.list_(pa.string())).take(pa.array(self.of_person))
        until = pa.array(np.full(len(self.respondents), self.until, dtype=np.int64))
        return pa.table({"respondent": self.respondents, "possible": sets, "until": until})


def candidates_of(respondents: pa.Array, values: pa.Array, possible: BoolArray, until: int) -> Candidates:
    """Return the candidates of people with these flags, one row each; equal rows become one set."""
    sets, of_person = np.unique(possible, axis=0, return_inverse=True)
    sets = np.vstack((sets.reshape(-1, len(values)), np.ones((1, len(values)), dtype=np.bool_)))
    texts = (pc.cast(_plain(respondents), pa.string()), pc.cast(_plain(values), pa.string()))
    return Candidates(*texts, sets, of_person.reshape(-1).astype(np.int32), until)


def candidates_remembered(table: pa.Table) -> Candidates:
    """Return candidates from what a ledger remembers."""
    lists = table.column("possible").combine_chunks()
    values = pc.unique(lists.flatten())
    owner = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    possible = np.zeros((len(table), len(values)), dtype=np.bool_)
    possible[owner, pc.index_in(lists.flatten(), value_set=values).to_numpy(zero_copy_only=False)] = True
    until = int(pc.max(table.column("until")).as_py() or 0)
    return candidates_of(table.column("respondent").combine_chunks(), values, possible, until)


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(whole.type.value_type) if pa.types.is_dictionary(whole.type) else whole
