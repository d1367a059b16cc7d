"""Threads on this machine: the kernels release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Threads:
    """Results come back in order, so the number of workers never changes a result."""

    count: int = field(default_factory=_cores)

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
        if self.count == 1:
            return [work(item) for item in items]
        with ThreadPoolExecutor(self.count) as pool:
            return list(pool.map(work, items))
