"""What a gate answers: one decision per request, or the outcome of many requests at once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

LongArray = npt.NDArray[np.int64]
State = Literal["released", "waiting", "refused", "withdrawn", "expired"]
STATES: tuple[State, ...] = ("waiting", "released", "refused", "refused", "withdrawn")
"""As the kernels number them."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one request. ``reason`` says why a request was refused; it never names a test or a value."""

    state: State
    freed: tuple[Hashable, ...] = ()
    """Ids that left the queue because of this request, in the order they left."""
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What became of a list of requests, by position in the list."""

    released: LongArray
    """In the order of release."""
    waiting: LongArray
    """Oldest first."""
    refused: LongArray
    released_at: LongArray
    """For each released position the position of the request that was being answered."""
    counts: LongArray
    """Return the counts, |X| x |Y|, of what was released."""

    @property
    def delays(self) -> LongArray:
        """Return how many requests each released record waited for; 0 left immediately."""
        return self.released_at - self.released
