"""The database of ledger and journal: opens, migrates and locks it."""
