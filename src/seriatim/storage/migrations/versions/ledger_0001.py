"""The first ledger: a chain of entries, and the catalogue of series, policies and releases."""

from alembic import op

from seriatim.storage.schema import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    metadata.create_all(op.get_bind())
