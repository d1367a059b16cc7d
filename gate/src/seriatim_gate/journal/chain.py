"""The chain of a gate's journal: each entry's digest covers the entry and the digest before it.

What may change (baselines, tokens, held records) has seals instead: digests that are written with each change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from seriatim.errors import LedgerDamaged
from seriatim_gate.journal.schema import baselines, gates, tokens

_covered = attrgetter("kind", "at", "request", "x", "y", "about", "token", "mark", "n_out", "respondent", "body")
NOTHING = b"\0" * 32
"""The seal of no records."""
_text = json.JSONEncoder(separators=(",", ":"), default=repr).encode


def start(name: str, secret: bytes, made_at: int) -> bytes:
    """Return what the first entry of a gate follows."""
    return seal_of(("seriatim.gate.journal/1", name, bytes(secret).hex(), made_at))


def link(before: bytes, entry: Any) -> bytes:
    """Return the digest of an entry, or of its row, after the digest of the one before."""
    return hashlib.sha256(before + _text(_covered(entry)).encode()).digest()


def seal_of(fields: Sequence[Any]) -> bytes:
    """Return the digest of a row, or of rows."""
    return hashlib.sha256(_text(fields).encode()).digest()


def seals_together(before: bytes, seals: Iterable[bytes]) -> bytes:
    """Return one seal of many, whatever their order."""
    total = int.from_bytes(before) + sum(int.from_bytes(each) for each in seals)
    return (total % (1 << 256)).to_bytes(32)


def segment_seal(before: str, head: bytes, packed: bytes) -> str:
    """Return the digest of a packed run of entries that ends at ``head``, after the digest of the run before."""
    return hashlib.sha256(before.encode() + head + packed).hexdigest()


SEALED = {"baselines": (baselines, gates.c.baseline_seal), "tokens": (tokens, gates.c.token_seal)}


def sealed_rows(connection: Connection, what: str, gate: int) -> tuple[Sequence[Row[Any]], bool]:
    """Return a gate's baselines or tokens by number, and whether they are as they were written."""
    table, seal = SEALED[what]
    rows = connection.execute(sa.select(table).where(table.c.gate == gate).order_by(table.c.number)).all()
    written = connection.execute(sa.select(seal).where(gates.c.gate == gate)).scalar()
    return rows, seal_of([tuple(row) for row in rows]) == written


def checked_rows(connection: Connection, what: str, gate: int) -> Sequence[Row[Any]]:
    """Return a gate's baselines or tokens by number; raise LedgerDamaged if they are not as they were written."""
    rows, as_written = sealed_rows(connection, what, gate)
    if not as_written:
        raise LedgerDamaged(f"the journal's {what} have changed; restore a backup")
    return rows


def write_seal(connection: Connection, what: str, gate: int) -> None:
    table, seal = SEALED[what]
    rows = connection.execute(sa.select(table).where(table.c.gate == gate).order_by(table.c.number)).all()
    connection.execute(gates.update().where(gates.c.gate == gate).values({seal: seal_of([tuple(row) for row in rows])}))
