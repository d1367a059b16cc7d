"""Writes tables: the same kind that came in, generalised columns as text."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.model import Release, Table
from seriatim.tables.codes import code_texts
from seriatim.tables.formats import WRITTEN, FileFormat

_BATCH = 1 << 17
_EXACT = 1 << 53
# a spreadsheet runs a cell that starts like this, unless it is merely a number
_RESPONDENT = "respondent"
"""Empty beside counterfeits; an id stays a whole number."""
_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"
_NUMBER = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"


def in_kind_of_source(table: pa.Table, source: Table, kept: tuple[str, ...]) -> Any:
    """Return the table as the kind of frame its source was: ``kept`` columns as they were, all others as text."""
    table = pa.table([_given(table, name, name in kept) for name in table.column_names], names=table.column_names)
    there = set(table.column_names)
    kept = tuple(
        name
        for name in kept
        if name in there and not _became_text(table, source, name) and not _became_wider(table, source, name)
    )
    if source.kind == "pandas":
        return _like_pandas(table, source, kept)
    if source.kind == "polars":
        return _like_polars(table, source, kept)
    for name in set(kept) & set(source.dtypes or {}):
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(name).cast((source.dtypes or {})[name]))
    return table


def _became_text(table: pa.Table, source: Table, name: str) -> bool:
    """Return whether a column became text because an earlier release showed values of another type."""
    now, before = (_plain_type(each.schema.field(name).type) for each in (table, source.data))
    return _is_text(now) and not _is_text(before)


def _became_wider(table: pa.Table, source: Table, name: str) -> bool:
    """Return whether whole numbers have another type than they came in: noise made some that theirs cannot hold."""
    now, before = table.schema.field(name).type, source.data.schema.field(name).type
    return bool(pat.is_integer(now) and pat.is_integer(before) and now != before)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pat.is_string(kind) or pat.is_large_string(kind) or pat.is_string_view(kind))


def _given(table: pa.Table, name: str, kept: bool) -> pa.ChunkedArray:
    column = table.column(name)
    if not pat.is_dictionary(column.type):
        return column
    return _in_use(column) if kept else column.cast(column.type.value_type)


def _in_use(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary column without entries that no row uses: they may belong to withheld people."""
    plain = column.cast(column.type.value_type)
    return plain.dictionary_encode().unify_dictionaries().cast(column.type)


def _like_pandas(table: pa.Table, source: Table, kept: tuple[str, ...]) -> Any:
    frame = table.to_pandas()
    for name in (field.name for field in table.schema if pat.is_integer(field.type)):
        if table.column(name).null_count and (name == _RESPONDENT or frame[name].abs().max() >= _EXACT):
            frame[name] = table.column(name).to_pandas(types_mapper=_nullable)
    dtypes = source.dtypes or {}
    for name in kept:
        if name in source.objects:
            cells = source.objects[name]
            frame[name] = frame[name].map(lambda text, cells=cells: cells.get(text, text)).astype(dtypes[name])
        elif name in dtypes and str(dtypes[name]) != "category" and frame[name].dtype != dtypes[name]:
            frame[name] = frame[name].astype(dtypes[name])
        elif str(dtypes.get(name)) == "category":
            frame[name] = frame[name].astype(dtypes[name]).cat.remove_unused_categories()
    return frame


def _nullable(kind: pa.DataType) -> Any:
    """Return pandas' nullable whole numbers: its plain ones become floats if a cell is missing, and lose digits."""
    import pandas as pd

    return pd.UInt64Dtype() if pat.is_unsigned_integer(kind) else pd.Int64Dtype()


def _like_polars(table: pa.Table, source: Table, kept: tuple[str, ...]) -> Any:
    import polars as pl

    frame: Any = pl.DataFrame(table)
    for name in kept:
        if name in source.objects:
            cells = source.objects[name]
            found = [None if text is None else cells[text] for text in frame[name].to_list()]
            frame = frame.with_columns(pl.Series(name, found, dtype=(source.dtypes or {})[name]))
        elif source.dtypes and name in source.dtypes:
            frame = frame.with_columns(pl.col(name).cast(source.dtypes[name]))
    return frame


