"""Columns of a large table are worked on side by side; reading cells releases the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

FEW = 20_000
"""So few records are read before a second thread has begun."""
Item = TypeVar("Item")
Made = TypeVar("Made")


def side_by_side(work: Callable[[Item], Made], items: Iterable[Item], n_records: int) -> list[Made]:
    """Return what ``work`` makes of each item, in order: one after another for a few records, else in two threads."""
    if n_records <= FEW:
        return [work(item) for item in items]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, items))
