"""Adds entries to one gate's journal, many in one transaction, as its only writer.

Two locks keep others out. The series lock ends with the process, so that a restart need not wait. The epoch in the
table of gates is checked in every transaction: a writer whose lock was lost without its knowing can add nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from seriatim.errors import JournalHeld, LedgerDamaged, SeriatimError
from seriatim.ports.journal import PACKED, JournalEntry, JournalRecord, Past
from seriatim.storage.database import Database
from seriatim.storage.journal_schema import entries, gates, records, segments
from seriatim.storage.series_lock import SeriesLock

SEGMENT = 50_000
"""Entries that are packed into one segment."""
_COLUMNS = "gate, seq, kind, at, request, x, y, about, token, mark, n_out, respondent, body"
_SQLITE = f"INSERT INTO entries ({_COLUMNS}) VALUES ({', '.join('?' * 13)})"  # noqa: S608 - constants
_TYPES = (
    "int", "bigint", "smallint", "bigint", "text", "int", "int", "bigint", "int", "bigint", "bigint", "text", "text",
)  # fmt: skip
_POSTGRESQL = (
    f"INSERT INTO entries ({_COLUMNS}) SELECT * FROM unnest("  # noqa: S608 - constants
    + ", ".join(f"%s::{kind}[]" for kind in _TYPES)
    + ")"
)


class SqlJournalWriter:
    """The only writer of one gate, until ``close`` or the end of the process."""

    def __init__(self, database: Database, name: str, gate: int, patience: float) -> None:
        self._database, self._gate = database, gate
        self._lock = SeriesLock(database, name)
        self._lock.take_lock(patience)
        self._connection: Connection = database.keep_connection()
        self._file = database.file_identity()
        with database.transaction(self._connection) as connection:
            connection.execute(gates.update().where(gates.c.gate == gate).values(epoch=gates.c.epoch + 1))
            row = connection.execute(sa.select(gates.c.epoch, gates.c.last).where(gates.c.gate == gate)).one()
        self._epoch, self._last = int(row.epoch), int(row.last)
        self._packed = 0
        self._loose: list[Past] | None = None
        """Entries that are in no segment yet; None until the past was read."""

    def past(self) -> Sequence[Past]:
        """Return everything that happened so far, in parts: packed segments, then the entries after them."""
        parts: list[Past] = []
        with self._database.transaction(self._connection) as connection:
            self._packed = 0
            query = sa.select(segments).where(segments.c.gate == self._gate).order_by(segments.c.first)
            for row in connection.execute(query):
                if row.first != self._packed or hashlib.sha256(row.packed).hexdigest() != row.digest:
                    raise LedgerDamaged(f"{self._database.name}: a packed segment has changed; restore a backup")
                parts.append(np.frombuffer(row.packed, PACKED))
                self._packed = int(row.last) + 1
            parts.append(self._entries(connection, self._packed))
        self._loose = parts[-1:]
        missing = self._last - sum(map(len, parts))
        if missing:
            raise LedgerDamaged(f"{self._database.name}: entries that are missing: {missing:,}; restore a backup")
        return parts

    def append(self, added: Sequence[JournalEntry]) -> None:
        """Put entries on the disk, all or none, and a packed segment when there are enough."""
        if self._loose is None:
            self.past()
        loose = self._loose or []
        with self._database.transaction(self._connection) as connection:
            moved = (
                gates.update()
                .where(gates.c.gate == self._gate, gates.c.epoch == self._epoch, gates.c.last == self._last)
                .values(last=self._last + len(added))
            )
            if self._database.file_identity() != self._file:  # an open file can be written to all the same
                raise SeriatimError(f"{self._database.name}: was moved away or replaced; nothing was recorded")
            if connection.execute(moved).rowcount != 1:
                raise JournalHeld(f"{self._database.name}: another service has taken this gate over")
            rows = [
                (self._gate, self._last + i, e.kind, e.at, e.request, e.x, e.y, e.about, e.token, e.mark, e.n_out,
                 e.respondent, e.body)
                for i, e in enumerate(added)
            ]  # fmt: skip
            self._insert(connection, rows)
            if full := self._last + len(added) - self._packed >= SEGMENT:
                loose = [self._pack(connection, np.concatenate((*loose, _packed(added))))]
        self._last += len(added)
        if full:
            self._loose, self._packed = loose, self._packed + SEGMENT
        else:
            loose.append(_packed(added))

    def held_records(self, respondents: Sequence[str]) -> Mapping[str, JournalRecord]:
        """Return the records of those people that are held."""
        query = sa.select(records.c.respondent, records.c.x, records.c.y, records.c.body).where(
            records.c.gate == self._gate, records.c.respondent.in_(respondents)
        )
        with self._database.transaction(self._connection) as connection:
            return {row.respondent: JournalRecord(row.x, row.y, row.body) for row in connection.execute(query)}

    def close(self) -> None:
        self._connection.close()
        self._lock.close()

    def _insert(self, connection: Connection, rows: list[tuple[Any, ...]]) -> None:
        if self._database.path is not None:
            connection.exec_driver_sql(_SQLITE, rows)
        else:
            connection.exec_driver_sql(_POSTGRESQL, tuple(list(column) for column in zip(*rows, strict=True)))

    def _pack(self, connection: Connection, loose: Past) -> Past:
        """Keep the oldest entries that are in no segment as one; return the others."""
        packed = loose[:SEGMENT].tobytes()
        made = segments.insert().values(
            gate=self._gate, first=self._packed, last=self._packed + SEGMENT - 1, packed=packed,
            digest=hashlib.sha256(packed).hexdigest(),
        )  # fmt: skip
        connection.execute(made)
        return loose[SEGMENT:]

    def _entries(self, connection: Connection, first: int) -> Past:
        query = sa.select(*(entries.c[name] for name in PACKED.names or ())).where(
            entries.c.gate == self._gate, entries.c.seq >= first
        )
        return _packed(connection.execute(query.order_by(entries.c.seq)).all())


def _packed(rows: Sequence[Any]) -> Past:
    """Return entries, or rows of the table with the columns of ``PACKED``, as the gate's state needs them."""
    found = np.zeros(len(rows), PACKED)
    for name in PACKED.names or ():
        column = [getattr(row, name) for row in rows]
        found[name] = _ids(column) if name == "request" else column
    return found


def _ids(column: Sequence[str | None]) -> Past:
    nothing = "0" * 32
    return np.frombuffer(bytes.fromhex("".join(each or nothing for each in column)), "V16")
