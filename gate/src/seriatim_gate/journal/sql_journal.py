"""Gates in a database: their baselines and records. Entries are added by a ``Writer`` alone."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from seriatim.errors import Fault, InputError, LedgerDamaged
from seriatim.model.names import visible_text
from seriatim.storage.database import Database, open_database
from seriatim_gate.journal import chain as journal_chain
from seriatim_gate.journal.chain import NOTHING, checked_rows, seal_of, seals_together, write_seal
from seriatim_gate.journal.lock import file_beside
from seriatim_gate.journal.schema import JOURNAL, baselines, entries, gates, records
from seriatim_gate.journal.tokens import TokenBook
from seriatim_gate.ports import JournalRecord, JournalToken, StoredBaseline

if TYPE_CHECKING:
    from seriatim_gate.journal.check import Inspection
    from seriatim_gate.journal.writer import Writer

_AT_ONCE = 5_000
_ASKED_AT_ONCE = 500


def open_journal(url: str | Path, create: bool = False) -> SqlJournal:
    """Open a journal at a path, sqlite:///file or postgresql://server/database."""
    return SqlJournal(open_database(url, create, JOURNAL))


@dataclass(frozen=True, slots=True)
class SqlJournal:
    """Several gates, each with its own entries, baselines, tokens and records."""

    database: Database

    def add_baseline(self, gate: str, version: str, content: str, rules: str, report: str) -> StoredBaseline:
        """Store the next version of a gate's baseline; the first one makes the gate."""
        now = _journal_clock()
        with self.database.writing() as connection:
            number = self._make(connection, gate, now)
            before = checked_rows(connection, "baselines", number)
            made = StoredBaseline(len(before) + 1, version, content, rules, report)
            connection.execute(
                baselines.insert().values(
                    gate=number, number=made.number, version=version, content=content, rules=rules, report=report,
                    made_at=now,
                )
            )  # fmt: skip
            write_seal(connection, "baselines", number)
        return made

    def baselines(self, gate: str) -> tuple[StoredBaseline, ...]:
        """Return every version, oldest first; a gate that was never made has none."""
        with self.database.reading() as connection:
            number = self._find(connection, gate)
            found = [] if number is None else checked_rows(connection, "baselines", number)
        return tuple(StoredBaseline(row.number, row.version, row.content, row.rules, row.report) for row in found)

    def names(self) -> tuple[str, ...]:
        """Return the gates in the order in which they were made."""
        with self.database.reading() as connection:
            return tuple(connection.execute(sa.select(gates.c.name).order_by(gates.c.gate)).scalars())

    def secret(self, gate: str) -> bytes:
        """Return the gate's secret, by which batches are shuffled."""
        with self.database.reading() as connection:
            number = self.must_find(connection, gate)
            return bytes(connection.execute(sa.select(gates.c.secret).where(gates.c.gate == number)).scalar_one())

    def hold_records(self, gate: str, held: Iterable[tuple[str, JournalRecord]]) -> int:
        """Replace the records that requesters may ask for; return how many there are."""
        rest, n, sealed = iter(held), 0, NOTHING
        with self.database.writing() as connection:
            number = self.must_find(connection, gate)
            connection.execute(records.delete().where(records.c.gate == number))
            while part := list(islice(rest, _AT_ONCE)):
                seals = [seal_of((who, one.x, one.y, one.body)) for who, one in part]
                rows = [
                    {"gate": number, "respondent": who, "x": one.x, "y": one.y, "body": one.body, "seal": seal}
                    for (who, one), seal in zip(part, seals, strict=True)
                ]
                connection.execute(records.insert(), rows)
                n, sealed = n + len(rows), seals_together(sealed, seals)
            connection.execute(gates.update().where(gates.c.gate == number).values(record_seal=sealed))
        return n

    def counts_records(self, gate: str) -> int:
        with self.database.reading() as connection:
            number = self.must_find(connection, gate)
            counted = sa.select(sa.func.count()).select_from(records).where(records.c.gate == number)
            return int(connection.execute(counted).scalar_one())

    def counts_unknown_records(self, gate: str) -> int:
        """Return how many held records can never leave: a cell is empty, or the baseline does not know it."""
        with self.database.reading() as connection:
            number = self.must_find(connection, gate)
            unknown = sa.or_(records.c.x < 0, records.c.y < 0)
            counted = sa.select(sa.func.count()).select_from(records).where(records.c.gate == number, unknown)
            return int(connection.execute(counted).scalar_one())

    def bodies(self, gate: str, places: Sequence[int]) -> Mapping[int, tuple[str, str]]:
        """Return respondent and body of entries by their place in the journal, from 0, each checked by its digest."""
        found: dict[int, tuple[str, str]] = {}
        with self.database.reading() as connection:
            own = self._row(connection, gate)
            start = journal_chain.start(own.name, own.secret, own.made_at)
            for first in range(0, len(places), _ASKED_AT_ONCE):
                wanted = [int(place) for place in places[first : first + _ASKED_AT_ONCE]]
                query = sa.select(entries).where(
                    entries.c.gate == own.gate,
                    entries.c.seq.in_({*wanted, *(place - 1 for place in wanted)}),
                )
                rows = {row.seq: row for row in connection.execute(query)}
                for place in wanted:
                    row, before = rows.get(place), rows[place - 1].chain if place - 1 in rows else start
                    if row is None or journal_chain.link(before, row) != row.chain:
                        raise LedgerDamaged(f"{self.database.name}: entry {place} has changed; restore a backup")
                    found[place] = (row.respondent or "", row.body or "{}")
        return found

    def head(self, gate: str, place: int) -> str:
        """Return the digest of the entry at a place; that of none is empty."""
        with self.database.reading() as connection:
            query = sa.select(entries.c.chain).where(
                entries.c.gate == self.must_find(connection, gate), entries.c.seq == place
            )
            return (connection.execute(query).scalar() or b"").hex()

    def verify(self, gate: str, heads: Iterable[str] = (), head: Path | None = None) -> Inspection:
        """Recompute every digest, and look for heads: those given out with what left, and the one that was noted."""
        from seriatim_gate.journal.check import inspect_gate
        from seriatim_gate.journal.writer import NotedHead

        path = head or self._head_beside(gate)
        if path is not None and path.exists():
            heads = [*heads, NotedHead(self.database.name, gate, path).read()[1].hex()]
        with self.database.reading() as connection:
            return inspect_gate(connection, self._row(connection, gate), heads)

    @property
    def token_book(self) -> TokenBook:
        return TokenBook(self.database, self.must_find)

    def tokens(self, gate: str) -> Mapping[str, JournalToken]:
        """Return tokens by the SHA-256 of each, revoked ones too."""
        return self.token_book.all(gate)

    def writer(self, gate: str, patience: float = 0.0, head: Path | None = None) -> Writer:
        """Become the only writer of a gate. Raise JournalHeld if there is another.

        ``head`` is the file that is told the newest entry: one beside a SQLite journal if it is omitted.
        """
        from seriatim_gate.journal.writer import Writer

        with self.database.reading() as connection:
            number = self.must_find(connection, gate)
        return Writer(self.database, gate, number, patience, head or self._head_beside(gate))

    def _head_beside(self, gate: str) -> Path | None:
        return None if self.database.path is None else file_beside(self.database.path, "head", gate)

    def _row(self, connection: Connection, gate: str) -> Row[Any]:
        number = self.must_find(connection, gate)
        return connection.execute(sa.select(gates).where(gates.c.gate == number)).one()

    def must_find(self, connection: Connection, gate: str) -> int:
        """Return the gate's number; raise InputError if it was never made."""
        number = self._find(connection, gate)
        if number is None:
            remedy = "run seriatim gate replay with --journal and --gate first"
            raise InputError(Fault("gate", "the journal has no such gate", "", remedy))
        return number

    def _find(self, connection: Connection, gate: str) -> int | None:
        return connection.execute(sa.select(gates.c.gate).where(gates.c.name == gate)).scalar()

    def _make(self, connection: Connection, gate: str, now: int) -> int:
        visible_text("gate", gate)
        number = self._find(connection, gate)
        if number is None:
            secret = secrets.token_bytes(32)
            made = gates.insert().values(
                name=gate, epoch=0, last=0, secret=secret, made_at=now, head=journal_chain.start(gate, secret, now),
                baseline_seal=seal_of([]), token_seal=seal_of([]), record_seal=NOTHING,
            )  # fmt: skip
            number = int(connection.execute(made.returning(gates.c.gate)).scalar_one())
        return number


def _journal_clock() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
