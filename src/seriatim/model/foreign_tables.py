"""Published tables as other tools write them: row names, equal rows joined under a count, numbers in several forms."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from seriatim.errors import Fault, TableError
from seriatim.model.classes import LongArray, class_dictionary

ROW_NAMES = ("(row names)", "__index_level_0__", "Unnamed: 0")
"""The names of row numbers from R and pandas; in a CSV file they have none, and get the first of these."""
COUNT = "count"
"""The column in which a tool that joins equal rows gives their number."""

_NUMBER = r"^\s*[-+.,]?\d"
"""How a number begins."""


def without_row_names(table: pa.Table, declared: Collection[str] = ()) -> pa.Table:
    """Drop the row numbers that R and pandas write as a first column."""
    return table.drop_columns([name for name in table.column_names if name in ROW_NAMES and name not in declared])


def rows_counted(where: str, table: pa.Table) -> LongArray | None:
    """Return how many records each row stands for, by its column ``count``; None if that is no such column."""
    if COUNT not in table.column_names or not pat.is_integer(table.schema.field(COUNT).type):
        return None
    counts: LongArray = table.column(COUNT).fill_null(0).to_numpy().astype(np.int64)
    if (counts < 1).any():
        raise TableError(Fault(f"{where}, column {COUNT}", "counts below 1", "1 or more", "remove the rows"))
    return counts


def rows_spread(table: pa.Table, counts: LongArray) -> pa.Table:
    """Return one row for each record again, without the column that counted them."""
    return table.take(pa.array(np.repeat(np.arange(table.num_rows), counts))).drop_columns([COUNT])


def numbers_one_way(texts: list[str | None]) -> list[str | None]:
    """Write numbers one way, so that 2, 2.0 and 2,0 are one value; texts that are not all numbers stay as they are."""
    try:
        numbers = [None if text is None else float(text.replace(",", ".")) for text in texts]
    except ValueError:
        return texts
    return [
        text if number is None or text is None or text.lstrip("-").isdigit() else f"{number + 0.0:.15g}"
        for text, number in zip(texts, numbers, strict=True)
    ]


def numbers_alike(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a text column as a dictionary of different words with its numbers written one way, any other as it is.

    Only the different texts are looked at, never the cells: a column of a million rows has few of them.
    """
    plain = column.type.value_type if pat.is_dictionary(column.type) else column.type
    if not (pat.is_string(plain) or pat.is_large_string(plain)):
        return column
    coded = words_once(column) if pat.is_dictionary(column.type) else column.dictionary_encode()
    values = coded.chunk(0).dictionary if coded.num_chunks else pa.array([], plain)
    if not len(values) or not _is_number(values[0].as_py() or "0"):  # one word tells, before all are asked
        return coded
    if pc.all(pc.ascii_is_decimal(values)).as_py() or not _all_match(values, _NUMBER):
        return coded
    texts = values.to_pylist()
    alike = numbers_one_way(texts)
    if alike == texts:
        return coded
    words = pa.array(alike, pa.string())
    chunks = [pa.DictionaryArray.from_arrays(chunk.indices, words).cast(pa.string()) for chunk in coded.chunks]
    return pa.chunked_array(chunks, pa.string()).dictionary_encode()


def words_once(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary column whose words are all different, and the same in all its chunks."""
    column = class_dictionary(column)
    words = column.chunk(0).dictionary if column.num_chunks else pa.array([], column.type.value_type)
    if not words.null_count and pc.count_distinct(words).as_py() == len(words):
        return column
    return column.cast(column.type.value_type).dictionary_encode()


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _all_match(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())
