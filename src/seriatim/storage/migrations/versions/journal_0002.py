"""The first journal: gates, their baselines, tokens and records, and the chain of entries with packed copies of them.

Its number is 0002 because revisions of ledger and journal count together.
"""

from alembic import op

revision = "0002"
down_revision = None


def upgrade() -> None:
    # alembic reads every revision, also for a ledger, which has no use for these tables
    from seriatim.storage.journal_schema import journal_metadata

    journal_metadata.create_all(op.get_bind())
