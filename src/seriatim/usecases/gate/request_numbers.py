"""Numbers of requests by their ids: what the journal held in sorted order, what came since in a dictionary.

A dictionary of a million ids takes a restart longer to fill than all else that the journal's entries need.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seriatim.ports.journal import Past

Ids = npt.NDArray[np.void]


class RequestNumbers:
    """A number for each id of 16 bytes."""

    def __init__(self) -> None:
        self._new: dict[bytes, int] = {}
        self._read: list[tuple[Past, int]] = []
        """Ids of the journal that are not sorted yet, each run with the number of its first."""
        self._ids: Ids = np.empty(0, "V16")
        self._numbers: npt.NDArray[np.int64] = np.empty(0, np.int64)
        """Of each of ``_ids``."""
        self._heads: npt.NDArray[np.uint64] = np.empty(0, np.uint64)
        """The first half of each id, in rising order."""
        self._order: npt.NDArray[np.int64] = np.empty(0, np.int64)
        """Where the id of each of ``_heads`` stands."""

    def __contains__(self, key: bytes) -> bool:
        return self.number_of(key) is not None

    def __setitem__(self, key: bytes, number: int) -> None:
        self._new[key] = number

    def read_numbers(self, ids: Past, first: int) -> None:
        """Take a run of ids from the journal, numbered from ``first`` on; found after ``sort_numbers``."""
        self._read.append((ids, first))

    def number_of(self, key: bytes) -> int | None:
        """Return the number of an id, if it has one."""
        found = self._new.get(key)
        if found is not None:
            return found
        head = np.frombuffer(key, np.uint64, 1)[0]
        at = int(np.searchsorted(self._heads, head))
        while at < len(self._heads) and self._heads[at] == head:
            if self._ids[self._order[at]].tobytes() == key:
                return int(self._numbers[self._order[at]])
            at += 1
        return None

    def sort_numbers(self) -> None:
        """Make everything that was read findable."""
        if not self._read:
            return
        runs = [(self._ids, self._numbers)]
        runs += [(ids, np.arange(first, first + len(ids))) for ids, first in self._read]
        self._ids = np.concatenate([ids for ids, _ in runs])
        self._numbers = np.concatenate([numbers for _, numbers in runs])
        heads = np.ascontiguousarray(self._ids.view(np.uint64)[::2])
        self._order = np.argsort(heads)
        self._heads, self._read = heads[self._order], []
