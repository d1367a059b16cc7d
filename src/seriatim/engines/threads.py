"""Threads on this machine: the kernels release the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar, cast

from seriatim.engines.waiting_threads import lend_to_waiting_thread
from seriatim.kernels.cores import n_cores

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Threads:
    """Results come back in order, so the number of workers never changes a result."""

    count: int = field(default_factory=n_cores)

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Do the work in this thread and as many others as there are cores; raise the first item's error, if any."""
        waiting = list(items)
        done: list[R | None] = [None] * len(waiting)
        left, failed = iter(range(len(waiting))), dict[int, BaseException]()

        def take() -> None:
            for place in left:  # one step of it is one step of the interpreter: no item is taken twice
                try:
                    done[place] = work(waiting[place])
                except BaseException as error:  # noqa: BLE001 - raised when the others have stopped
                    failed[place] = error
                if failed:
                    return

        others = [lend_to_waiting_thread(take) for _ in range(min(self.count, len(waiting)) - 1)]
        take()
        for other in others:
            other.take_back()
        if failed:
            raise failed[min(failed)]
        return cast(list[R], done)