def write_csv(table: pa.Table, path: Path, separator: str = ",") -> None:
    """Write a table as UTF-8, with formulas made harmless by a leading apostrophe."""
    import pyarrow.csv as pacsv

    schema = pa.schema([pa.field(f.name, _written_type(f.type)) for f in table.schema])
    options = pacsv.WriteOptions(delimiter=separator, quoting_style="needed")

    def harmless(batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [_harmless(column, kind.type) for column, kind in zip(batch.columns, schema, strict=True)]
        return pa.record_batch(columns, schema=schema)

    # the next batches are made ready while one is written
    with pacsv.CSVWriter(path, schema, write_options=options) as writer, ThreadPoolExecutor(2) as pool:
        each = pool.map if len(table) > _BATCH else map
        for batch in each(harmless, table.to_batches(max_chunksize=_BATCH)):
            writer.write_batch(batch)


def _write_parquet(table: pa.Table, path: Path) -> None:
    """Write a table with its types, labels as text; the file does not name the frame library it came from."""
    import pyarrow.parquet as pq

    # a dictionary would be written whole, with the values of withheld people
    schema = pa.schema([pa.field(f.name, _plain_type(f.type)) for f in table.schema])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in table.to_batches(max_chunksize=1 << 20):
            writer.write_batch(batch.cast(schema))


@dataclass(frozen=True, slots=True)
class CsvWriter:
    """Writes the files of a release as CSV, with the separator of the source."""

    separator: str = ","

    def __call__(self, release: Release, folder: Path) -> None:
        for name, table in _files_of(release).items():
            write_csv(table, _place(folder, f"{name}.csv"), self.separator)


@dataclass(frozen=True, slots=True)
class ParquetWriter:
    """Writes the files of a release as Parquet."""

    def __call__(self, release: Release, folder: Path) -> None:
        for name, table in _files_of(release).items():
            _write_parquet(table, _place(folder, f"{name}.parquet"))


def _place(folder: Path, name: str) -> Path:
    """Return where a file goes; a table of its own has a folder of its own."""
    path = folder / name
    path.parent.mkdir(mode=0o700, exist_ok=True)
    return path


def _files_of(release: Release) -> Mapping[str, pa.Table]:
    """Return the files of a release; a draft, a refusal or a bare table is never written."""
    if not isinstance(release, Release):
        raise TypeError(f"only a Release can be written, not a {type(release).__name__}")
    return release.files


@dataclass(frozen=True, slots=True)
class LabelledWriter:
    """Writes the files of a release as CSV, for every reader, and beside it in a format with labels or sheets."""

    made: FileFormat
    source: Table

    def __call__(self, release: Release, folder: Path) -> None:
        CsvWriter()(release, folder)
        for name, table in _files_of(release).items():
            self.made.write(table, _place(folder, f"{name}.{self.made.word}"), self.source)


def writer_of(source: Table, word: str) -> CsvWriter | ParquetWriter | LabelledWriter:
    """Return the writer of a format."""
    if word == "parquet":
        return ParquetWriter()
    return CsvWriter(source.separator) if word == "csv" else LabelledWriter(WRITTEN[word], source)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pat.is_dictionary(kind) else kind


def _written_type(kind: pa.DataType) -> pa.DataType:
    kind = _plain_type(kind)
    number = pat.is_integer(kind) or pat.is_floating(kind) or pat.is_boolean(kind) or pat.is_decimal(kind)
    return kind if number or pat.is_date(kind) or pat.is_timestamp(kind) else pa.string()


def _harmless(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if pat.is_dictionary(column.type) and len(column.dictionary) < len(column):
        # few distinct values in many cells: correct the values
        words = _harmless(column.dictionary, kind)
        return pa.DictionaryArray.from_arrays(column.indices, words).cast(kind)
    if pat.is_duration(_plain_type(column.type)):
        column = code_texts(column.cast(_plain_type(column.type)))
    elif column.type != kind:
        column = column.cast(kind)
    if not pat.is_string(kind):
        return column
    risky = pc.and_(pc.match_substring_regex(column, _FORMULA), pc.invert(pc.match_substring_regex(column, _NUMBER)))
    if not pc.any(risky).as_py():
        return column
    return pc.if_else(risky, pc.binary_join_element_wise("'", column, ""), column)
