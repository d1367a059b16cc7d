"""The first ledger: a chain of entries, and the catalogue of series, policies and releases."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "entries",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("series", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        sa.Column("circumstance", sa.Text, nullable=False),
        sa.Column("witness", sa.Text, nullable=False),
    )
    op.create_index("entries_of_series", "entries", ["series", "kind"])
    op.create_table(
        "series",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("created", sa.Text, nullable=False),
    )
    op.create_table(
        "policies",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("canonical", sa.Text, nullable=False),
    )
    op.create_table(
        "releases",
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
