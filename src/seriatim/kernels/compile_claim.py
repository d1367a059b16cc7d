"""Who compiles a kernel just now, so that two processes do not do the same work side by side.

A claim is a file beside the compiled kernels with the number of the process that compiles one. Whoever finds the claim
of a living process waits until it is gone. Kernels call each other in one direction only, so nobody waits for somebody
who waits for them. A claim is a courtesy: when it cannot be written, or takes too long, everybody compiles.
"""

from __future__ import annotations

import atexit
import os
import time
from pathlib import Path

PATIENCE = 60.0
"""Seconds after which nobody waits any more: the slowest kernel takes a quarter of that on an idle machine."""


class CompileClaim:
    """The claim on one kernel with one signature, in one folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self) -> bool:
        """Return whether this process is to compile; if not, another one has just done so."""
        if os.name == "nt":
            return True  # there is no harmless way to ask whether a process lives
        until = time.monotonic() + PATIENCE
        waited = False
        while time.monotonic() < until:
            try:
                with self._path.open("x") as file:
                    file.write(str(os.getpid()))
            except FileExistsError:
                if not self._is_held():
                    self._path.unlink(missing_ok=True)
                    continue
                waited = True
                time.sleep(0.02)
            except OSError:
                return True
            else:
                atexit.register(self.leave)
                if waited:
                    self.leave()
                return not waited
        return True

    def leave(self) -> None:
        """Give the claim up; one that somebody else has taken over stays."""
        try:
            if self._path.read_text() == str(os.getpid()):
                self._path.unlink(missing_ok=True)
        except OSError:
            pass

    def _is_held(self) -> bool:
        """Say whether the process that wrote the claim lives, and is not this one."""
        try:
            text = self._path.read_text()
            age = time.time() - self._path.stat().st_mtime
        except OSError:
            return False
        if not text.isdigit():
            return age < 1.0  # it is being written
        if int(text) == os.getpid() or age > 2 * PATIENCE:
            return False
        try:
            os.kill(int(text), 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True
