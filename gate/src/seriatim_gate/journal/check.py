"""Checks all of a gate's journal: each digest, packed runs against entries, seals, and heads that were given out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from seriatim.storage.database import faults_inside
from seriatim_gate.journal import chain as journal_chain
from seriatim_gate.journal.chain import NOTHING, SEALED, seal_of, sealed_rows, seals_together, segment_seal
from seriatim_gate.journal.schema import entries, records, segments
from seriatim_gate.journal.writer import packed_entries

_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was checked, and what is wrong."""

    n_entries: int
    n_records: int
    n_heads: int
    """Heads that were looked for."""
    head: str
    faults: tuple[str, ...]

    @property
    def sound(self) -> bool:
        return not self.faults


def inspect_gate(connection: Connection, gate: Row[Any], heads: Iterable[str]) -> Inspection:
    """Check one gate, given its row."""
    sought = set(heads)
    faults = faults_inside(connection)
    n, head, unknown = _check_entries(connection, gate, sought, faults)
    faults += [f"a head that was given out is unknown: {each[:16]}; this is a restored backup" for each in unknown]
    faults += [f"the {what} have changed" for what in SEALED if not sealed_rows(connection, what, gate.gate)[1]]
    n_records = _check_records(connection, gate, faults)
    return Inspection(n, n_records, len(sought), head.hex(), tuple(faults))


def _check_entries(
    connection: Connection, gate: Row[Any], sought: set[str], faults: list[str]
) -> tuple[int, bytes, list[str]]:
    """Follow the chain; return how many entries there are, the last digest, and the heads that are not in it."""
    runs = connection.execute(sa.select(segments).where(segments.c.gate == gate.gate).order_by(segments.c.first)).all()
    waiting, seal, n = list(runs), "", 0
    head = journal_chain.start(gate.name, gate.secret, gate.made_at)
    unknown = sought - {head.hex()}
    query = sa.select(entries).where(entries.c.gate == gate.gate).order_by(entries.c.seq)
    changed, loose = 0, []
    for part in connection.execute(query).partitions(_AT_ONCE):
        for row in part:
            head = journal_chain.link(head, row)
            changed += head != row.chain or row.seq != n
            head, n = row.chain or b"", n + 1
            unknown.discard(head.hex())
            if not waiting:
                continue
            loose.append(row)
            if row.seq == waiting[0].last:
                run = waiting.pop(0)
                if not changed and (
                    run.first != row.seq + 1 - len(loose)
                    or run.packed != packed_entries(loose).tobytes()
                    or run.head != row.chain
                    or segment_seal(seal, run.head, run.packed) != run.digest
                ):
                    faults.append(f"the packed entries from {run.first} on have changed")
                seal, loose = run.digest, []
    if changed:
        faults.append(f"entries that have changed, or do not follow the one before: {changed:,}")
    if waiting:
        faults.append(f"packed entries whose entries are missing: {len(waiting)} runs")
    if n != gate.last or head != gate.head:
        faults.append(f"{n:,} entries, where {gate.last:,} were written; or the last ones have changed")
    return n, head, sorted(unknown)


def _check_records(connection: Connection, gate: Row[Any], faults: list[str]) -> int:
    n, changed, total = 0, 0, NOTHING
    query = sa.select(records.c.respondent, records.c.x, records.c.y, records.c.body, records.c.seal)
    for part in connection.execute(query.where(records.c.gate == gate.gate)).partitions(_AT_ONCE):
        seals = [seal_of(tuple(row[:4])) for row in part]
        changed += sum(seal != row.seal for seal, row in zip(seals, part, strict=True))
        n, total = n + len(part), seals_together(total, seals)
    if changed or total != gate.record_seal:
        faults.append(f"the held records have changed: {changed:,} of {n:,}, or some are missing")
    return n
