"""Reads a folder of published tables, one file per release ordered by name, as any tool leaves them.

A release may be two files: people with their ``group``, and the values of each group (buckets). Its values are in
``NAME-values.csv`` beside ``NAME.csv``, or in ``values.csv`` beside ``table.csv`` in a folder of its own, as
``seriatim publish --out`` leaves releases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from seriatim.errors import Fault, TableError
from seriatim.model.draft import TABLE, VALUES
from seriatim.model.foreign_tables import without_row_names
from seriatim.model.names import name_order
from seriatim.model.own_tables import folder_of_column
from seriatim.tables.files import read_numbered_table
from seriatim.tables.formats import FORMATS, is_plain

READ = frozenset(ending for one in FORMATS if one.word != "sql" for ending in one.endings)
_OF_VALUES = re.compile(r"^(?P<name>.+)[-_. ]values$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class FolderTables:
    """The published tables by name, in order; the values of those that are buckets."""

    tables: dict[str, pa.Table]
    values: dict[str, pa.Table] = field(default_factory=dict)

    @property
    def column_names(self) -> list[str]:
        """Return every column once; those of values come last."""
        every = (*self.tables.values(), *self.values.values())
        return list(dict.fromkeys(name for table in every for name in table.column_names))


def read_folder(folder: Path, besides: Path | None = None, sensitive: str | None = None) -> FolderTables:
    """Return the tables by the stem of their file, ordered by name; numbers in names count by size.

    ``sensitive`` chooses the table where each sensitive column has one of its own.

    Hidden files and ``besides`` (the list of respondents, which may be there too) are no releases. Row numbers that R
    and pandas write as a first column are dropped.
    """
    if not folder.is_dir():
        raise TableError(Fault(str(folder), "is not a folder", "a folder with one file per release", "check the path"))
    paths = _tables_in(folder, besides) or _tables_below(folder, sensitive)
    if not paths:
        raise TableError(
            Fault(str(folder), "holds no table", "CSV or Parquet files, one per release", "check the path")
        )
    names = [name for name, _ in paths]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        found = f"{len(twice)} files share a stem"
        raise TableError(Fault(str(folder), found, "one file per release", "keep one format"))
    paths.sort(key=lambda path: (name_order(path[0]), path[0]))
    read = {name: without_row_names(read_numbered_table(path).data) for name, path in paths}
    owner = {name: matched["name"] for name in read if (matched := _OF_VALUES.match(name)) and matched["name"] in read}
    tables = {name: table for name, table in read.items() if name not in owner}
    return FolderTables(tables, {owner[name]: table for name, table in read.items() if name in owner})


def _tables_in(folder: Path, besides: Path | None) -> list[tuple[str, Path]]:
    found = [path for path in folder.iterdir() if path.suffix.lower() in READ and not path.name.startswith(".")]
    kept = found if besides is None else [path for path in found if path.resolve() != besides.resolve()]
    plain = {path.stem for path in kept if is_plain(path)}  # a release has its table as CSV beside any other format
    return [(path.stem, path) for path in kept if is_plain(path) or path.stem not in plain]


def _tables_below(folder: Path, sensitive: str | None) -> list[tuple[str, Path]]:
    """Return the files of releases that have a folder each, by the name of the folder."""
    paths: list[tuple[str, Path]] = []
    for release in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        public = release / "public" if (release / "public").is_dir() else release
        files = dict(_tables_in(_own_table(public, sensitive), None))
        if TABLE in files:
            paths.append((release.name, files[TABLE]))
            paths += [(f"{release.name}-{VALUES}", files[VALUES])] if VALUES in files else []
    return paths


def _own_table(public: Path, sensitive: str | None) -> Path:
    """Return the folder of a column's own table, as the codebook says; the folder itself if there is one table."""
    codebook = public / "codebook.json"
    try:
        return public / folder_of_column(codebook.read_bytes(), str(public), sensitive)
    except (OSError, ValueError, AttributeError):
        return public  # no codebook of ours
