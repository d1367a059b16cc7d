"""Reads and writes what SPSS, Stata and SAS do, with the labels of columns and values and the kinds of missing cells.

A kind of missing cell that has a code (SPSS: 99 means refused) is that code; one that is a letter (Stata, SAS: .a) is
the text ``.a`` where it occurs, and its column then is text. A cell that is missing without a reason is empty.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat
import pyreadstat

from seriatim.errors import Fault, TableError
from seriatim.model import ColumnLabels, Table
from seriatim.model.table_faults import size_fault

_READERS: Mapping[str, Any] = {
    ".sav": pyreadstat.read_sav,
    ".zsav": pyreadstat.read_sav,
    ".dta": pyreadstat.read_dta,
    ".xpt": pyreadstat.read_xport,
    ".sas7bdat": pyreadstat.read_sas7bdat,
}
_EXACT = 1 << 53
_SHORT = 8
"""Bytes of a text that SPSS labels."""


def read(path: Path) -> Table:
    """Read a file of SPSS, Stata or SAS."""
    reader, more = _READERS[path.suffix.lower()], {"user_missing": True}
    try:
        if reader is pyreadstat.read_xport:
            more = {}
        told = reader(path, metadataonly=True)[1]
        if fault := size_fault(path.name, told.number_columns, told.number_rows or 0):
            raise TableError(fault)
        cells, told = reader(path, output_format="dict", **more)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OSError) as error:
        found = f"cannot be read ({type(error).__name__})"
        raise TableError(Fault(path.name, found, f"a whole {path.suffix} file", "save it again")) from None
    columns = [_column(cells[name]) for name in told.column_names]
    labels = {name: _labels(told, name) for name in told.column_names}
    labels = {name: one for name, one in labels.items() if one != ColumnLabels()}
    kind = path.suffix.lower().removeprefix(".").replace("zsav", "sav")
    return Table(pa.table(columns, names=told.column_names), kind=kind, name=path.name, labels=labels)


def _labels(told: Any, name: str) -> ColumnLabels:
    """Return the labels of a column, by values as they are published."""
    values = {_text(value): str(label) for value, label in told.variable_value_labels.get(name, {}).items()}
    missing = [(one["lo"], one["hi"]) for one in told.missing_ranges.get(name, ()) if not isinstance(one["lo"], str)]
    return ColumnLabels(told.column_names_to_labels.get(name) or "", values, tuple(missing))


def _text(value: object) -> str:
    """Return a value as its column has it: a letter is a kind of missing cell."""
    if isinstance(value, str):
        return f".{value}" if len(value) == 1 and value.isalpha() else value
    return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)


def _column(cells: Sequence[Any]) -> pa.Array:
    """Return cells as Arrow has them: whole numbers are no floats, and an empty text is missing."""
    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds <= {float, int}:
        numbers = pa.array([None if cell is None or math.isnan(cell) else float(cell) for cell in cells], pa.float64())
        whole = pc.all(pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), _EXACT))).as_py()
        return numbers.cast(pa.int64()) if whole in (True, None) else numbers
    if kinds <= {datetime.date} or kinds <= {datetime.datetime}:
        return pa.array(cells)
    if str in kinds and kinds & {float, int}:
        return pa.array([None if cell is None else _text(cell) for cell in cells], pa.string())
    return pa.array([None if cell is None or cell == "" else str(cell) for cell in cells], pa.string())


def write(table: pa.Table, path: Path, source: Table) -> None:
    """Write a published table with the labels of its source; what was made coarser is text."""
    kind = path.suffix
    frame = pl.from_arrow(pa.table([_written(column) for column in table.columns], names=table.column_names))
    assert isinstance(frame, pl.DataFrame)
    labels = {name: one for name, one in source.labels.items() if name in table.column_names}
    more: dict[str, Any] = {"column_labels": {name: one.title for name, one in labels.items() if one.title}}
    if kind == ".dta":
        lettered = {name: letters for name in labels if (letters := _letters(table.column(name)))}
        for name in lettered:
            cells = [_cell(cell) for cell in frame[name].to_list()]
            frame = frame.with_columns(pl.Series(name, cells, dtype=pl.Object))
        more["missing_user_values"] = lettered
        more["variable_value_labels"] = _stata_labels(labels, frame)
    elif kind == ".sav":
        numeric = {name for name in labels if frame[name].dtype.is_numeric()}
        more["variable_value_labels"] = _spss_labels(labels, numeric)
        ranges = {name: [{"lo": low, "hi": high} for low, high in labels[name].missing] for name in numeric}
        more["missing_ranges"] = {name: found for name, found in ranges.items() if found}
    writer: Any = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}[kind]
    try:
        writer(frame, path, **more)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, TypeError) as error:
        raise TableError(Fault(path.name, f"cannot be written ({type(error).__name__})", "", "write csv")) from None
    _forget_time(path)


def _spss_labels(labels: Mapping[str, ColumnLabels], numeric: set[str]) -> dict[str, dict[Any, str]]:
    found: dict[str, dict[Any, str]] = {}
    for name, one in labels.items():
        if name in numeric:
            found[name] = {float(value): label for value, label in one.values.items() if _is_number(value)}
        elif all(len(value.encode()) <= _SHORT for value in one.values):
            found[name] = dict(one.values)
    return {name: values for name, values in found.items() if values}


def _stata_labels(labels: Mapping[str, ColumnLabels], frame: pl.DataFrame) -> dict[str, dict[Any, str]]:
    """Return the labels of whole numbers and letters: Stata knows no others."""
    held = {name: one.values for name, one in labels.items() if frame[name].dtype != pl.String}
    told = {name: {_cell(value): label for value, label in values.items()} for name, values in held.items()}
    return {
        name: {int(value) if isinstance(value, float) else value: label for value, label in values.items()}
        for name, values in told.items()
        if values and all(isinstance(value, str) or value.is_integer() for value in values if value is not None)
    }


_LETTER = re.compile(r"\.[a-z]")


def _letters(column: pa.ChunkedArray) -> list[str]:
    """Return the kinds of missing cells in a text column whose other cells are numbers; none if some are texts."""
    if not pat.is_string(_plain(column.type)):
        return []
    texts = [text for text in pc.unique(column.cast(pa.string())).to_pylist() if text is not None]
    letters = [text[1:] for text in texts if _LETTER.fullmatch(text)]
    return letters if all(_LETTER.fullmatch(text) or _is_number(text) for text in texts) else []


def _cell(text: str | None) -> float | str | None:
    return None if text is None else float(text) if _is_number(text) else text.removeprefix(".")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pat.is_dictionary(kind) else kind


def _written(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in a type that these files have; a whole number that no float holds is text."""
    kind = _plain(column.type)
    column = column.cast(kind)
    if pat.is_boolean(kind):
        return column.cast(pa.int64())
    if pat.is_integer(kind):
        size = pc.max(pc.abs(column.cast(pa.int64(), safe=False))).as_py() if len(column) else None
        return column.cast(pa.string() if size is not None and size >= _EXACT else pa.int64())
    if pat.is_floating(kind) or pat.is_decimal(kind):
        return column.cast(pa.float64())
    if pat.is_date(kind):
        return column.cast(pa.date32())
    if pat.is_timestamp(kind):
        return column.cast(pa.timestamp("us"))
    return column.cast(pa.string())


_TIMES = {
    ".sav": (re.compile(rb"\d\d [A-Z][a-z]{2} \d\d\d\d:\d\d:\d\d"), b"01 Jan 7000:00:00"),
    ".dta": (re.compile(rb"\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d"), b"01 Jan 1970 00:00"),
    ".xpt": (re.compile(rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d"), b"01JAN70:00:00:00"),
}
_HEADER = 800


def _forget_time(path: Path) -> None:
    """Write one time over that of the clock in a file's header: the same release has the same bytes."""
    pattern, fixed = _TIMES[path.suffix]
    with path.open("r+b") as file:
        start = file.read(_HEADER)
        file.seek(0)
        file.write(pattern.sub(fixed, start))
