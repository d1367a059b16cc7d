"""Names the classes that break a promise: the first few by number, worst first, for a steward to look up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import numpy.typing as npt

NAMED = 10
_named: ContextVar[int | None] = ContextVar("named", default=NAMED)


@contextmanager
def worst_classes_all_named() -> Iterator[None]:
    """Name all broken classes, not the first few: for private lists."""
    before = _named.set(None)
    try:
        yield
    finally:
        _named.reset(before)


def worst_classes(broken: npt.NDArray[np.bool_], badness: npt.NDArray[np.float64]) -> tuple[int, ...]:
    """Return the numbers of broken classes, from the largest ``badness`` down; ties in the order of first records."""
    numbers = np.flatnonzero(broken)
    order = np.argsort(-badness[numbers], kind="stable")
    return tuple(int(c) for c in numbers[order[: _named.get()]])
