"""The file that a table came from: its name and its fingerprint, for the page to sign."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file by name and SHA-256; a table that was never a file has no fingerprint."""

    name: str = "a table in memory"
    sha256: str = ""


def source_file_of(source: Any) -> SourceFile:
    """Return the name and SHA-256 of a file that was read."""
    if not isinstance(source, str | Path):
        return SourceFile()
    with Path(source).open("rb") as file:
        return SourceFile(Path(source).name, hashlib.file_digest(file, "sha256").hexdigest())
