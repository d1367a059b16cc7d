"""The database below ledger and journal: opened, brought to the newest revision, and locked."""
