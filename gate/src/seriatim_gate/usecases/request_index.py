"""Indexes of requests: by id, by what they ask for, and which ask for a record that somebody has asked for already.

A record leaves once and counts once, however many want it: otherwise one harmless record, asked for again and again,
would make room for others that reveal a target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

LongArray = npt.NDArray[np.int64]
Halves = npt.NDArray[np.uint64]


class RepeatedRequests:
    """Requests by number, each with the first one for the same record, and those that their requester took back."""

    def __init__(self) -> None:
        self.first: dict[int, int] = {}
        """The first request for the same record, of each repeated one."""
        self.taken_back: set[int] = set()
        """Requests that look withdrawn though their record did not leave the queue because of it."""
        self._repeats: dict[int, list[int]] = {}
        self._of_token: dict[int, dict[int, int]] = {}

    def __len__(self) -> int:
        return len(self.first)

    def repeat_request(self, number: int, first: int, token: int) -> None:
        """Note that a request is for the same record as an earlier one."""
        self.first[number] = first
        self._repeats.setdefault(first, []).append(number)
        self._of_token.setdefault(token, {})[first] = number

    def repeats_of_token(self, token: int) -> Mapping[int, int]:
        """Return a token's repeated requests by the first for the same record."""
        return self._of_token.get(token, {})

    def wanted_beside(self, number: int, oldest: int) -> bool:
        """Return whether another request from ``oldest`` on still wants the same record."""
        return any(other != number and other >= oldest and other not in self.taken_back for other in self._all(number))

    def _all(self, number: int) -> Iterator[int]:
        first = self.first.get(number, number)
        yield first
        yield from self._repeats.get(first, ())


class NewestByMark:
    """The newest request of each mark: those of the journal in sorted order, later ones in a dictionary."""

    def __init__(self, marks: LongArray) -> None:
        self._order = np.argsort(marks, kind="stable")
        self._marks = marks[self._order]
        self._new: dict[int, int] = {}

    def update(self, more: Mapping[int, int]) -> None:
        """Take the numbers of later requests by their marks."""
        self._new.update(more)

    def number_of_mark(self, mark: int) -> int | None:
        found = self._new.get(mark)
        if found is not None:
            return found
        at = int(np.searchsorted(self._marks, mark, side="right")) - 1
        return int(self._order[at]) if at >= 0 and self._marks[at] == mark else None


class NumbersById:
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
        # halves in sorted order: a dictionary would hold an object for each of millions of ids
        head, tail = np.frombuffer(key, np.uint64)
        at = int(np.searchsorted(self._heads, head))
        # several ids may share their first half
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
