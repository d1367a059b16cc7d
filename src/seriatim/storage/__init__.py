"""The database of ledger, desk and, next door, journal: opens, migrates and locks it."""
