"""The newest entry of a journal, noted in a file outside the database after each transaction.

A restored backup knows less than its file, and must not go on: what left since would be counted no more.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from seriatim.errors import LedgerBehind, LedgerDamaged
from seriatim.storage.durable_files import disk_errors, write_durably

SCHEMA = "seriatim.gate.head/1"
WIDTH = 1_024
"""Bytes of the file, so that a later note covers an earlier one; a gate's name has at most 200 letters."""


class NotedHead:
    """The file of one gate. It is flushed to the disk by the system, so it may be behind the journal, never ahead."""

    def __init__(self, journal: str, gate: str, path: Path) -> None:
        self._journal, self._gate, self._path = journal, gate, path
        self._file: BinaryIO | None = None

    def check(self, last: int, chain_at: Callable[[int], bytes | None]) -> None:
        """Raise LedgerBehind unless the journal knows the noted entry; make the file where there is none."""
        with disk_errors(self._path):
            if not self._path.exists():
                head = chain_at(last - 1) or b""
                write_durably(self._path, self._line(last, head))
            noted, head = self.read()
            if chain_at(noted - 1) != head:
                raise LedgerBehind(
                    f"{self._journal}: not the journal that {self._path.name} knows, which had {noted:,} entries; this "
                    f"one has {last:,}: restore a newer backup. To go on without what is missing, remove that file"
                )
            self.close()
            self._file = self._path.open("r+b", buffering=0)

    def note(self, last: int, head: bytes) -> None:
        if self._file is not None:
            self._file.seek(0)
            self._file.write(self._line(last, head))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def _line(self, last: int, head: bytes) -> bytes:
        told = {"schema": SCHEMA, "gate": self._gate, "entries": last, "head": head.hex()}
        return json.dumps(told, ensure_ascii=False).encode().ljust(WIDTH - 1) + b"\n"

    def read(self) -> tuple[int, bytes]:
        """Return how many entries were noted, and the digest of the last one."""
        try:
            if not self._path.is_file():  # a pipe or a device never ends
                raise ValueError
            with self._path.open("rb") as file:
                told = json.loads(file.read(WIDTH))
            if (told["schema"], told["gate"]) != (SCHEMA, self._gate):
                raise ValueError
            return int(told["entries"]), bytes.fromhex(told["head"])
        except (KeyError, TypeError, ValueError):
            raise LedgerDamaged(
                f"{self._path}: not the noted head of this gate; name another file, or remove it if it is broken"
            ) from None
