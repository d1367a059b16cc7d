"""A writer: the only way to write a release to files."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from seriatim.model.release import Release


class Writer(Protocol):
    """Writes the files of a release into a folder, as CSV or Parquet."""

    def __call__(self, release: Release, folder: Path) -> None: ...
