"""Output whose reader may leave early, as ``| head -1`` does: the rest is dropped, the exit code stays as it was."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

TYPE_CHECKING = False  # as typing has it, which takes longer to load than the help page takes to show
if TYPE_CHECKING:
    from typing import Any, TextIO


class ClosedPipe:
    """A text stream that goes on in silence once nobody reads it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._leave()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._leave()

    def _leave(self) -> None:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Ignore BrokenPipeError on standard output, including the final flush."""
    stream = sys.stdout
    if stream is None:
        yield
        return
    sys.stdout = ClosedPipe(stream)
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        finally:
            sys.stdout = stream


def print_what_warned() -> None:
    """Show our own warnings on a line each on standard error, others as Python does."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **further: Any) -> None:
        if category.__module__.startswith("seriatim."):
            print(f"note: {message}", file=sys.stderr)  # noqa: T201
        else:
            usual(message, category, *where, **further)

    warnings.showwarning = show
