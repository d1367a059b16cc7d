"""The first desk: sessions, forms, jobs and the trail. Revisions of ledger, journal and desk count together."""

from alembic import op

from seriatim.storage.desk_schema import desk_metadata

revision = "0003"
down_revision = None


def upgrade() -> None:
    desk_metadata.create_all(op.get_bind())
