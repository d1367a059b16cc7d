"""Adds entries to one gate's journal, many in one transaction, as its only writer.

Two locks keep others out. The series lock ends with the process, so that a restart need not wait. The epoch in the
table of gates is checked in every transaction: a writer whose lock was lost without its knowing can add nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from seriatim.errors import JournalHeld, LedgerBehind, LedgerDamaged, SeriatimError
from seriatim.storage.database import Database
from seriatim.storage.durable_files import disk_errors, write_durably
from seriatim_gate.journal import chain as journal_chain
from seriatim_gate.journal.chain import seal_of, segment_seal
from seriatim_gate.journal.lock import WriterLock
from seriatim_gate.journal.schema import entries, gates, records, segments
from seriatim_gate.ports import PACKED, JournalEntry, JournalRecord, Past

SEGMENT = 20_000
"""Entries that are packed into one segment."""
_COLUMNS = "gate, seq, kind, at, request, x, y, about, token, mark, n_out, respondent, body, chain"
_SQLITE = f"INSERT INTO entries ({_COLUMNS}) VALUES ({', '.join('?' * 14)})"  # noqa: S608 - constants
_TYPES = (
    "int", "bigint", "smallint", "bigint", "text", "int", "int", "bigint", "int", "bigint", "bigint", "text", "text",
    "bytea",
)  # fmt: skip
_POSTGRESQL = (
    f"INSERT INTO entries ({_COLUMNS}) SELECT * FROM unnest("  # noqa: S608 - constants
    + ", ".join(f"%s::{kind}[]" for kind in _TYPES)
    + ")"
)


class Writer:
    """The only writer of one gate, until ``close`` or the end of the process."""

    def __init__(self, database: Database, name: str, gate: int, patience: float, noted: Path | None) -> None:
        self._database, self._gate = database, gate
        self._lock = WriterLock(database, name)
        self._lock.take_lock(patience)
        self._connection: Connection = database.keep_connection()
        self._file = database.file_identity()
        with database.transaction(self._connection) as connection:
            connection.execute(gates.update().where(gates.c.gate == gate).values(epoch=gates.c.epoch + 1))
            row = connection.execute(sa.select(gates).where(gates.c.gate == gate)).one()
        self._epoch, self._last, self._head = int(row.epoch), int(row.last), row.head
        self._start = journal_chain.start(row.name, row.secret, row.made_at)
        self._noted = NotedHead(database.name, name, noted) if noted is not None else None
        self._packed = 0
        self._loose: list[Past] | None = None
        """Entries that are in no segment yet; None until the past was read."""

    def past(self) -> Sequence[Past]:
        """Return everything that happened so far, in parts: packed segments, then the entries after them."""
        parts: list[Past] = []
        with self._database.transaction(self._connection) as connection:
            self._packed, head, seal = 0, self._start, ""
            query = sa.select(segments).where(segments.c.gate == self._gate).order_by(segments.c.first)
            for row in connection.execute(query):
                if row.first != self._packed or segment_seal(seal, row.head or b"", row.packed) != row.digest:
                    raise LedgerDamaged(f"{self._database.name}: a packed segment has changed; restore a backup")
                parts.append(np.frombuffer(row.packed, PACKED))
                self._packed, head, seal = int(row.last) + 1, row.head, row.digest
            parts.append(self._entries(connection, self._packed, head))
            if self._noted is not None:
                self._noted.check(self._last, lambda at: self._chain_at(connection, at))
        self._loose = parts[-1:]
        return parts

    def append(self, added: Sequence[JournalEntry]) -> None:
        """Put entries on the disk, all or none, and a packed segment when there are enough."""
        if self._loose is None:
            self.past()
        loose, head, chain = self._loose or [], self._head, []
        for e in added:
            head = journal_chain.link(head, e)
            chain.append(head)
        with self._database.transaction(self._connection) as connection:
            moved = (
                gates.update()
                .where(gates.c.gate == self._gate, gates.c.epoch == self._epoch, gates.c.last == self._last)
                .values(last=self._last + len(added), head=head)
            )
            if self._database.file_identity() != self._file:  # an open file can be written to all the same
                raise SeriatimError(f"{self._database.name}: was moved away or replaced; nothing was recorded")
            if connection.execute(moved).rowcount != 1:
                raise JournalHeld(f"{self._database.name}: another service has taken this gate over")
            rows = [
                (self._gate, self._last + i, e.kind, e.at, e.request, e.x, e.y, e.about, e.token, e.mark, e.n_out,
                 e.respondent, e.body, link)
                for i, (e, link) in enumerate(zip(added, chain, strict=True))
            ]  # fmt: skip
            self._insert(connection, rows)
            if full := self._last + len(added) - self._packed >= SEGMENT:
                loose = [self._pack(connection, np.concatenate((*loose, packed_entries(added))))]
        self._last, self._head = self._last + len(added), head
        if self._noted is not None:
            self._noted.note(self._last, head)
        if full:
            self._loose, self._packed = loose, self._packed + SEGMENT
        else:
            loose.append(packed_entries(added))

    def held_records(self, respondents: Sequence[str]) -> Mapping[str, JournalRecord]:
        """Return the records of those people that are held."""
        query = sa.select(records.c.respondent, records.c.x, records.c.y, records.c.body, records.c.seal).where(
            records.c.gate == self._gate, records.c.respondent.in_(respondents)
        )
        with self._database.transaction(self._connection) as connection:
            found = connection.execute(query).all()
        if any(seal_of(tuple(row[:4])) != row.seal for row in found):
            raise LedgerDamaged(f"{self._database.name}: a held record has changed; hold the records again")
        return {row.respondent: JournalRecord(row.x, row.y, row.body) for row in found}

    def close(self) -> None:
        if self._noted is not None:
            self._noted.close()
        self._connection.close()
        self._lock.close()

    def _insert(self, connection: Connection, rows: list[tuple[Any, ...]]) -> None:
        if self._database.path is not None:
            connection.exec_driver_sql(_SQLITE, rows)
        else:
            connection.exec_driver_sql(_POSTGRESQL, tuple(list(column) for column in zip(*rows, strict=True)))

    def _pack(self, connection: Connection, loose: Past) -> Past:
        """Keep the oldest entries that are in no segment as one; return the others."""
        packed, last = loose[:SEGMENT].tobytes(), self._packed + SEGMENT - 1
        before = sa.select(segments.c.digest).where(segments.c.gate == self._gate, segments.c.last == self._packed - 1)
        head = self._chain_at(connection, last) or b""
        made = segments.insert().values(
            gate=self._gate, first=self._packed, last=last, packed=packed, head=head,
            digest=segment_seal(connection.execute(before).scalar() or "", head, packed),
        )  # fmt: skip
        connection.execute(made)
        return loose[SEGMENT:]

    def _entries(self, connection: Connection, first: int, head: bytes) -> Past:
        """Return the entries that are in no segment, each of which must follow from the one before."""
        query = sa.select(entries).where(entries.c.gate == self._gate, entries.c.seq >= first).order_by(entries.c.seq)
        rows = connection.execute(query).all()
        for row in rows:
            head = journal_chain.link(head, row)
            if head != row.chain:
                raise LedgerDamaged(f"{self._database.name}: entry {row.seq} has changed; restore a backup")
        if missing := self._last - first - len(rows):
            raise LedgerDamaged(f"{self._database.name}: entries that are missing: {missing:,}; restore a backup")
        if head != self._head:
            raise LedgerDamaged(f"{self._database.name}: the last entries have changed; restore a backup")
        return packed_entries(rows)

    def _chain_at(self, connection: Connection, seq: int) -> bytes | None:
        """Return the digest of an entry; -1 is before the first."""
        if seq < 0:
            return self._start
        query = sa.select(entries.c.chain).where(entries.c.gate == self._gate, entries.c.seq == seq)
        return connection.execute(query).scalar()


def packed_entries(rows: Sequence[Any]) -> Past:
    """Return entries, or rows of the table with the columns of ``PACKED``, as the gate's state needs them."""
    found = np.zeros(len(rows), PACKED)
    for name in PACKED.names or ():
        column = [getattr(row, name) for row in rows]
        found[name] = _ids(column) if name == "request" else column
    return found


def _ids(column: Sequence[str | None]) -> Past:
    nothing = "0" * 32
    return np.frombuffer(bytes.fromhex("".join(each or nothing for each in column)), "V16")


SCHEMA = "seriatim.gate.head/1"
WIDTH = 1_024
"""Bytes of the file, so that a later note covers an earlier one; a gate's name has at most 200 letters."""


class NotedHead:
    """The file with the newest entry of one gate: a restored backup knows less than its file, and must not go on.

    It is flushed to the disk by the system, so it may be behind the journal, never ahead.
    """

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
