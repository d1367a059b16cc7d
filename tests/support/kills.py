"""Kills that count what the victim has done, never seconds: under load a child may take any time to begin."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable

from support.fork import forked

TURNS = 5
"""A victim is killed after 0 to 4 things that it did, in turn."""
LONGEST = 5.0
"""Seconds after which the kill falls, however long the last thing took."""


class Killer:
    """Kills children at random moments of what they do after so many things done."""

    def __init__(self, chance: random.Random) -> None:
        self._chance, self._turn, self._took = chance, 0, 0.0

    def kill(self, work: Callable[[Callable[[], None]], None]) -> None:
        """Fork ``work``, which calls what it is handed whenever it has done something, and kill it."""
        heard, said = os.pipe()
        child = forked(lambda: work(lambda: _tell(said)))
        os.close(said)
        for _ in range(self._turn % TURNS):
            begin = time.monotonic()
            assert os.read(heard, 1), "the victim ended by itself"
            self._took = time.monotonic() - begin
        self._turn += 1
        time.sleep(min(self._chance.uniform(0.0, 1.2 * self._took), LONGEST))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(heard)


def _tell(said: int) -> None:
    os.write(said, b"x")
