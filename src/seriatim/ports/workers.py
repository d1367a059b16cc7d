"""Workers, and progress of long work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Progress = Callable[[str, float], None]
"""Called with the name of the current step and the share of the whole that is done."""


def no_progress(step: str, share: float) -> None:
    """Ignore progress."""


class Workers(Protocol):
    """Runs independent pieces of work in parallel, with results in order."""

    @property
    def count(self) -> int: ...

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]: ...
