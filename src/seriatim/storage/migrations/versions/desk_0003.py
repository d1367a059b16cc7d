"""The first desk: sessions, forms, jobs and the trail. Revisions of ledger, gate's journal and desk count together."""

from alembic import op

revision = "0003"
down_revision = None


def upgrade() -> None:
    # alembic reads every revision, also for a ledger, which has no use for these tables
    from seriatim.storage.desk_schema import desk_metadata

    desk_metadata.create_all(op.get_bind())
