"""Reads a folder of published tables, one file per release ordered by name, as any tool leaves them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from seriatim.errors import Fault, TableError
from seriatim.model.foreign_tables import foreign_without_row_names
from seriatim.model.name_order import name_order
from seriatim.tables.reader import PARQUET, reader_of_numbered

READ = frozenset({".csv", ".tsv", ".txt", *PARQUET})


def read_folder(folder: Path, besides: Path | None = None) -> dict[str, pa.Table]:
    """Return the tables by the stem of their file, ordered by name; numbers in names count by size.

    Hidden files and ``besides`` (the list of respondents, which may be there too) are no releases. Row numbers that R
    and pandas write as a first column are dropped.
    """
    if not folder.is_dir():
        raise TableError(Fault(str(folder), "is not a folder", "a folder with one file per release", "check the path"))
    paths = [path for path in folder.iterdir() if path.suffix.lower() in READ and not path.name.startswith(".")]
    if besides is not None:
        paths = [path for path in paths if path.resolve() != besides.resolve()]
    if not paths:
        raise TableError(
            Fault(str(folder), "holds no table", "CSV or Parquet files, one per release", "check the path")
        )
    twice = [path.stem for path in paths if sum(other.stem == path.stem for other in paths) > 1]
    if twice:
        found = f"{len(twice)} files share a stem"
        raise TableError(Fault(str(folder), found, "one file per release", "keep one format"))
    paths.sort(key=lambda path: (name_order(path.stem), path.stem))
    return {path.stem: foreign_without_row_names(reader_of_numbered(path).data) for path in paths}
