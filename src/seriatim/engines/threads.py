"""Threads on this machine, for everyone who has independent work: the kernels release the interpreter's lock.

Threads wait for work: starting one takes longer than most pieces of work on a small table. One that has not begun by
the time the work is done is let go at once, so that small work stays in the thread that asked for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar, cast

from seriatim.kernels import n_cores

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[], None]
FEW = 20_000
"""So few records are read before a second thread has begun."""
_MOST = 32
"""Most threads that wait for work; if more were busy at once, the others end."""


class _Waiting:
    """A thread that does one piece of work after another."""

    def __init__(self, first: Work) -> None:
        self._asked, self._done = SimpleQueue[Work | None](), SimpleQueue[None]()
        self._asked.put(first)
        Thread(target=self._serve, daemon=True).start()  # nobody waits for it when the process ends

    def ask(self, work: Work) -> None:
        self._asked.put(work)

    def take_back(self) -> None:
        """Wait for the work to end, or take it back if it has not begun."""
        try:
            self._asked.get_nowait()
        except Empty:
            self._done.get()
        if len(_idle) < _MOST:
            _idle.append(self)
        else:
            self._asked.put(None)

    def _serve(self) -> None:
        while (work := self._asked.get()) is not None:
            work()
            del work  # what it holds is not kept while the thread waits
            self._done.put(None)


_idle: list[_Waiting] = []
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_idle.clear)  # a child has none of these threads


def _lent(work: Work) -> _Waiting:
    """Have the work, which raises nothing, done by a thread that waits for some, or by a new one."""
    try:
        one = _idle.pop()
    except IndexError:
        return _Waiting(work)
    one.ask(work)
    return one


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

        others = [_lent(take) for _ in range(min(self.count, len(waiting)) - 1)]
        take()
        for other in others:
            other.take_back()
        if failed:
            raise failed[min(failed)]
        return cast(list[R], done)


ALL_CORES = Threads()
"""For figures that are called directly from Python, where nobody hands workers over."""


def threads_for(n_records: int, few: int = FEW) -> Threads:
    """Return one thread for a few records, which are done before a second one has begun, else all cores."""
    return Threads(1) if n_records <= few else ALL_CORES
