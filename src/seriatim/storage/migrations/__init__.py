"""How a ledger grows from one revision to the next; alembic runs it, and is imported only then."""
