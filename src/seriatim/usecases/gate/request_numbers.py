"""Numbers of requests by their ids: what the journal held in sorted order, what came since in a dictionary.

A dictionary of a million ids takes a restart longer to fill than all else that the journal's entries need.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Halves = npt.NDArray[np.uint64]


class RequestNumbers:
    """A number for each id of 16 bytes."""

    def __init__(self) -> None:
        self._new: dict[bytes, int] = {}
        self._heads: Halves = np.empty(0, np.uint64)
        """The first half of each id that was read, in rising order."""
        self._tails: Halves = np.empty(0, np.uint64)
        """The second half of each id that was read, by number."""
        self._order: npt.NDArray[np.int64] = np.empty(0, np.int64)
        """The number of each of ``_heads``."""

    def __contains__(self, key: bytes) -> bool:
        return self.number_of(key) is not None

    def __setitem__(self, key: bytes, number: int) -> None:
        self._new[key] = number

    def number_of(self, key: bytes) -> int | None:
        """Return the number of an id, if it has one."""
        found = self._new.get(key)
        if found is not None:
            return found
        head, tail = np.frombuffer(key, np.uint64)
        at = int(np.searchsorted(self._heads, head))
        while at < len(self._heads) and self._heads[at] == head:
            number = int(self._order[at])
            if self._tails[number] == tail:
                return number
            at += 1
        return None

    def read_numbers(self, heads: Halves, tails: Halves) -> None:
        """Take the halves of all ids that the journal holds; their numbers are their places."""
        self._order, self._tails = np.argsort(heads), tails
        self._heads = heads[self._order]
