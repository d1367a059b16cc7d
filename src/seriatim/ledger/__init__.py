"""The ledger: everything released so far. A catalogue in SQL, bulk in Parquet on a shelf, both in one hash chain."""

from seriatim.ledger.chain import Entry
from seriatim.ledger.shelf import slug_of
from seriatim.ledger.sql_ledger import SqlLedger, open_ledger

__all__ = ["Entry", "SqlLedger", "open_ledger", "slug_of"]
