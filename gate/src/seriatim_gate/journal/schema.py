"""The tables of a gate's journal.

A gate is a series of entries, append only; everything else about its state follows from them and its baselines.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from seriatim.storage.schema import Revisions

JOURNAL = Revisions("journal", "0002", "journal_version", Path(__file__).with_name("versions"))
journal_metadata = sa.MetaData()

gates = sa.Table(
    "gates",
    journal_metadata,
    sa.Column("gate", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("epoch", sa.BigInteger, nullable=False),
    sa.Column("last", sa.BigInteger, nullable=False),
    sa.Column("secret", sa.LargeBinary, nullable=False),
    sa.Column("made_at", sa.BigInteger, nullable=False),
    sa.Column("head", sa.LargeBinary),
    sa.Column("baseline_seal", sa.LargeBinary),
    sa.Column("token_seal", sa.LargeBinary),
    sa.Column("record_seal", sa.LargeBinary),
)
"""``epoch`` counts writers: only the newest may add entries. ``last`` is how many there are, and ``head`` the newest
one's digest."""

baselines = sa.Table(
    "baselines",
    journal_metadata,
    sa.Column("gate", sa.Integer, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("rules", sa.Text, nullable=False),
    sa.Column("report", sa.Text, nullable=False),
    sa.Column("made_at", sa.BigInteger, nullable=False),
)
"""``rules`` are the tests, their level and critical values; ``report`` is the replay that was made beforehand."""

entries = sa.Table(
    "entries",
    journal_metadata,
    sa.Column("gate", sa.Integer, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.SmallInteger, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("request", sa.Text),
    sa.Column("x", sa.Integer, nullable=False),
    sa.Column("y", sa.Integer, nullable=False),
    sa.Column("about", sa.BigInteger, nullable=False),
    sa.Column("token", sa.Integer, nullable=False),
    sa.Column("mark", sa.BigInteger, nullable=False),
    sa.Column("n_out", sa.BigInteger, nullable=False),
    sa.Column("respondent", sa.Text),
    sa.Column("body", sa.Text),
    sa.Column("chain", sa.LargeBinary),
    sqlite_with_rowid=False,
)
"""``chain`` is the entry's digest, after the one before. ``request`` is the id of a new request, else null; ``about``
names another entry or a baseline. ``n_out`` is how many records had left after it: a replay must find the same."""

segments = sa.Table(
    "segments",
    journal_metadata,
    sa.Column("gate", sa.Integer, primary_key=True),
    sa.Column("first", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("last", sa.BigInteger, nullable=False),
    sa.Column("packed", sa.LargeBinary, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("head", sa.LargeBinary),
)
"""Packed copies of runs of entries, for a fast start. ``head`` is the digest of the last entry."""

tokens = sa.Table(
    "tokens",
    journal_metadata,
    sa.Column("gate", sa.Integer, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("digest", sa.Text, nullable=False, unique=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("respondents", sa.Text),
    sa.Column("quota", sa.Integer),
    sa.Column("made_at", sa.BigInteger, nullable=False),
    sa.Column("revoked_at", sa.BigInteger),
)
"""``digest`` is the SHA-256 of the token; the token itself is nowhere."""

records = sa.Table(
    "records",
    journal_metadata,
    sa.Column("gate", sa.Integer, primary_key=True),
    sa.Column("respondent", sa.Text, primary_key=True),
    sa.Column("x", sa.Integer, nullable=False),
    sa.Column("y", sa.Integer, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("seal", sa.LargeBinary),
    sqlite_with_rowid=False,
)
"""The records that requesters may ask for; ``body`` is what leaves, as JSON."""
