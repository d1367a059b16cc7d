"""The first journal: gates, their baselines, tokens and records, and the chain of entries with packed copies of them.

Its number is 0002 because revisions of ledger and journal count together.
"""

from alembic import op

from seriatim_gate.journal.schema import journal_metadata

revision = "0002"
down_revision = None


def upgrade() -> None:
    journal_metadata.create_all(op.get_bind())
