"""A folder of published tables, one file per release in name order, as any tool leaves them behind."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from seriatim.errors import Fault, TableError
from seriatim.tables.reading import PARQUET, read_table

READ = frozenset({".csv", ".tsv", ".txt", *PARQUET})


def read_folder(folder: Path) -> dict[str, pa.Table]:
    """The tables by the stem of their file, in name order."""
    if not folder.is_dir():
        raise TableError(Fault(str(folder), "is not a folder", "a folder with one file per release", "check the path"))
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in READ)
    if not paths:
        raise TableError(
            Fault(str(folder), "holds no table", "CSV or Parquet files, one per release", "check the path")
        )
    twice = [path.stem for path in paths if sum(other.stem == path.stem for other in paths) > 1]
    if twice:
        found = f"{len(twice)} files share a stem"
        raise TableError(Fault(str(folder), found, "one file per release", "keep one format"))
    return {path.stem: read_table(path).data for path in paths}
