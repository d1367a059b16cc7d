"""A chain of digests over a journal's entries, and seals of what stands beside them."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from seriatim.storage import journal_chain
from seriatim.storage.journal_chain import LINKED, NOTHING, SEALED, seal_of, seals_together, segment_seal, write_seal
from seriatim.storage.journal_schema import entries, gates, records, segments

revision = "0002"
down_revision = "0001"
_ADDED = {
    "gates": ("head", "baseline_seal", "token_seal", "record_seal"),
    "entries": ("chain",),
    "segments": ("head",),
    "records": ("seal",),
}


def upgrade() -> None:
    connection = op.get_bind()
    if "head" in {column["name"] for column in sa.inspect(connection).get_columns("gates")}:
        return  # the first revision made the tables as they are now
    for table, columns in _ADDED.items():
        for column in columns:
            op.add_column(table, sa.Column(column, sa.LargeBinary))
    op.drop_index("entries_by_request", "entries")
    for gate in connection.execute(sa.select(gates)).all():
        _chain(connection, gate)
        total = NOTHING
        query = sa.select(records.c.respondent, records.c.x, records.c.y, records.c.body)
        for row in connection.execute(query.where(records.c.gate == gate.gate)).all():
            seal = seal_of(tuple(row))
            total = seals_together(total, [seal])
            own = (records.c.gate == gate.gate, records.c.respondent == row.respondent)
            connection.execute(records.update().where(*own).values(seal=seal))
        connection.execute(gates.update().where(gates.c.gate == gate.gate).values(record_seal=total))
        for what in SEALED:
            write_seal(connection, what, gate.gate)


def _chain(connection: sa.Connection, gate: sa.Row[Any]) -> None:
    head, seal = journal_chain.start(gate.name, gate.secret, gate.made_at), ""
    runs = {row.last: row for row in connection.execute(sa.select(segments).where(segments.c.gate == gate.gate))}
    for seq in range(gate.last):
        own = (entries.c.gate == gate.gate, entries.c.seq == seq)
        row = connection.execute(sa.select(entries).where(*own)).one()
        head = journal_chain.link(head, [getattr(row, name) for name in LINKED])
        connection.execute(entries.update().where(*own).values(chain=head))
        if seq in runs:
            seal = segment_seal(seal, head, runs[seq].packed)
            ends = (segments.c.gate == gate.gate, segments.c.last == seq)
            connection.execute(segments.update().where(*ends).values(head=head, digest=seal))
    connection.execute(gates.update().where(gates.c.gate == gate.gate).values(head=head))
