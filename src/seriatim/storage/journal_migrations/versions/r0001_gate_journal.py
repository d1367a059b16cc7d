"""The first journal: gates, their baselines, tokens and records, and the entries with packed copies of them."""

from alembic import op

from seriatim.storage.journal_schema import journal_metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    journal_metadata.create_all(op.get_bind())
