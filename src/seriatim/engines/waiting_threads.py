"""Threads that wait for work: starting one takes longer than most pieces of work on a small table.

One that has not begun by the time the work is done is let go at once, so that small work stays in the thread that
asked for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread

Work = Callable[[], None]
_MOST = 32
"""Most threads that wait for work; if more were busy at once, the others end."""


class WaitingThread:
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


_idle: list[WaitingThread] = []
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_idle.clear)  # a child has none of these threads


def lend_to_waiting_thread(work: Work) -> WaitingThread:
    """Have the work, which raises nothing, done by a thread that waits for some, or by a new one."""
    try:
        one = _idle.pop()
    except IndexError:
        return WaitingThread(work)
    one.ask(work)
    return one
