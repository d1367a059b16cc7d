"""Which tables a database is to have: the ledger's, or those of a gate's journal. Each has its own revisions."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.storage.schema import HEAD, VERSION_TABLE


@dataclass(frozen=True, slots=True)
class Revisions:
    """A schema with its newest revision, the table that names the revision there is, and the folder of migrations."""

    noun: str
    head: str
    version_table: str
    folder: str


LEDGER = Revisions("ledger", HEAD, VERSION_TABLE, "migrations")
JOURNAL = Revisions("journal", "0002", "journal_version", "journal_migrations")
