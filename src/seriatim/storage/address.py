"""Where a ledger lies, read from its address without a database library."""

from __future__ import annotations

from pathlib import Path

_SQLITE = "sqlite:///"


def sqlite_file(url: str | Path) -> Path | None:
    """Return the file of a SQLite ledger; None for a server, and for addresses that need a closer look."""
    if not isinstance(url, str | Path):
        return None
    text = str(url)
    if isinstance(url, str) and "://" in url:
        if not url.startswith(_SQLITE) or "?" in url or "%" in url:
            return None
        text = url.removeprefix(_SQLITE)
    return None if text in ("", ":memory:") else Path(text).expanduser().absolute()
