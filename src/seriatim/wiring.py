"""The only file that picks concrete adapters: which ledger, which workers, which writer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from seriatim.engines.threads import Threads, threads_for
from seriatim.errors import LedgerMissing
from seriatim.model import Table
from seriatim.ports import Ledger, Progress, Workers, no_progress
from seriatim.storage.durable_files import sqlite_file
from seriatim.tables.formats import written_as
from seriatim.tables.writer import writer_of

if TYPE_CHECKING:
    from seriatim.ledger.sql_ledger import SqlLedger
    from seriatim.usecases.publish.publish import ReleaseParts


_FEW = 5_000
"""So few records are ordered and judged by one thread: a second one mostly waits for the interpreter's lock, and makes
the first also wait for it."""


def wired_workers() -> Workers:
    """Return the threads of this machine."""
    return Threads()


def wired_publishing(
    ledger: Ledger, source: Table, progress: Progress = no_progress, written: str | None = None
) -> ReleaseParts:
    """Return what publishing works with; files are written in the format of the view unless another is named."""
    from seriatim.tables.views import view_of
    from seriatim.usecases.publish.publish import ReleaseParts

    return ReleaseParts(
        ledger=ledger,
        workers=wired_workers(),
        by_record=threads_for(source.data.num_rows, _FEW),
        writer=writer_of(source, written_as(source, written, ("group", "counterfeits"))),
        progress=progress,
        read=view_of,
    )


def wired_ledger(url: str | Path, shelf: str | Path | None = None, create: bool = True) -> SqlLedger:
    """Open a ledger, or make one."""
    from seriatim.ledger.sql_ledger import open_ledger

    return open_ledger(url, shelf, create)


def wired_standing_ledger(url: str | Path, shelf: str | Path | None = None) -> Ledger | None:
    """Return the ledger at an address, without making a new one; None if there is none."""
    path = sqlite_file(url)
    if path is not None and not path.exists():
        return None  # without loading a database library to find that out
    try:
        return wired_ledger(url, shelf, create=False)
    except LedgerMissing:
        return None


def wired_rehearsal() -> Ledger:
    """Return the empty ledger that a release is judged against where none was made yet."""
    from seriatim.ledger.rehearsal import NoLedger

    return NoLedger()


@contextmanager
def wired_scratch_ledger() -> Iterator[Ledger]:
    """Open a real ledger in a temporary folder, for comparisons over several releases."""
    from seriatim.ledger.scratch import ScratchLedger

    with TemporaryDirectory(prefix="seriatim-compare-") as folder:
        made = wired_ledger(Path(folder) / "ledger.db")
        yield ScratchLedger(made.database, made.shelf)


def wired_without_ledger() -> Ledger:
    """Return an empty ledger for comparisons: nothing of them is published, so their chance need not be secret."""
    from seriatim.ledger.rehearsal import NoLedger

    return NoLedger(bytes(32))
