"""The lock of one gate's writer, and the files beside a journal: the lock ends with the process that took it."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from pathlib import Path

from sqlalchemy.engine import Connection

from seriatim.errors import JournalHeld
from seriatim.storage.database import Database, held_session


def file_beside(database: Path, purpose: str, name: str) -> Path:
    """Return the file beside a SQLite journal that serves one of its gates."""
    return database.with_name(f"{database.name}-{purpose}-{hashlib.sha256(name.encode()).hexdigest()[:12]}")


class WriterLock:
    """Held until ``close``, or until the process ends."""

    def __init__(self, database: Database, name: str) -> None:
        self._database, self._name = database, name
        self._file: sqlite3.Connection | None = None
        self._session: Connection | None = None

    def take_lock(self, patience: float = 0.0) -> None:
        """Take the lock, trying for ``patience`` seconds; raise JournalHeld if another process has it."""
        until = time.monotonic() + patience
        while not self._try():
            if time.monotonic() >= until:
                raise JournalHeld(f"{self._database.name}: another service writes to this gate; stop it first")
            time.sleep(0.05)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._session is not None:
            self._session.close()
        self._file = self._session = None

    def _try(self) -> bool:
        return self._try_file() if self._database.path is not None else self._try_session()

    def _try_file(self) -> bool:
        assert self._database.path is not None
        path = file_beside(self._database.path, "writer", self._name)
        # only the kind of lock matters: nothing is ever stored in the file
        file = sqlite3.connect(path, isolation_level=None, timeout=0, check_same_thread=False)
        try:
            file.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            file.close()
            return False
        path.chmod(0o600)
        self._file = file
        return True

    def _try_session(self) -> bool:
        self._session = held_session(self._database, self._name)
        return self._session is not None
