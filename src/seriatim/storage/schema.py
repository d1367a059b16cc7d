"""The tables of the catalogue, as they are at the newest revision."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

HEAD = "0001"
"""The newest revision of a ledger in ``migrations/versions``. Revisions are numbers of four digits, in order."""

VERSION_TABLE = "ledger_version"
VERSIONS = Path(__file__).parent / "migrations" / "versions"

metadata = sa.MetaData()

entries = sa.Table(
    "entries",
    metadata,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("series", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False, unique=True),
    sa.Column("circumstance", sa.Text, nullable=False),
    sa.Column("witness", sa.Text, nullable=False),
    sa.Index("entries_of_series", "series", "kind"),
)
"""The hash chain, append only: what happened, in order. All other tables follow from it."""

series = sa.Table(
    "series",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("secret", sa.LargeBinary, nullable=False),
    sa.Column("created", sa.Text, nullable=False),
)

policies = sa.Table(
    "policies",
    metadata,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("canonical", sa.Text, nullable=False),
)

releases = sa.Table(
    "releases",
    metadata,
    sa.Column("series", sa.Text, primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("epoch", sa.BigInteger, nullable=False),
    sa.Column("policy_digest", sa.Text, nullable=False),
    sa.Column("manifest", sa.Text, nullable=False),
    sa.Column("destination", sa.Text),
    sa.Column("n_published", sa.BigInteger, nullable=False),
    sa.Column("recipients", sa.Text, nullable=False),
    sa.Column("approved_by", sa.Text),
    sa.Column("override", sa.Text),
    sa.Column("reserved_at", sa.Text, nullable=False),
    sa.Column("sealed_at", sa.Text, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Revisions:
    """A schema with its newest revision, and the table that names the revision there is."""

    noun: str
    head: str
    version_table: str
    versions: Path
    """The folder of its revisions."""


LEDGER = Revisions("ledger", HEAD, VERSION_TABLE, VERSIONS)
