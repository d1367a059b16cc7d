"""Threads for figures that are called directly from Python, where nobody handed workers over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from seriatim.kernels.cores import n_cores

T = TypeVar("T")
R = TypeVar("R")


class OwnThreads:
    """``ports.Workers`` of a figure of its own; a use case passes the workers that it has instead."""

    @property
    def count(self) -> int:
        return n_cores()

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Do the work on all cores, with results in order; one piece alone needs no other thread."""
        waiting = list(items)
        if len(waiting) < 2:
            return [work(item) for item in waiting]
        with ThreadPoolExecutor(self.count) as pool:
            return list(pool.map(work, waiting))


OWN_THREADS = OwnThreads()
