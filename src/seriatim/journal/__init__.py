"""Keeps the decisions of gates in SQL: SQLite by default, or PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seriatim.journal.sql_journal import SqlJournal, open_journal


def __getattr__(name: str) -> Any:
    if name in ("SqlJournal", "open_journal"):
        from seriatim.journal import sql_journal

        return getattr(sql_journal, name)
    raise AttributeError(f"module 'seriatim.journal' has no attribute {name!r}")


__all__ = ["SqlJournal", "open_journal"]
