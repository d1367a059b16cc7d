"""What alembic runs: on the connection it is handed, inside the transaction that is open there."""

from alembic import context

from seriatim.storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=context.config.attributes["kind"].version_table,
)
with context.begin_transaction():
    context.run_migrations()
