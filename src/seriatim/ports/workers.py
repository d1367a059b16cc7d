"""Workers and watchers of long work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Progress = Callable[[str, float], None]
"""Called with the name of the step under way and the share done of the whole."""


def no_progress(step: str, share: float) -> None:
    """For callers who do not watch."""


class Workers(Protocol):
    """Runs independent pieces of work side by side, results in order."""

    @property
    def count(self) -> int: ...

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]: ...
