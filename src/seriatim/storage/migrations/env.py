"""What alembic runs: on the connection it is handed, inside the transaction that is open there."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table=context.config.attributes["kind"].version_table,
)
with context.begin_transaction():
    context.run_migrations()
