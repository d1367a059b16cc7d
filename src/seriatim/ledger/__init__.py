"""The ledger: everything released so far. A catalogue in SQL, bulk in Parquet on a shelf, both in one hash chain."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seriatim.ledger.chain import ChainEntry
    from seriatim.ledger.shelf import shelf_slug
    from seriatim.ledger.sql_ledger import SqlLedger, open_ledger

# loaded when first asked for: an audit, or a rehearsal without a ledger, must not wait for a database library
_HOMES = {"ChainEntry": "chain", "SqlLedger": "sql_ledger", "open_ledger": "sql_ledger", "shelf_slug": "shelf"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'seriatim.ledger' has no attribute {name!r}")
    value = getattr(import_module(f"seriatim.ledger.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


__all__ = ["ChainEntry", "SqlLedger", "open_ledger", "shelf_slug"]
