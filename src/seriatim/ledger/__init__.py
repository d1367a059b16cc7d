"""The ledger: everything released so far. A catalogue in SQL, bulk in Parquet on a shelf, both in one hash chain."""
