"""Tables out: the same kind that came in, generalised columns as text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.model import Table

_BATCH = 1 << 17
# a spreadsheet runs a cell that begins so, unless it is merely a number
_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"


def as_text(table: pa.Table) -> pa.Table:
    """Generalised columns travel as label numbers inside; outside they are text."""
    for index, field in enumerate(table.schema):
        if pat.is_dictionary(field.type) and pat.is_string(field.type.value_type):
            table = table.set_column(index, field.name, table.column(index).cast(pa.string()))
    return table


def like_source(table: pa.Table, source: Table, kept: tuple[str, ...]) -> Any:
    """The table as the kind of frame its source was; ``kept`` columns get their own type back."""
    table = as_text(table)
    dtypes = source.dtypes or {}
    if source.kind == "pandas":
        frame = table.to_pandas()
        changed = [name for name in kept if name in dtypes and frame[name].dtype != dtypes[name]]
        return frame.astype({name: dtypes[name] for name in changed})
    if source.kind == "polars":
        import polars as pl

        frame = pl.DataFrame(table)
        return frame.with_columns(pl.col(name).cast(dtypes[name]) for name in kept if name in dtypes)
    return table


@dataclass(frozen=True, slots=True)
class CsvWriter:
    """UTF-8, the source's separator, formulas made harmless by a leading apostrophe."""

    separator: str = ","
    suffix: str = ".csv"

    def __call__(self, table: pa.Table, path: Path) -> None:
        import pyarrow.csv as pacsv

        schema = pa.schema([pa.field(f.name, _written_type(f.type)) for f in table.schema])
        options = pacsv.WriteOptions(delimiter=self.separator, quoting_style="needed")
        with pacsv.CSVWriter(path, schema, write_options=options) as writer:
            for batch in table.to_batches(max_chunksize=_BATCH):
                columns = [_harmless(column, kind.type) for column, kind in zip(batch.columns, schema, strict=True)]
                writer.write_batch(pa.record_batch(columns, schema=schema))


@dataclass(frozen=True, slots=True)
class ParquetWriter:
    """Text columns as text; the file says nothing of the frame library it came from."""

    suffix: str = ".parquet"

    def __call__(self, table: pa.Table, path: Path) -> None:
        import pyarrow.parquet as pq

        schema = pa.schema([pa.field(f.name, _plain_type(f.type)) for f in table.schema])
        with pq.ParquetWriter(path, schema, compression="zstd", store_schema=False) as writer:
            for batch in table.to_batches(max_chunksize=1 << 20):
                writer.write_batch(batch.cast(schema))


def writer_for(source: Table) -> CsvWriter | ParquetWriter:
    """A release is written as its source was: Parquet stays Parquet, all else becomes CSV."""
    return ParquetWriter() if source.kind == "parquet" else CsvWriter(source.separator)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pat.is_dictionary(kind) else kind


def _written_type(kind: pa.DataType) -> pa.DataType:
    number = pat.is_integer(kind) or pat.is_floating(kind) or pat.is_boolean(kind) or pat.is_decimal(kind)
    return kind if number or pat.is_date(kind) or pat.is_timestamp(kind) else pa.string()


def _harmless(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if column.type != kind:
        column = column.cast(kind)
    if not pat.is_string(kind):
        return column
    risky = pc.and_(pc.match_substring_regex(column, _FORMULA), pc.invert(pc.match_substring_regex(column, _NUMBER)))
    if not pc.any(risky).as_py():
        return column
    return pc.if_else(risky, pc.binary_join_element_wise("'", column, ""), column)
