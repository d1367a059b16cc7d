"""Requests for a record that somebody has asked for already: it leaves once and counts once, however many want it.

Otherwise one harmless record, asked for again and again, would make room for others that reveal a target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

LongArray = npt.NDArray[np.int64]


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

    def __setitem__(self, mark: int, number: int) -> None:
        self._new[mark] = number

    def number_of_mark(self, mark: int) -> int | None:
        found = self._new.get(mark)
        if found is not None:
            return found
        at = int(np.searchsorted(self._marks, mark, side="right")) - 1
        return int(self._order[at]) if at >= 0 and self._marks[at] == mark else None
