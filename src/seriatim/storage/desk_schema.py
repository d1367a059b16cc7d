"""The tables of a desk, as they are at the newest revision. None of them ever holds a cell value."""

from __future__ import annotations

import sqlalchemy as sa

from seriatim.storage.schema import VERSIONS, Revisions

DESK = Revisions("desk", "0003", "desk_version", VERSIONS)
desk_metadata = sa.MetaData()

sessions = sa.Table(
    "sessions",
    desk_metadata,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("until", sa.BigInteger, nullable=False),
)
"""``digest`` is the SHA-256 of the cookie; the cookie itself is nowhere."""

forms = sa.Table(
    "forms",
    desk_metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("place", sa.Text, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
)
"""Forms that were sent: a second click leads to what the first one did."""

jobs = sa.Table(
    "jobs",
    desk_metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("series", sa.Text, nullable=False),
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("words", sa.Text, nullable=False),
    sa.Column("pid", sa.BigInteger, nullable=False),
    sa.Column("started", sa.Text, nullable=False),
    sa.Column("ended", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
)
"""``words`` are those of the command, as a JSON list."""

trail = sa.Table(
    "trail",
    desk_metadata,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("what", sa.Text, nullable=False),
    sa.Column("about", sa.Text, nullable=False),
)
"""Who looked at what, and who changed what."""
