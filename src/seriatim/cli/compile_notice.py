"""Says when kernels are being compiled: the first use on a machine takes longer, and silence would look like a hang."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

NOTICE = "compiling, once on this machine"


@contextmanager
def compile_notice(say: Callable[[], None]) -> Iterator[None]:
    """Call ``say`` whenever a kernel is compiled inside the block; loading one from the cache does not count."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc, unused-ignore]
        def on_start(self, event: object) -> None:  # noqa: ARG002
            say()

        def on_end(self, event: object) -> None:
            """Do nothing: the next step updates the line."""

    with event.install_listener("numba:compile", Listener()):
        yield
