"""Names of files in messages."""

from __future__ import annotations

from pathlib import Path


def printable_file_name(path: Path | str) -> str:
    """Return a path with a question mark for whatever a terminal cannot show, such as half a character."""
    return "".join(mark if mark.isprintable() else "?" for mark in str(path))
